"""Pages about the stack, computed from its template: quotas, and who may do what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chalicelib.endpoint_groups import Right
from infra.bundle.bundle import Bundle
from infra.checks.quotas import CELL, OF_A_CELL, OF_A_TENANT, Quota
from infra.checks.rights import allowed_by, functions, tables
from infra.template.elements import Json
from infra.template.tenant import tenant
from infra.template.tiers import STANDARD

_WRITTEN = "This page is written from the code by `make docs`; a test compares the two.\n"
_LETTERS = {
    Right.READ: "R",
    Right.ADD: "A",
    Right.CHANGE: "C",
    Right.REMOVE: "D",
    Right.WRITE: "W",
    Right.SCAN: "S",
}
_ELSEWHERE = ("s3", "secretsmanager", "sqs", "ses")
_ON_ROWS = {f"dynamodb:{action}" for right in Right for action in right.value}


def quotas() -> str:
    """`docs/quotas.md`: what AWS bounds, what a tenant needs of it."""
    template = _template()
    shared = (
        (*_bounds(each), each.count(template), f"{each.most(template):,}") for each in OF_A_CELL
    )
    own = ((*_bounds(each), _about(each.count(template))) for each in OF_A_TENANT)
    lines = [
        *("# Quotas", "", _WRITTEN, _ABOUT_CELLS),
        *_table(("Shared in a cell", "Default", "Can be raised", "Per tenant", "Tenants"), shared),
        *("", _ABOUT_STACKS),
        *_table(("Of one tenant", "Bound", "Can be raised", "Needed"), own),
    ]
    return "\n".join(lines) + "\n"


_ABOUT_CELLS = f"""\
An account with its region is a *cell* of at most {CELL} standard tenants; premium tenants have
an account of their own. AWS's defaults bound a cell as follows, by what the template of a
standard tenant needs. The template's test fails when a cell of {CELL} no longer fits.

Not counted here: instances of functions (1,000 at once by default, shared by the cell and
reserved for premium tenants alone), and room for code (75 GB; the code of a version is less
than three megabytes, the layer is shared).
"""
_ABOUT_STACKS = """\
What each tenant has for itself is bounded too. Of roles and functions, the largest is shown, and
of all numbers two figures, rounded up.
"""


def iam() -> str:
    """`docs/iam.md`: what each function may do, as its role says."""
    template = _template()
    found = [
        (group.name, list(allowed_by(statements))) for group, statements in functions(template)
    ]
    names = tables(template)
    rows = (
        (f"`{table}`", *(_letters(name, allowed) for _, allowed in found))
        for name, table in sorted(names.items(), key=lambda each: each[1])
    )
    lines = [
        *("# Rights of functions", "", _WRITTEN, _ABOUT_RIGHTS),
        *_table(("Table", *(name for name, _ in found)), rows),
        *("", _ABOUT_OTHERS),
        *_table(("Function", "May also"), ((name, _others(allowed)) for name, allowed in found)),
    ]
    return "\n".join(lines) + "\n"


_ABOUT_RIGHTS = """\
Each function has a role of its own, with these rights and no others. A transaction is allowed
when each of its rows is. Rights are of exact tables; `Query` includes the table's indexes.

{}
""".format("\n".join(f"- {letter}: {', '.join(right.value)}" for right, letter in _LETTERS.items()))
_ABOUT_OTHERS = """\
Beside rows, each writes its own log and its traces, and uses the tenant's key through the
services it calls, never by itself. No role may exceed the platform's bound.
"""


def _letters(name: str, allowed: Sequence[tuple[str, str]]) -> str:
    actions = {action.removeprefix("dynamodb:") for action, on in allowed if on == name}
    return "".join(letter for right, letter in _LETTERS.items() if actions.issuperset(right.value))


def _others(allowed: Iterable[tuple[str, str]]) -> str:
    others = {
        f"{action} on {name}"
        for action, name in allowed
        if action.partition(":")[0] in _ELSEWHERE or _is_of_stream(action)
    }
    return ", ".join(sorted(others))


def _is_of_stream(action: str) -> bool:
    return action.startswith("dynamodb:") and action not in _ON_ROWS


def _template() -> Json:
    """Of a standard tenant; what is in the bundle does not matter here."""
    return tenant(STANDARD, Bundle("0" * 16, "0" * 16))


def _about(number: int) -> str:
    """Two figures of a number, never less than it is: a page need not tell of each byte."""
    step = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // step) * step:,}"


def _bounds(quota: Quota) -> tuple[str, str, str]:
    return quota.what, f"{quota.bound:,}", "yes" if quota.can_be_raised else "no"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield _line(head)
    yield _line(["---"] * len(head))
    yield from map(_line, rows)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
