"""What may change on a versioned row without raising its version: what the attribute declares.

    last_logged_in = unversioned(TimestampAttribute(null=True))

Everything else is what others decide from, so a write that changes it and leaves the version as
it was does not run: `Transaction` asks here. What `Versioned` itself declares, but for the
version, is the protocol's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Comparison, Condition
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action, AddAction

from chalicelib.storage.base import Table
from chalicelib.storage.versioned import Versioned

A = TypeVar("A", bound=Attribute[Any])

_DECLARED = "is_unversioned"
_VERSION = "version"


def unversioned(attribute: A) -> A:
    """Declare that this attribute may change without raising the row's version.

    Who writes such a row whole, or decides from the attribute, requires that it is as it was
    read (`names`).
    """
    vars(attribute)[_DECLARED] = True
    return attribute


def names(table: type[Table]) -> tuple[str, ...]:
    """The attributes of a table that are declared so."""
    attributes = table.get_attributes().items()
    return tuple(name for name, attribute in attributes if is_unversioned(attribute))


def is_unversioned(attribute: Attribute[Any]) -> bool:
    return _DECLARED in vars(attribute)


def require_raised_by_update(table: type[Table], actions: Iterable[Action]) -> None:
    """Refuse to run an update that owes its row a new version."""
    if not issubclass(table, Versioned):
        return
    actions = list(actions)
    owing = {_name(action) for action in actions} - _free(table)
    assert not owing or any(map(_raises, actions)), (  # noqa: S101
        f"{table.__name__}: {', '.join(sorted(owing))} would change without a new version. "
        "Raise the version too, or declare the attribute `unversioned`."
    )


def require_raised_by_put(row: Table, provided: Condition | None) -> None:
    """Refuse to run a write of a whole row that is not newer than the row it replaces."""
    if isinstance(row, Versioned):
        assert any(row.version > version for version in _versions_in(provided)), (  # noqa: S101
            f"{type(row).__name__}: a whole row would replace another without a new version. "
            "Require the version that was read, and write a later one."
        )


@cache
def _free(table: type[Table]) -> set[str]:
    """What may change on its own."""
    return {*names(table), *Versioned.get_attributes()} - {_VERSION}


def _name(action: Action) -> str:
    """The attribute that an action changes, in whole or in part."""
    path = action.values[0]
    assert isinstance(path, Path)  # noqa: S101
    return path.path[0].partition("[")[0]


def _raises(action: Action) -> bool:
    return isinstance(action, AddAction) and _name(action) == _VERSION


def _versions_in(condition: object) -> Iterator[int]:
    """The versions one of which the row has where the condition holds."""
    if isinstance(condition, Comparison) and condition.operator == "=":
        path, value = condition.values
        if isinstance(path, Path) and path.path == [_VERSION]:
            yield int(value.value["N"])
    elif isinstance(condition, Condition) and condition.operator == "AND":
        for each in condition.values:
            yield from _versions_in(each)
