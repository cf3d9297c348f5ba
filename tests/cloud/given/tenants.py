"""Tenants in the local cloud with people in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from infra.local_cloud.process import LocalCloud
from infra.template.elements import Json
from infra.template.functions import ALIAS
from tests.cloud.given.stacks import Cell, Stack
from tests.support.wire.served import Served, set_up
from tests.support.world.keys import KEYS, Key

FOUNDER = "founder"
ADMINISTRATOR = {"username": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"}


@dataclass(frozen=True, slots=True)
class CloudTenant(Served):
    """A tenant whose first administrator is Ada, and the stack it runs in."""

    stack: Stack
    cloud: LocalCloud

    def mail_to(self, address: str) -> str:
        """What the last mail to somebody is about; it waits in the outbox."""
        rows = self.rows("outbox")
        mails = [row for row in rows if row["recipient"]["S"] == address]
        newest = max(mails, key=lambda row: str(row["created"]))
        return "\n".join(value["S"] for value in newest["params"]["M"].values())

    def rows(self, table: str) -> Any:
        """All rows of a table, in DynamoDB's own attribute values."""
        name = self.stack.outputs["TablePrefix"] + table
        return self.cloud.client("dynamodb").scan(TableName=name)["Items"]


def found(cell: Cell, name: str, dialect: str, key: Key = KEYS["ada"]) -> CloudTenant:
    """A new tenant: its stack, its keys, and its first administrator with an account."""
    stack = cell.settle_tenant(name, Dialect=dialect, LogExport="yes")
    call(cell.cloud, stack, FOUNDER, {})
    link = call(cell.cloud, stack, FOUNDER, {"administrator": ADMINISTRATOR})["link"]
    url, user_id = set_up(link, key)
    return CloudTenant(url, user_id, key, cell.cloud.output, stack, cell.cloud)


def call(cloud: LocalCloud, stack: Stack, worker: str, event: Json) -> Any:
    """What a worker of a tenant returns."""
    name = f"{stack.name}-{worker}"
    called = cloud.client("lambda").invoke(
        FunctionName=name, Qualifier=ALIAS, Payload=json.dumps(event).encode()
    )
    returned = called["Payload"].read().decode()
    assert "FunctionError" not in called, returned
    return json.loads(returned)
