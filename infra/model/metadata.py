"""The model of shared metadata keys (`docs/model/Metadata.tla`): who acts, what is needed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from infra.model.conditions import Condition
from infra.model.configurations import set_of

SPECIFICATION = Path(__file__).parents[2] / "docs" / "model" / "Metadata.tla"
INVARIANTS = (
    "NothingIsOnADeletedKey",
    "AtMostTwoAreActive",
    "NoCopyOfADeletedKey",
    "EachHasOneCopy",
    "NothingIsWrittenOver",
)
_DELETED, _ACTIVE, _, _ONE, _OVER = INVARIANTS
_MAKER, _EXPIRER, _DELETER, _DESCRIBER = "maker", "expirer", "deleter", "describer"
_ROTATOR, _GIVER = "rotator", "giver"


@dataclass(frozen=True, slots=True)
class Metadata:
    name: str
    makers: tuple[str, ...] = ()
    expirers: tuple[str, ...] = ()
    deleters: tuple[str, ...] = ()
    describers: tuple[str, ...] = ()
    rotators: tuple[str, ...] = ()
    givers: tuple[str, ...] = ()
    keys: tuple[str, ...] = ("k", "l")
    items: tuple[str, ...] = ("i",)

    specification: Path = SPECIFICATION

    def text(self, dropped: Collection[str] = ()) -> str:
        """The run as TLC reads it, without the conditions that are dropped."""
        sets = {
            "Makers": self.makers,
            "Expirers": self.expirers,
            "Deleters": self.deleters,
            "Describers": self.describers,
            "Rotators": self.rotators,
            "Givers": self.givers,
            "Keys": self.keys,
            "Items": self.items,
            "Dropped": dropped,
        }
        return "\n".join(
            [
                "SPECIFICATION Spec",
                *(f"INVARIANT {name}" for name in INVARIANTS),
                *(f"CONSTANT {name} = {set_of(members)}" for name, members in sets.items()),
                "",
            ]
        )


_TWO = ("one", "another")
_THREE = ("k", "l", "m")
CONFIGURATIONS = (
    Metadata(
        "the end of a key", expirers=(_EXPIRER,), deleters=(_DELETER,), describers=(_DESCRIBER,)
    ),
    Metadata(
        "rotation",
        expirers=(_EXPIRER,),
        deleters=(_DELETER,),
        rotators=(_ROTATOR,),
        describers=(_DESCRIBER,),
    ),
    Metadata("two rotations", rotators=_TWO, describers=(_DESCRIBER,)),
    Metadata("new keys", makers=_TWO, rotators=(_ROTATOR,), keys=_THREE),
    Metadata("copies", givers=_TWO, expirers=(_EXPIRER,), deleters=(_DELETER,)),
)
BY_NAME = {each.name: each for each in CONFIGURATIONS}
CONDITIONS = (
    Condition(
        "make: the set as read",
        "Who makes a key holds and raises the version of the set.",
        _ACTIVE,
        "new keys",
    ),
    Condition(
        "describe: the key has not expired",
        "What is encrypted to a key requires that it has neither expired nor been deleted.",
        _DELETED,
        "the end of a key",
    ),
    Condition(
        "describe: the item is noted with its key",
        "The note is written in the transaction of the item.",
        _DELETED,
        "the end of a key",
    ),
    Condition(
        "describe: the item as read",
        "Who changes an item holds and raises its version.",
        _OVER,
        "rotation",
    ),
    Condition(
        "delete: only what has expired",
        "A key is deleted only after it has expired.",
        _DELETED,
        "the end of a key",
    ),
    Condition(
        "delete: nothing uses it",
        "A key is deleted only where no item that is noted with it is encrypted to it.",
        _DELETED,
        "the end of a key",
    ),
    Condition(
        "delete: the key before its uses",
        "That the key has expired is read before what uses it.",
        _DELETED,
        "the end of a key",
    ),
    Condition(
        "rotate: the set as read",
        "A rotation holds the version of the set: its key is the only active one.",
        _OVER,
        "new keys",
    ),
    Condition(
        "rotate: the item as read",
        "A rotation holds and raises the versions of its items.",
        _OVER,
        "two rotations",
    ),
    Condition(
        "give: the key as read",
        "Who gives a copy holds and raises the version of the key.",
        _ONE,
        "copies",
    ),
)
