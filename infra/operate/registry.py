"""The registry: which tenants a cell has, and how far each has come.

A command that changes a tenant writes down first what it is at (`work`), and takes that away
when it has ended. So no two of them work on one tenant: a release during a restore would lead
the functions back to the old tables. That is a condition of each write, not a look before it.
One that takes long asks before each further change whether another has taken its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from infra.operate.account import Account
from infra.operate.steps import Failed, Step
from infra.template.cell.platform import REGISTRY

RESERVED = "reserved"
"""The name is taken; there may be a stack, and nobody uses it."""
ACTIVE = "active"
LEAVING = "leaving"
"""The stack is gone, the data are kept until a day."""
GONE = "gone"
"""The data are gone. The name stays taken: what it named is in others' backups and logs."""

HELD = "hold"
"""The work of a tenant none of whose functions runs, until it is woken."""
LEAVES = "offboard "
"""How the work of a tenant begins that leaves: it is silent, for hours if need be."""

_FREE = (
    "(#work = :work OR (#work = :nothing AND "
    "(attribute_not_exists(#restoring) OR #restoring IN (:nothing, :work))))"
)
"""Where no other command is at work, and no other restore is to be finished."""
_OF_FREE = {"#work": "work", "#restoring": "restoring"}


@dataclass(frozen=True, slots=True)
class Entry:
    tenant: str
    cell: str
    tier: str
    state: str = RESERVED
    epoch: int = 1
    code: str = ""
    layer: str = ""
    template: str = ""
    """A digest of the template it was given last, without its own values."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """What the code knows of forms of rows (`checks/forms.py`)."""
    is_own: bool = False
    """Whether it is a tenant of those who run the service: releases reach it first."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Of its stack, without what the platform gives."""
    work: str = ""
    """The command that is at work on it, or was cut short."""
    restoring: str = ""
    """The restore that makes the tables of the next epoch, until it has ended or is given up.

    Also while another command is at work instead of it, such as a hold.
    """
    until: str = ""
    """Of who leaves: the day from which the data may be removed."""
    let_go: str = ""
    """After a restore: the day from which the tables of earlier epochs may be removed."""

    @property
    def table_prefix(self) -> str:
        """How the names of its tables begin: those of its epoch."""
        return f"keyhaven-{self.tenant}-{self.epoch}-"

    def table(self, name: str) -> str:
        """What a table of its epoch is called in the account."""
        return self.table_prefix + name


def pattern_of_tables(tenant: str) -> str:
    """A regular expression of its tables' names in all epochs: which epoch, and which table."""
    return rf"keyhaven-{re.escape(tenant)}-(\d+)-([a-z_]+)"


class Registry:
    def __init__(self, account: Account) -> None:
        self._table = account.client("dynamodb")

    def find(self, tenant: str) -> Entry | None:
        found = self._table.get_item(
            TableName=REGISTRY, Key={"tenant": {"S": tenant}}, ConsistentRead=True
        ).get("Item")
        return None if found is None else _entry(found)

    def fetch(self, tenant: str) -> Entry:
        entry = self.find(tenant)
        if entry is None:
            raise Failed(f"There is no tenant {tenant!r} in this cell; `status` lists them.")
        return entry

    def every(self) -> list[Entry]:
        """All tenants, by name."""
        pages = self._table.get_paginator("scan").paginate(TableName=REGISTRY, ConsistentRead=True)
        entries = [_entry(row) for page in pages for row in page["Items"]]
        return sorted(entries, key=lambda entry: entry.tenant)

    def reserve(self, entry: Entry, *, instead: bool = False) -> None:
        """Take the name; again for whoever has taken it and not come to the end.

        Of one that another command has taken, only `instead` of that.
        """
        row = {name: _stored(value) for name, value in _plain(entry).items()}
        again, names, values = "#state = :reserved", {"#state": "state"}, {":reserved": RESERVED}
        if not instead:
            again += f" AND {_FREE}"
            names |= _OF_FREE
            values |= {":work": entry.work, ":nothing": ""}
        try:
            self._table.put_item(
                TableName=REGISTRY,
                Item=row,
                ConditionExpression=f"attribute_not_exists(tenant) OR ({again})",
                ExpressionAttributeNames=names,
                ExpressionAttributeValues={name: _stored(text) for name, text in values.items()},
            )
        except ClientError as error:
            _raise_unless_refused(error)
            raise Failed(self._taken(entry.tenant)) from None

    def begin(
        self, tenant: str, work: str, *states: str, instead: bool = False, **changes: Any
    ) -> Entry:
        """Write down what is begun, where the tenant is in one of these states.

        And where nothing else is unfinished, which `instead` overrides.
        """
        wanted = {f":state_{state}": _stored(state) for state in states}
        provided, names = f"#state IN ({', '.join(wanted)})", {"#state": "state"}
        values = {**wanted}
        if not instead:
            provided += f" AND {_FREE}"
            names |= _OF_FREE
            values |= {":work": _stored(work), ":nothing": _stored("")}
        try:
            self._update(tenant, {**changes, "work": work}, provided, values, names)
        except ClientError as error:
            _raise_unless_refused(error)
            raise Failed(self._in_the_way(tenant, states)) from None
        return self.fetch(tenant)

    def end(self, tenant: str, work: str, **changes: Any) -> None:
        """Write down what a command has changed, if it is still the one at work."""
        mine = {":work": _stored(work)}
        try:
            self._update(tenant, {**changes, "work": ""}, "#work = :work", mine, {})
        except ClientError as error:
            _raise_unless_refused(error)
            raise Failed(self._in_the_way(tenant, ())) from None

    def require_at_work(self, tenant: str, work: str) -> None:
        """For a command that takes long: `--instead` does not end the process of what it replaces.

        What stacks and functions are told has no condition, so this is asked right before.
        """
        now = self.fetch(tenant).work
        if now != work:
            why = f"`{now}` was begun in its place" if now else "it was ended elsewhere"
            raise Failed(
                f"This command is no longer at work on {tenant}: {why}. It changes nothing more; "
                f"`status {tenant}` says how the tenant stands."
            )

    def while_at_work(self, tenant: str, work: str, steps: Iterable[Step]) -> list[Step]:
        """Steps of which each asks first whether their command is at work still."""

        def carry_out(step: Step) -> str | None:
            self.require_at_work(tenant, work)
            return step.do()

        return [replace(step, do=partial(carry_out, step)) for step in steps]

    def _taken(self, tenant: str) -> str:
        if self.fetch(tenant).state != RESERVED:
            return f"The name {tenant!r} is taken."
        return self._in_the_way(tenant, ())

    def _in_the_way(self, tenant: str, states: Collection[str]) -> str:
        """Why a command may not work on a tenant."""
        entry = self.fetch(tenant)
        if states and entry.state not in states:
            return f"The tenant {tenant} is {entry.state}, not {' or '.join(states)}."
        unfinished = entry.work or entry.restoring or "it has just ended"
        return (
            f"Another command on {tenant} is not finished: {unfinished}. "
            f"Finish it, or add --instead where nobody will: what it left is then yours to look at."
        )

    def _update(
        self,
        tenant: str,
        changes: Mapping[str, Any],
        provided: str,
        values: Mapping[str, Any],
        names: Mapping[str, str],
    ) -> None:
        assert "work" in changes  # noqa: S101  so that the condition may name it
        self._table.update_item(
            TableName=REGISTRY,
            Key={"tenant": {"S": tenant}},
            UpdateExpression="SET " + ", ".join(f"#{name} = :new_{name}" for name in changes),
            ConditionExpression=provided,
            ExpressionAttributeNames={**names, **{f"#{name}": name for name in changes}},
            ExpressionAttributeValues={
                **{f":new_{name}": _stored(value) for name, value in changes.items()},
                **values,
            },
        )


def _raise_unless_refused(error: ClientError) -> None:
    if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
        raise error


def _plain(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in Entry.__slots__}


def _stored(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    if isinstance(value, str):
        return {"S": value}
    return {"M": {name: {"S": text} for name, text in value.items()}}


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(**{name: _read(value) for name, value in row.items() if name in Entry.__slots__})


def _read(value: Mapping[str, Any]) -> Any:
    [(kind, content)] = value.items()
    if kind == "M":
        return {name: text["S"] for name, text in content.items()}
    return int(content) if kind == "N" else content
