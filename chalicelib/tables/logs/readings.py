"""Readings: which secrets a user was given by one request, in one row, written before they leave.

A list gives thousands of secrets, and has one row to write. The sweeper spreads it afterwards over
the logs of the resources and what is known of the user (`services/operator/readings.py`); until
then it counts as it stands. Rows lie in a few shards, a user always in the same, so that whoever
asks for those that are not spread yet asks a few times, however many users there are (ADR 35).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar
from uuid import UUID

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import ResourceId
from chalicelib.storage import fetching, reading, writing
from chalicelib.storage.base import (
    Key,
    Table,
    TableMeta,
    TimestampAttribute,
    in_chunks,
    table_name,
    timestamp_text,
)

SHARDS = 8
MOST = 12_000
"""Resources in one row, which so has 260 KB: a row has 400 KB at most."""
_BYTES = 16
_ROW = 2_000
"""Bytes that a row weighs beside its resources: it takes as long as these to make it ready."""
MOST_SHOWN = 8_000_000
"""Bytes of readings of a shard that a page of a log tells of before they are spread."""
MOST_WAITING, MOST_PAGES = 10_000, 200
"""Readings of a shard that a round of the sweeper looks at, and pages of them. The pages of a shard
have a megabyte each and take some twenty seconds."""

Made = TypeVar("Made")


class Waiting(NamedTuple):
    """A reading that is to be spread, without what was read: a round has thousands in memory."""

    key: Key
    user_id: str

    @property
    def request_id(self) -> str:
        return str(self.key.range_key).split("#")[1]


class Oldest(NamedTuple):
    """The readings of a shard that are to be spread, the oldest of them where there are many."""

    waiting: list[Waiting]
    are_all: bool


class Reading(Table):
    class Meta(TableMeta):
        table_name = table_name("readings")

    shard = UnicodeAttribute(hash_key=True)
    time_id = UnicodeAttribute(range_key=True)
    """When the request came in, `header.id` of the answer, number of the row among those of the
    answer: a request that is decided again writes the same row again."""
    user_id = UnicodeAttribute()
    resources = UnicodeAttribute()
    """Identifiers, sixteen bytes each, in Base64."""
    created = TimestampAttribute()
    """When it was written, just before the secrets leave."""
    endpoint = UnicodeAttribute(null=True)
    """What was asked for, such as `SecretsView.view`; an earlier release did not note it."""
    context = UnicodeAttribute(null=True)
    """Method and path of the request."""
    of_change = BooleanAttribute(null=True)
    """Whether what was given is the answer to a change: of that the log has its own line."""

    @classmethod
    def of(cls, actor: Actor, resource_ids: Sequence[ResourceId], number: int = 0) -> Reading:
        caller = actor.caller
        return cls(
            shard_of(actor.id),
            f"{timestamp_text(caller.at)}#{caller.request_id}#{number}",
            user_id=actor.id,
            resources=packed(resource_ids),
            created=clock.now(),
            endpoint=caller.action,
            context=caller.context or None,
        )

    @classmethod
    def by_change(cls, actor: Actor, resource_id: ResourceId) -> Reading:
        """What is given by the answer to a change, whose line is the request's first."""
        row = cls.of(actor, [resource_id], number=1)
        row.of_change = True
        return row

    @classmethod
    def note(cls, actor: Actor, resource_ids: Sequence[ResourceId]) -> None:
        """Write that the actor reads the secrets of these resources."""
        parts = enumerate(in_chunks([*resource_ids], MOST))
        rows = [cls.of(actor, part, number) for number, part in parts]
        fetching.together(*(partial(writing.put, row) for row in rows))

    @classmethod
    def newest(cls, shard: str) -> Iterator[Reading]:
        """Those of a shard that are not spread yet, newest first, read as far as somebody goes on.

        There may be more than a function has memory for, or a request time.
        """
        return chain.from_iterable(cls.newest_pages(shard))

    @classmethod
    def newest_pages(cls, shard: str) -> Iterator[Iterator[Reading]]:
        """The same as they are read."""
        for page in fetching.pages(cls, shard, is_descending=True):
            yield map(cls.from_raw, page)

    @classmethod
    def shown(cls, make: Callable[[Reading], Made | None]) -> list[Callable[[], list[Made]]]:
        """The calls that read what logs show of them, to be made beside others.

        Of each shard these are the newest. They return what `make` makes of those, where it makes
        something.
        """
        return [partial(cls._shown_in, str(n), make) for n in range(SHARDS)]

    @classmethod
    def _shown_in(cls, shard: str, make: Callable[[Reading], Made | None]) -> list[Made]:
        made, left = [], MOST_SHOWN
        for each in cls.newest(shard):
            if left <= 0:
                break
            left -= each.weight
            if (line := make(each)) is not None:
                made.append(line)
        return made

    @classmethod
    def oldest(cls, written_before: datetime) -> list[Callable[[], Oldest]]:
        """The calls that read which were written before a moment, to be made together."""
        return [partial(cls._oldest_in, str(n), written_before) for n in range(SHARDS)]

    @classmethod
    def _oldest_in(cls, shard: str, written_before: datetime) -> Oldest:
        """Each has the moment of its request in its key, which is no later than it was written."""
        last = timestamp_text(written_before + timedelta(seconds=1))
        names = ("shard", "time_id", "user_id", "created")
        pages = fetching.outlines(cls, shard, *names, range_condition=cls.time_id < last)
        found: list[Waiting] = []
        for number, page in enumerate(pages):
            if number == MOST_PAGES or len(found) >= MOST_WAITING:
                return Oldest(found, are_all=False)
            found += (
                Waiting(fetching.key_of(cls, row), row["user_id"]["S"])
                for row in page
                if datetime.fromisoformat(row["created"]["S"]) < written_before
            )
        return Oldest(found, are_all=True)

    @classmethod
    def find(cls, key: Key) -> Reading | None:
        row = reading.find(key)
        return None if row is None else cls.from_raw(row)

    @classmethod
    def between(cls, first: datetime, end: datetime) -> Iterator[Reading]:
        """Those from a moment on until before another that are not spread yet, page by page."""
        is_between = cls.time_id.between(timestamp_text(first), timestamp_text(end))
        for shard in range(SHARDS):
            for page in fetching.pages(cls, str(shard), range_condition=is_between):
                yield from map(cls.from_raw, page)

    @property
    def moment(self) -> datetime:
        """The moment that its lines bear, by which days are told apart."""
        return datetime.fromisoformat(self.time_id.partition("#")[0])

    @property
    def request_id(self) -> str:
        return str(self.time_id.split("#")[1])

    @property
    def is_first(self) -> bool:
        """Whether it is the first row of its request, or the only one."""
        return bool(self.time_id.endswith("#0"))

    @property
    def resource_ids(self) -> list[ResourceId]:
        return [*unpacked(str(self.resources))]

    @property
    def pieces(self) -> Iterator[bytes]:
        """The identifiers as they lie in the row; thousands are not made to texts."""
        return _pieces(str(self.resources))

    @property
    def weight(self) -> int:
        """How much of a bound it takes, in bytes."""
        return _ROW + len(str(self.resources))

    def has(self, resource_id: ResourceId) -> bool:
        """Looked for in the whole, as cutting it into thousands of pieces takes long."""
        content, piece = b64decode(str(self.resources)), piece_of(resource_id)
        at = content.find(piece)
        while at >= 0 and at % _BYTES:
            at = content.find(piece, at + 1)
        return at >= 0


def shard_of(user_id: str) -> str:
    return str(UUID(user_id).int % SHARDS)


def piece_of(resource_id: str) -> bytes:
    return UUID(resource_id).bytes


def id_of(piece: bytes) -> ResourceId:
    return ResourceId(str(UUID(bytes=piece)))


def packed(resource_ids: Iterable[str]) -> str:
    return b64encode(bytes.fromhex("".join(resource_ids).replace("-", ""))).decode()


def unpacked(text: str) -> Iterator[ResourceId]:
    return map(id_of, _pieces(text))


def _pieces(text: str) -> Iterator[bytes]:
    content = b64decode(text)
    return (content[start : start + _BYTES] for start in range(0, len(content), _BYTES))
