"""Values in a row as DynamoDB sends it: each says of what kind it is."""

from __future__ import annotations

from typing import Generic, TypedDict, TypeVar

V = TypeVar("V")


class Text(TypedDict):
    S: str


class Choice(TypedDict, Generic[V]):
    """A text that is one of a few."""

    S: V


class Texts(TypedDict):
    """A set of texts."""

    SS: list[str]


class List(TypedDict, Generic[V]):
    L: list[V]


class Number(TypedDict):
    N: str


class Flag(TypedDict):
    BOOL: bool


class Map(TypedDict, Generic[V]):
    M: V


Entries = Map[dict[str, Map[V]]]
"""Entries of one kind by identifier, each a map itself."""
