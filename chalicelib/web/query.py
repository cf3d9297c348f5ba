"""Query strings: what is taken, refused and passed over; orders, pages and their limits.

    OPTIONS = Options(
        contains=frozenset({"permission", "permissions", "permissions.group"}),
        filters={"has-id": ids("resource id"), "is-favorite": either, "search": search},
        sortable=("Resources.name", "Resources.modified"),
        default_order=(("Resources.name", False),),
        is_paginated=True,
    )

`read_query(OPTIONS, parameters)` gives a `Query`, or raises `Invalid` at the first option
that is wrong. Names an endpoint does not know are passed over: clients rely on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from chalicelib.domain.errors import Invalid, NotFound
from chalicelib.domain.light import dataclass
from chalicelib.web import brackets
from chalicelib.web.filters import BOOLEANS, Filter

Row = TypeVar("Row")
Parameters = Mapping[str, Sequence[str]]
Order = tuple[tuple[str, bool], ...]
"""Fields to sort by, the first first, each with whether it descends."""
Sent = Sequence[tuple[tuple[str, ...], str]]
"""Names as the paths their brackets spell, with one value each."""

LARGEST_LIMIT = 1_000_000
LARGEST_PAGE = 10**15
MOST_ORDERS = 10

_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_DIGITS = re.compile(r"[0-9]+")
_DIRECTIONS = {"": False, "asc": False, "desc": True}
_FILTER_ALIASES = {"modified_after": "synced-at", "keywords": "search"}
"""Old names, which may also stand outside `filter[...]`."""


@dataclass(frozen=True, slots=True)
class Options:
    contains: frozenset[str] = frozenset()
    default_contains: frozenset[str] = frozenset()
    """Those of `contains` that hold unless the client says 0."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names clients use for members of `contains`."""
    filters: Mapping[str, Filter] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    """Names of 0 and 1 that stand by themselves."""
    texts: frozenset[str] = frozenset()
    """Names of texts that stand by themselves."""
    sortable: tuple[str, ...] | None = None
    """`Model.field` names; with `None` sort and order are passed over."""
    default_order: Order = ()
    is_paginated: bool = False
    page_size: int | None = None
    """The size of every page, where the client may not choose."""


@dataclass(frozen=True, slots=True)
class Query:
    contained: frozenset[str] = frozenset()
    spoken_of: frozenset[str] = frozenset()
    """Members the client asked for, or said that it does not want."""
    filters: Mapping[str, Any] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    """Those that are set."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Those that were sent."""
    order: Order = ()
    limit: int | None = None
    page: int = 1

    def contains(self, name: str) -> bool:
        return name in self.contained

    def filter(self, name: str) -> Any:
        """The value of a filter, `None` where it was not sent."""
        return self.filters.get(name)


@dataclass(frozen=True, slots=True)
class Pagination:
    """What the envelope's header says of a paginated list."""

    count: int
    page: int
    limit: int | None

    def as_json(self) -> dict[str, int | None]:
        return {"count": self.count, "page": self.page, "limit": self.limit}


def read_query(options: Options, parameters: Parameters) -> Query:
    """What `parameters` ask of an endpoint that offers `options`."""
    sent = [(brackets.path(name), value) for name, value in _pairs(parameters)]
    limit, page = _page(options, sent)
    spoken = _spoken(options, sent)
    return Query(
        contained=_contained(options, spoken),
        spoken_of=frozenset(spoken),
        filters=_filters(options, sent),
        flags=_flags(options, sent),
        texts={path[0]: value for path, value in sent if path[0] in options.texts},
        order=_order(options, sent),
        limit=limit,
        page=page,
    )


def refuse_old_version(parameters: Parameters) -> None:
    if any(version in ("1", "v1") for version in parameters.get("api-version", ())):
        raise Invalid("API v1 support is deprecated in this version.")


def paginate(rows: Sequence[Row], query: Query) -> tuple[Sequence[Row], Pagination]:
    """The rows of the page asked for; there is always a first page."""
    page, pagination = page_or_nothing(rows, query)
    if not page and query.page > 1:
        raise NotFound("Not Found")
    return page, pagination


def page_or_nothing(rows: Sequence[Row], query: Query) -> tuple[Sequence[Row], Pagination]:
    """The rows of the page asked for, none where the list has ended before it."""
    size = query.limit or max(len(rows), 1)
    start = (query.page - 1) * size
    return rows[start : start + size], Pagination(len(rows), query.page, query.limit)


def _pairs(parameters: Parameters) -> Iterator[tuple[str, str]]:
    for name, values in parameters.items():
        for value in values:
            if _UNFIT.search(name) or _UNFIT.search(value):
                raise Invalid("Bad Request")
            yield name, value


def _members(kind: str, sent: Sent) -> Iterator[tuple[tuple[str, ...], str]]:
    """What stands in `kind[...]`, by the path inside."""
    for (name, *inside), value in sent:
        if name == kind and inside:
            yield tuple(inside), value
        elif name == kind and (kind, value) != ("filter", "[]"):
            raise Invalid(f"Invalid query string. The {kind} parameter should be an array.")


def _spoken(options: Options, sent: Sent) -> dict[str, bool]:
    """What the client says of members it may ask for, by name: whether it wants them."""
    spoken: dict[str, bool] = {}
    for (name, *inside), value in _members("contain", sent):
        known = options.aliases.get(name, name)
        if _is_position(name):
            raise _no_contain(value)
        if known not in options.contains:
            continue
        if inside:
            raise _no_contain("array")
        if value.lower() not in BOOLEANS:
            raise _no_contain(value)
        spoken[known] = BOOLEANS[value.lower()]
    return spoken


def _contained(options: Options, spoken: dict[str, bool]) -> frozenset[str]:
    wanted = dict.fromkeys(options.default_contains, True) | spoken
    contained = {name for name, is_wanted in wanted.items() if is_wanted}
    return frozenset(contained.union(*map(_above, contained)))


def _no_contain(value: str) -> Invalid:
    return Invalid(f'Invalid contain. "{value}" is not a valid contain value.')


def _above(name: str) -> Iterator[str]:
    """`permissions.user` and `permissions` for `permissions.user.profile`."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _is_position(name: str) -> bool:
    """Whether `[name]` is a place in a list and no name."""
    return not name or _DIGITS.fullmatch(name) is not None


def _filters(options: Options, sent: Sent) -> dict[str, Any]:
    plain: dict[str, list[str]] = {}
    listed: dict[str, list[str]] = {}
    for (name, *inside), value in [*_members("filter", sent), *_old_filters(sent)]:
        known = _FILTER_ALIASES.get(name, name)
        if _is_position(name):
            raise Invalid(
                f"Invalid filter. No validation rule for filter {name or 0}. Please create one."
            )
        if known not in options.filters:
            continue
        if inside and not (len(inside) == 1 and _is_position(inside[0])):
            raise options.filters[known].refused(known, "array")
        (listed if inside else plain).setdefault(known, []).append(value)
    return {
        name: kind.value(name, plain.get(name, []), listed.get(name, []))
        for name, kind in options.filters.items()
        if name in plain or name in listed
    }


def _flags(options: Options, sent: Sent) -> frozenset[str]:
    """The flags that are set, each by the last that is sent of it."""
    values = {path: value for path, value in sent if path[0] in options.flags}
    for (name, *inside), value in values.items():
        if inside or value.lower() not in BOOLEANS:
            raise Invalid(f'Invalid {name}. "{value}" is not a valid value; it takes 0 and 1.')
    return frozenset(name for (name,), value in values.items() if BOOLEANS[value.lower()])


def _old_filters(sent: Sent) -> Iterator[tuple[tuple[str, ...], str]]:
    return ((path, value) for path, value in sent if path[0] in _FILTER_ALIASES)


def _order(options: Options, sent: Sent) -> Order:
    if options.sortable is None:
        return ()
    asked = list(_sorts(sent)) or list(_old_orders(sent))
    if len(asked) > MOST_ORDERS:
        raise Invalid(f"Invalid order. A list is sorted by at most {MOST_ORDERS} fields.")
    for name, _ in asked:
        if name not in options.sortable:
            raise Invalid(f'Invalid order. "{name}" is not in the list of allowed order.')
    return tuple(dict(asked).items()) or options.default_order


def _sorts(sent: Sent) -> Iterator[tuple[str, bool]]:
    """`sort=Resources.name&direction=desc` and `sort[Resources.name]=desc`."""
    direction = _last("direction", sent) or ""
    for (name, *inside), value in sent:
        if name != "sort":
            continue
        if len(inside) > 1:
            raise Invalid("Invalid pagination.")
        yield (inside[0], _descends(value)) if inside else (value, _descends(direction))


def _descends(direction: str) -> bool:
    if direction not in _DIRECTIONS:
        raise Invalid(f'Invalid order. "{direction}" is not a valid order.')
    return _DIRECTIONS[direction]


def _old_orders(sent: Sent) -> Iterator[tuple[str, bool]]:
    """`order=Resource.name` and `order[]=Resources.name DESC`."""
    for (name, *inside), value in sent:
        if name != "order":
            continue
        if len(inside) > 1 or not all(map(_is_position, inside)):
            raise Invalid("Invalid pagination.")
        yield _old_order(value)


def _old_order(text: str) -> tuple[str, bool]:
    words = text.split()
    if len(words) not in (1, 2) or (words[1:] and words[1].lower() not in ("asc", "desc")):
        raise Invalid(f'Invalid order. "{text}" is not a valid order.')
    model, dot, name = words[0].partition(".")
    if not dot or "." in name:
        raise Invalid(f'Invalid order. "{model}" is not a valid field.')
    plural = model if model.endswith("s") else f"{model}s"
    return f"{plural}.{name}", words[-1].lower() == "desc"


def _page(options: Options, sent: Sent) -> tuple[int | None, int]:
    if not options.is_paginated:
        return None, 1
    limit, page = _last("limit", sent), _last("page", sent)
    return (
        options.page_size or (None if limit is None else _number(limit, LARGEST_LIMIT)),
        1 if page is None else _number(page, LARGEST_PAGE),
    )


def _last(name: str, sent: Sent) -> str | None:
    values = [(path, value) for path, value in sent if path[0] == name]
    if any(len(path) > 1 for path, _ in values):
        raise Invalid("Invalid pagination.")
    return values[-1][1] if values else None


def _number(text: str, largest: int) -> int:
    """At least 1, which also stands for what is no number."""
    if not _DIGITS.fullmatch(text):
        return 1
    digits = text.lstrip("0")
    return largest if len(digits) > len(str(largest)) else max(1, min(int(digits or 0), largest))
