"""Data classes of ours do what those of the standard library do, but for being frozen."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from dataclasses import asdict, field, replace
from typing import Any

import pytest

from chalicelib.domain import light
from tests.support.wire.served import ROOT

KINDS = [dataclasses.dataclass, light.dataclass]


@light.dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0


def made(kind: Any) -> Any:
    @kind(frozen=True, slots=True)
    class Entry:
        name: str
        secret: str = field(default="s", repr=False)
        note: str = field(default="", compare=False)
        about: dict[str, int] = field(default_factory=dict, hash=False)

    return Entry


@pytest.mark.parametrize("kind", KINDS)
def test_entries_are_compared_hashed_and_shown(kind: Any) -> None:
    entry = made(kind)
    one, same, other = entry("a", note="x"), entry("a", about={}), entry("b")

    assert one == same
    assert one != other
    assert hash(one) == hash(same)
    assert len({one, same, other}) == 2
    assert one != made(kind)("a")  # of another class
    assert re.sub(r"^.*<locals>\.", "", repr(one)) == "Entry(name='a', note='x', about={})"


@pytest.mark.parametrize("kind", KINDS)
def test_one_without_members_is_like_any_other(kind: Any) -> None:
    @kind(frozen=True)
    class Nothing:
        pass

    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_class_defines_itself_stays(kind: Any) -> None:
    @kind(frozen=True, slots=True)
    class Name:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Name) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

        def __repr__(self) -> str:
            return self.text

    assert len({Name("A"), Name("a")}) == 1
    assert repr(Name("A")) == "A"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_to_be_shown_is_not(kind: Any) -> None:
    @kind(frozen=True, slots=True, repr=False)
    class Passphrase:
        text: str

    assert "secret" not in repr(Passphrase("secret"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_changes_has_no_hash(kind: Any) -> None:
    @kind(slots=True)
    class Counter:
        number: int = 0

    counter = Counter()
    counter.number += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


@pytest.mark.parametrize("kind", KINDS)
def test_one_inherits_from_another(kind: Any) -> None:
    @kind(frozen=True, slots=True)
    class Base:
        a: int

    @kind(frozen=True, slots=True, kw_only=True)
    class Further(Base):
        b: int = 2

    assert Further(1) == Further(a=1, b=2) != Further(1, b=3)
    assert Further(1) != Base(1)
    assert repr(Further(1)).endswith("Further(a=1, b=2)")


@pytest.mark.parametrize("kind", KINDS)
def test_each_instance_has_its_own_defaults_and_post_init_runs(kind: Any) -> None:
    @kind(slots=True)
    class Basket:
        owner: str
        _: dataclasses.KW_ONLY
        things: list[str] = field(default_factory=list)
        size: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            self.size = len(self.things)

    one, other = Basket("a"), Basket("b", things=["c"])
    one.things.append("d")
    assert (other.owner, other.things, other.size) == ("b", ["c"], 1)
    assert Basket("e").things == []
    for arguments in ({}, {"owner": "a", "more": 1}, {"owner": "a", "size": 2}):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            Basket(**arguments)
    with pytest.raises(TypeError, match=r"__init__\(\)"):
        Basket("a", ["b"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", ["Base", "Heir", "Plain", "Own"])
def test_whichever_class_comes_first_each_makes_its_own(kind: Any, first: str) -> None:
    @kind(slots=True)
    class Base:
        a: int = 1

    @kind(slots=True)
    class Heir(Base):
        b: int = 2

    class Plain(Heir):
        pass

    class Own(Heir):
        def __init__(self) -> None:
            super().__init__(b=5)

    classes = {each.__name__: each for each in (Base, Heir, Plain, Own)}
    classes[first]()
    assert (Base(3).a, Heir(3, 4).b, Plain(b=4).b, Own().b) == (3, 4, 4, 5)
    assert type(Plain()) is Plain
    assert not hasattr(Base(), "b")


def test_what_makes_instances_is_written_with_the_first_of_them() -> None:
    entry = made(light.dataclass)
    before = entry.__init__
    entry("a")
    written = entry.__init__
    entry("b")

    assert before.__code__.co_varnames[:3] == ("self", "given", "named")
    assert written.__code__.co_varnames == ("self", "name", "secret", "note", "about")
    assert entry.__init__ is written


def test_the_standard_library_knows_them() -> None:
    point = Point(1)
    assert dataclasses.is_dataclass(point)
    assert replace(point, y=2) == Point(1, 2)
    assert asdict(point) == {"x": 1, "y": 0}
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    assert not hasattr(point, "__dict__")


def test_all_of_the_service_are_made_so() -> None:
    elsewhere = re.compile(r"^from dataclasses import [^\n]*\bdataclass\b", re.MULTILINE)
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "chalicelib").rglob("*.py")
        if elsewhere.search(path.read_text(encoding="utf-8"))
    }
    assert not found
