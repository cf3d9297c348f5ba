"""Forms: what the rows of a table are made of, by number, and which forms a release knows.

Rows are of the first form, and do not say so, until the module of their table declares another:

    forms = Forms(written=2, steps=(Step(up=..., down=...),))

A release reads the rows of each form it knows as if they were of the form that it writes. It
changes rows of that form alone: whoever meets another one brings the row to it first
(`rewriting.py`), and an upgrade does so with all rows in time (`services/operator/upgrades.py`).

A form comes in two releases: the first knows it, and still writes the form before; the second
writes it. So what a release writes is read by the release before it, which may still be at work
or come back. `infra/checks/forms.py` refuses a release that does otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.domain.light import dataclass

FORM = "form"
"""The attribute with the number of a row's form, when it is not the first."""

Row = dict[str, Any]
"""A row as DynamoDB sends it."""


class UnknownForm(Exception):  # noqa: N818  it says what is so
    """A row is of a form that this release does not know: an accident."""


@dataclass(frozen=True, slots=True)
class Step:
    """From a form to the next and back, for whole rows; both keep what they do not know."""

    up: Callable[[Row], Row]
    down: Callable[[Row], Row]


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of a table's rows that a release knows."""

    written: int = 1
    """The one that it writes and works with."""
    steps: tuple[Step, ...] = ()
    lowest: int = 1

    @property
    def highest(self) -> int:
        return self.lowest + len(self.steps)

    @property
    def are_several(self) -> bool:
        return bool(self.steps)

    def of(self, row: Row) -> int:
        """The form of a row; raises `UnknownForm`."""
        form = int(row[FORM]["N"]) if FORM in row else 1
        if not self.lowest <= form <= self.highest:
            raise UnknownForm(f"form {form}, where {self.lowest} to {self.highest} are known")
        return form

    def as_written(self, row: Row) -> Row:
        return self.as_of(self.written, row)

    def as_of(self, wanted: int, row: Row) -> Row:
        """The row in another form."""
        form = self.of(row)
        if form == wanted:
            return row
        made = {name: value for name, value in row.items() if name != FORM}
        for step in self.steps[form - self.lowest : wanted - self.lowest]:
            made = step.up(made)
        for step in reversed(self.steps[wanted - self.lowest : form - self.lowest]):
            made = step.down(made)
        return made | said(wanted)


def said(form: int) -> Row:
    """What a row says of its form."""
    return {} if form == 1 else {FORM: {"N": str(form)}}


def as_written(forms: Forms, rows: list[Row]) -> list[Row]:
    """Rows of one table that were read, in the form that is written."""
    if forms.written == 1 and not any(FORM in row for row in rows):
        return rows
    return [forms.as_written(row) for row in rows]
