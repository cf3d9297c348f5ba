"""What may change on a versioned row without raising its version: what the attribute declares.

    last_logged_in = unversioned(TimestampAttribute(null=True))

Everything else is what others decide from, so a write that changes it and leaves the version as
it was does not run: `Transaction` asks here. What `Versioned` itself declares, but for the
version, is the protocol's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

from pynamodb.attributes import Attribute
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


def require_raised(before: Versioned, after: Versioned) -> None:
    """Refuse to run a change to a row that is not newer than the one that was read."""
    assert after.version > before.version, (  # noqa: S101
        f"{type(after).__name__}: a row would be changed without a new version."
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
