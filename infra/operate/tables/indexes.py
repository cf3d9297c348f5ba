"""Indexes that a release brings to tables: made and filled before the code that asks them runs.

CloudFormation makes one index of a table at a time, does not wait until it is filled, and where it
takes the release back it leaves the index, which nobody knows of then. So each comes by a change
of its own, before the release, and stays whatever becomes of that: the code of before asks none.
"""

from __future__ import annotations

from collections.abc import Iterator

from infra.checks.reading import of_kind
from infra.operate import builds
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.tables import table_settings
from infra.template.elements import Json

_GLOBAL, _LOCAL = "GlobalSecondaryIndexes", "LocalSecondaryIndexes"


def make(account: Account, entry: Entry, template: Json) -> str:
    """Make those that the deployed tables lack, and wait for them; which ones, if any."""
    stack, made = builds.stack_of(account, entry.tenant), []
    deployed = stack.template()
    wanted = dict(of_kind(template, "DynamoDB::Table"))
    there = [each for each in wanted if each in deployed["Resources"]]
    for table in there:
        for properties in _one_by_one(deployed["Resources"][table]["Properties"], wanted[table]):
            deployed = _with(deployed, table, properties)
            stack.change(deployed)
            index = properties[_GLOBAL][-1]["IndexName"]
            made.append(f"{index} of {table_settings.name_of(properties, entry.tenant)}")
            _wait(account, properties, entry.tenant)
    for table in there:  # one may be from a command that was cut short
        _wait(account, wanted[table], entry.tenant)
    return f"Indexes made: {', '.join(made)}." if made else ""


def _one_by_one(held: Json, wanted: Json) -> Iterator[Json]:
    """A table as it is with the first index more, then with the second …"""
    known = {each["IndexName"] for each in held.get(_GLOBAL, ())}
    for index in wanted.get(_GLOBAL, ()):
        if index["IndexName"] not in known:
            held = _defining({**held, _GLOBAL: [*held.get(_GLOBAL, ()), index]}, wanted)
            yield held


def _defining(table: Json, wanted: Json) -> Json:
    """With the attributes that are part of a key, and no others: so DynamoDB wants it."""
    indexes = (*table[_GLOBAL], *table.get(_LOCAL, ()))
    keys = {key["AttributeName"] for each in (table, *indexes) for key in each["KeySchema"]}
    both = (*wanted["AttributeDefinitions"], *table["AttributeDefinitions"])
    types = {each["AttributeName"]: each for each in both if each["AttributeName"] in keys}
    return {**table, "AttributeDefinitions": [types[each] for each in sorted(types)]}


def _with(template: Json, table: str, properties: Json) -> Json:
    resource = {**template["Resources"][table], "Properties": properties}
    return {**template, "Resources": {**template["Resources"], table: resource}}


def _wait(account: Account, properties: Json, tenant: str) -> None:
    """Until all are filled: that takes as long as the table is large."""
    if properties.get(_GLOBAL):
        name, client = table_settings.name_of(properties, tenant), account.client("dynamodb")

        def are_filled() -> bool:
            described = client.describe_table(TableName=name)["Table"]
            # A local cloud says nothing of indexes that are filled from the start.
            return all(each.get("IndexStatus") != "CREATING" for each in described[_GLOBAL])

        account.until(are_filled, 20)
