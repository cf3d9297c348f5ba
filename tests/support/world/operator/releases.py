"""Releases whose rows are of another form than those of the release that is tested.

The code as it is here is a release. Said of its tables what a release would say that reads another
form too (`storage/forms.py`), it meets rows of the release before it, or of the one after it:
rows in which each attribute that is no key has another name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chalicelib.storage.base import Table
from chalicelib.storage.connection import connection
from chalicelib.storage.forms import FORM, Forms, Step
from chalicelib.storage.versioned import Versioned
from tests.support.storage import Storage

Row = dict[str, Any]
_MARK = "other_"
_SAID = {FORM: {"N": "2"}}
_NAMED = {"action_logs": {"action"}, "operations": {"created"}}
"""What reads filter by, or ask for by its name: every form has it (ADR 23)."""


def newer(table: type[Table]) -> Forms:
    """The release after this one writes another form, which this one reads."""
    return Forms(written=1, steps=(Step(up=_other(table), down=_ours),))


def older(table: type[Table]) -> Forms:
    """The release before this one wrote another form, which this one reads."""
    return Forms(written=2, steps=(Step(up=_ours, down=_other(table)),))


def _other(table: type[Table]) -> Any:
    kept = _kept(table)

    def renamed(row: Row) -> Row:
        return {name if name in kept else _MARK + name: value for name, value in row.items()}

    return renamed


def _ours(row: Row) -> Row:
    return {name.removeprefix(_MARK): value for name, value in row.items()}


def _kept(table: type[Table]) -> set[str]:
    """Keys, what indexes are made of, what reads name, and what is the protocol's own."""
    indexed = {
        name
        for index in table._indexes.values()
        for name in (*index.Meta.attributes, *(index.Meta.projection.non_key_attributes or ()))
    }
    named = _NAMED.get(table.bare_name(), set())
    return {*filter(None, table.key_names()), *indexed, *named, *Versioned.get_attributes()}


@contextmanager
def beside(forms: Any, *tables: type[Table]) -> Iterator[None]:
    """Let this release read another form of these tables: `newer` or `older`."""
    for table in tables:
        table.forms = forms(table)
    try:
        yield
    finally:
        for table in tables:
            del table.forms


def rewrite_all(store: Storage, *tables: type[Table]) -> None:
    """Let the other release have written all that is stored."""
    for table in tables:
        other = 3 - table.forms.written
        for row in store.rows(table.stored_as()):
            item = table.forms.as_of(other, row if table.forms.written == 1 else row | _SAID)
            connection.call("PutItem", {"TableName": table.stored_as(), "Item": item})


def forms_in(store: Storage, table: type[Table]) -> list[int]:
    return [table.forms.of(row) for row in store.rows(table.stored_as())]
