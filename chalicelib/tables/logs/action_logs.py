"""Action logs: what happened to whom, which lines are shown, and for how long readings are kept.

A row is what one request did to one subject: a resource, a folder, a user, a group, a setting. One
row of each request also stands in the index by month, which is the log of the whole service.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection

from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.domain.differences import Difference
from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.settings import settings
from chalicelib.storage import fetching
from chalicelib.storage.base import (
    RawRow,
    Table,
    TableMeta,
    TimestampAttribute,
    table_name,
    timestamp_text,
)
from chalicelib.tables.logs.readings import Reading, packed, unpacked

GIVEN = "Resource.Secrets.read"
SECRETS_UPDATED = "Resource.Secrets.updated"
"""What a row tells beside its action where it names secrets; its action, where a share has sent
secrets again and changed nothing else."""
SHOWN = (
    *("Resources.created", "Resources.updated", "Resources.deleted", GIVEN, "Permissions.updated"),
    *("Folders.created", "Folders.updated", "Folders.deleted"),
    *("Users.created", "Users.updated", "Users.deleted"),
    *("Groups.created", "Groups.updated", "Groups.deleted"),
)
"""The actions that the log of their subject shows; others stand in the log of the service alone."""
MOST_SECRETS = 5_000
"""Secrets that are named where so many are replaced at once, in 215 KB."""
MOST_RENEWED = 2_500
"""Users that are named whose secrets a share has replaced, in 100 KB. A share of as many
permissions as may be sent has 130 KB beside that."""
MOST_GONE = 2_500
MOST_HANDED_OVER = 500
"""What is named that went with a folder, a user or a group, or was handed over, in 140 KB. A group
of as many members as there may be has 235 KB beside that."""
_DAY = 24 * 3600

Kept = Condition | None
"""Which requests are meant; all of them where it is nothing."""
Details = Mapping[str, Any]
"""What a log tells beside its action: lists and texts, of nothing that decrypts."""


class HandedOver(NamedTuple):
    """That somebody was made an owner of an item, or a manager of a group."""

    kind: str
    id: str
    holder_kind: str
    holder: str


class ByMonth(GlobalSecondaryIndex["ActionLog"]):  # type: ignore[no-untyped-call]
    """One row of each request, by the month it came in."""

    class Meta:
        index_name = "by-month"
        projection = IncludeProjection(["actor", "created", "endpoint", "context"])

    month = UnicodeAttribute(hash_key=True)
    time_id = UnicodeAttribute(range_key=True)


class ActionLog(Table):
    class Meta(TableMeta):
        table_name = table_name("action_logs")

    subject = UnicodeAttribute(hash_key=True)
    """Identifier of the item or user it happened to."""
    time_id = UnicodeAttribute(range_key=True)
    """Time, `header.id` of the answer, action: newest last. A run, or a change that is taken back,
    does several things to a subject."""
    action = UnicodeAttribute()
    """Name such as `Resources.created`."""
    actor = UnicodeAttribute(null=True)
    created = TimestampAttribute()
    details = UnicodeAttribute(null=True)
    """As JSON."""
    secrets = UnicodeAttribute(null=True)
    """Of an update that replaced secrets: these and whose they are, in turn, as in `readings`."""
    endpoint = UnicodeAttribute(null=True)
    """What was asked for, such as `ResourcesAdd.add`."""
    context = UnicodeAttribute(null=True)
    """Method and path of the request."""
    month = UnicodeAttribute(null=True)
    """Of one row of each request."""
    by_month = ByMonth()
    expires = NumberAttribute(null=True)
    """Of readings alone, where they are not kept for ever."""

    @classmethod
    def of(
        cls,
        subject: str,
        action: str,
        actor: str | None,
        caller: Caller,
        details: Details | None = None,
        *,
        changes: Sequence[Difference] | None = None,
        is_first: bool = True,
    ) -> ActionLog:
        """What a request does to a subject; of several subjects, one row `is_first`."""
        now = clock.now()
        if changes is not None:
            details = {**(details or {}), "changes": changes}
        return cls(
            subject,
            f"{timestamp_text(now)}#{caller.request_id}#{action}",
            action=action,
            actor=actor,
            created=now,
            details=None if details is None else _json(details),
            endpoint=caller.action,
            context=caller.context or None,
            month=month_of(now) if is_first else None,
        )

    @classmethod
    def of_reading(cls, read: Reading, resource_id: ResourceId, *, is_first: bool) -> ActionLog:
        """The line in the log of a resource that the user has read their secret of it."""
        line = cls(
            resource_id,
            f"{timestamp_text(read.moment)}#{read.request_id}#{GIVEN}",
            action=GIVEN,
            actor=read.user_id,
            created=read.moment,
            endpoint=read.endpoint if is_first else None,
            context=read.context if is_first else None,
            month=month_of(read.moment) if is_first else None,
        )
        line.expires = line.should_expire
        return line

    @classmethod
    def lines_of(cls, read: Reading) -> Iterator[ActionLog]:
        """The lines that a reading is spread into, one in the log of each resource.

        None, where the log has the line of the change that was answered so.
        """
        if read.of_change:
            return
        for place, resource_id in enumerate(read.resource_ids):
            yield cls.of_reading(read, resource_id, is_first=place == 0 and read.is_first)

    @classmethod
    def rows_of(cls, read: Reading) -> Iterator[RawRow]:
        """The same as they will be stored."""
        return (line.serialize() for line in cls.lines_of(read))

    @classmethod
    def between(cls, first: datetime, end: datetime) -> Iterator[RawRow]:
        """All lines from a moment on until before another, as they are stored. A scan."""
        span = (cls.time_id >= timestamp_text(first)) & (cls.time_id < timestamp_text(end))
        return fetching.scan_for(cls, span)

    @classmethod
    def moments(cls) -> Iterator[datetime]:
        """When each line was written, in no order. A scan."""
        return map(_moment_of, fetching.scan(cls, "time_id"))

    @classmethod
    def readings_of_page(
        cls, after: RawRow | None, most: int
    ) -> tuple[list[ActionLog], RawRow | None]:
        """Who read which secret, of some rows; and the key after which the rest comes. A scan."""
        rows, rest = fetching.page(cls, after, most)
        lines = (cls.from_raw(cls.forms.as_written(row)) for row in rows)
        return [line for line in lines if line.action == GIVEN and line.actor], rest

    @property
    def should_expire(self) -> int | None:
        """When a line that tells of a reading is to go; nothing where it is kept for ever."""
        days = settings.reading_days
        return int(self.created.timestamp()) + days * _DAY if days else None

    def expiring(self) -> Action:
        """The action by which a row goes when it is to."""
        moment = self.should_expire
        attribute = type(self).expires
        return attribute.remove() if moment is None else attribute.set(moment)

    def names_secrets(self, secrets: Iterable[tuple[str, UserId]]) -> None:
        """Tell that secrets were replaced, and whose."""
        pairs = [*secrets][:MOST_SECRETS]
        self.secrets = packed(each for pair in pairs for each in pair)

    def names_renewed(self, users: Collection[UserId]) -> None:
        """Tell whose secrets a share has replaced; what users are shown does not name them."""
        if users:
            self._tells(renewed=sorted(users)[:MOST_RENEWED])

    def names_gone(self, gone: Sequence[tuple[str, str]]) -> None:
        """Tell what went with the subject, each by its kind and identifier, and how much it was."""
        if gone:
            self._tells(gone=_by_kind(gone[:MOST_GONE]), gone_count=len(gone))

    def names_handed_over(self, handed: Iterable[HandedOver]) -> None:
        """Tell who was made an owner, or a manager, of what would else be left without one."""
        if told := [*handed][:MOST_HANDED_OVER]:
            self._tells(handed_over=told)

    def _tells(self, **more: Any) -> None:
        self.details = _json({**self.told, **more})

    @classmethod
    def shown(cls, subject: str, most: int | None, *, is_descending: bool) -> list[ActionLog]:
        """The first lines of a subject's log that are shown."""
        rows = fetching.select(
            *(cls, cls.subject == subject),
            keep=_is_shown(),
            most=most,
            is_descending=is_descending,
        )
        return [cls.from_raw(row) for row in rows]

    @classmethod
    def count_shown(cls, subject: str) -> int:
        return fetching.count_selected(cls, cls.subject == subject, keep=_is_shown())

    @classmethod
    def in_month(
        cls, month: str, keep: Kept, most: int | None, *, is_descending: bool
    ) -> list[RawRow]:
        """The first requests of a month; as of a moment ago."""
        return fetching.select(
            *(cls, cls.month == month),
            keep=keep,
            index=ByMonth.Meta.index_name,
            most=most,
            is_descending=is_descending,
        )

    @classmethod
    def count_in_month(cls, month: str, keep: Kept) -> int:
        key = cls.month == month
        return fetching.count_selected(cls, key, keep=keep, index=ByMonth.Meta.index_name)

    @classmethod
    def kept(
        cls, users: Sequence[str] | None, after: datetime | None, before: datetime | None
    ) -> Kept:
        """The condition that a request is by one of these users, and between these moments."""
        conditions: list[Condition] = []
        if users is not None:
            conditions.append(cls.actor.is_in(*users))
        if after is not None:
            conditions.append(cls.created >= after)
        if before is not None:
            conditions.append(cls.created <= before)
        if not conditions:
            return None
        first, *others = conditions
        for each in others:
            first &= each
        return first

    @property
    def request_id(self) -> str:
        return str(self.time_id.split("#")[1])

    @property
    def told(self) -> dict[str, Any]:
        return json.loads(self.details) if self.details else {}

    @property
    def named_secrets(self) -> list[tuple[str, str]]:
        """Identifiers of secrets that were replaced, each with its user's."""
        each = unpacked(str(self.secrets))
        return list(zip(each, each, strict=True))


def _json(details: Details) -> str:
    return json.dumps(details, separators=(",", ":"))


def _by_kind(things: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Identifiers, by the kind of what has them."""
    ids: dict[str, list[str]] = {}
    for kind, id_ in things:
        ids.setdefault(kind, []).append(id_)
    return ids


def month_of(moment: datetime) -> str:
    """Such as `2026-11`."""
    return timestamp_text(moment)[:7]


def _moment_of(row: RawRow) -> datetime:
    return datetime.fromisoformat(row["time_id"]["S"].partition("#")[0])


def _is_shown() -> Condition:
    both: Condition = ActionLog.action.is_in(*SHOWN) & ActionLog.actor.exists()
    return both
