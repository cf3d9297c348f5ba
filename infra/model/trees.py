"""The model of everybody's trees (`docs/model/Trees.tla`): who acts in a run, what is needed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from infra.model.conditions import Condition
from infra.model.configurations import set_of

SPECIFICATION = Path(__file__).parents[2] / "docs" / "model" / "Trees.tla"
INVARIANTS = (
    "NothingLiesInItself",
    "ParentsAreSeen",
    "NothingIsDecidedWrongly",
    "OnlyWhoHasItHasAPlace",
)
_CIRCLE, _SEEN, _DECIDED, _HAS = INVARIANTS
_MOVER, _GIVER, _TAKER = "mover", "giver", "taker"


@dataclass(frozen=True, slots=True)
class Trees:
    name: str
    movers: tuple[str, ...] = ()
    givers: tuple[str, ...] = ()
    takers: tuple[str, ...] = ()
    folders: tuple[str, ...] = ("A", "B")
    things: tuple[str, ...] = ("t",)
    users: tuple[str, ...] = ("u", "w")
    is_grown: bool = False
    """Whether things may lie anywhere at first; else all is at the root."""

    specification: Path = SPECIFICATION

    def text(self, dropped: Collection[str] = ()) -> str:
        """The run as TLC reads it, without the conditions that are dropped."""
        sets = {
            "Movers": self.movers,
            "Givers": self.givers,
            "Takers": self.takers,
            "Folders": self.folders,
            "Things": self.things,
            "Users": self.users,
            "Dropped": dropped,
        }
        return "\n".join(
            [
                "SPECIFICATION Spec",
                *(f"INVARIANT {name}" for name in INVARIANTS),
                f"CONSTANT Grown = {str(self.is_grown).upper()}",
                *(f"CONSTANT {name} = {set_of(members)}" for name, members in sets.items()),
                "",
            ]
        )


_TWO = ("one", "another")
CONFIGURATIONS = (
    Trees("moves and a share", movers=(_MOVER,), givers=(_GIVER,), takers=(_TAKER,)),
    Trees("two moves, one loses", movers=_TWO, takers=(_TAKER,)),
    Trees("two gain, one loses", givers=_TWO, takers=(_TAKER,)),
    Trees("grown trees", givers=(_GIVER,), takers=(_TAKER,), is_grown=True),
    Trees(
        "four folders",
        movers=_TWO,
        folders=("A", "B", "C", "D"),
        things=(),
        users=("w",),
        is_grown=True,
    ),
)
BY_NAME = {each.name: each for each in CONFIGURATIONS}
CONDITIONS = (
    Condition(
        "place: only in a folder that is held",
        "A place under a folder that its user does not hold counts as the root.",
        _SEEN,
        "moves and a share",
    ),
    Condition(
        "folders: the structure as read",
        "Who moves or gives a folder holds and raises the version of the structure.",
        _CIRCLE,
        "four folders",
    ),
    Condition(
        "give: what was left there goes to the root",
        "Whoever is given a folder has nothing in it that was left there.",
        _CIRCLE,
        "grown trees",
    ),
    Condition(
        "move: the item as read",
        "A move holds and raises the version of the item.",
        _DECIDED,
        "two moves, one loses",
    ),
    Condition(
        "move: what is around it as read",
        "A move holds and raises the versions of the folders that the item leaves and enters.",
        _DECIDED,
        "moves and a share",
    ),
    Condition(
        "give: the item as read",
        "A share holds and raises the version of the item.",
        _DECIDED,
        "moves and a share",
    ),
    Condition(
        "give: what is around it as read",
        "A share holds and raises the versions of folders the item lies in, and of what it moves.",
        _HAS,
        "moves and a share",
    ),
    Condition(
        "take: the item as read",
        "Who takes an item away holds and raises its version.",
        _HAS,
        "moves and a share",
    ),
)
