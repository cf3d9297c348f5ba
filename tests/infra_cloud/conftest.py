"""A cell in the mock cloud, with a build to bring to it and the real service behind its address."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from moto import mock_aws
from moto.cloudwatch.models import cloudwatch_backends
from moto.core.base_backend import BackendDict
from moto.dynamodb.models import dynamodb_backends
from moto.events.models import events_backends
from moto.kms import models
from moto.kms.models import kms_backends
from moto.logs.models import logs_backends
from moto.s3.models import s3_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.ses.models import ses_backends

from chalicelib.tables.operator.outbox import Mail
from infra.bundle.bundle import Bundle
from infra.operate import builds, cells, onboarding
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.onboarding import Administrator
from infra.operate.registry import Entry
from infra.operate.steps import carry_out
from infra.template.cell.deployers import DEPLOYER
from infra.template.cell.platform import platform
from infra.template.elements import text
from infra.template.tables import our_tables
from infra.template.tenant import tenant
from infra.template.tiers import TIERS
from tests.infra_cloud.given.clients import client
from tests.infra_cloud.given.fakes import (
    ACCOUNT,
    REGION,
    CloudFormation,
    Functions,
    Promotions,
    Topics,
    answering,
)
from tests.infra_cloud.given.rights import Watch, watching
from tests.infra_cloud.given.vault import Vault
from tests.support.wire.client import Client
from tests.support.world import make

ELSEWHERE = "eu-west-1"
"""Another region, where a tenant was."""
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ADA = Administrator("ada@example.com", "Ada", "Lovelace")
_BACKENDS: tuple[BackendDict, ...] = (
    *(dynamodb_backends, secretsmanager_backends, kms_backends, logs_backends),
    *(cloudwatch_backends, events_backends, ses_backends),
)


@dataclass
class Cell:
    account: Account
    build: Build
    stacks: CloudFormation
    functions: Functions
    topics: Topics
    vault: Vault
    address: str
    """Where the tenant answers."""
    watch: Watch
    """In which role commands are given: that of deployers, unless a test says another."""
    pauses: list[float] = field(default_factory=list)

    def client(self, service: str):
        """For the test itself, which may do everything."""
        return client(service)

    def set_up(self, **given: str) -> None:
        """What an administrator alone may do."""
        with self.watch.acting(None):
            carry_out(cells.steps(self.account, self.build, given), again="")

    def entry(self, tenant_id: str = "acme", **further) -> Entry:
        given = {"BaseUrl": self.address, "Dialect": "clients", "SupportAddress": ""}
        return Entry(tenant_id, self.account.cell, "standard", parameters=given, **further)

    def onboarding(self, entry: Entry):
        return onboarding.steps(self.account, self.build, entry, ADA)

    def onboard(self, tenant_id: str = "acme", **further) -> None:
        with self.watch.acting(DEPLOYER):
            carry_out(self.onboarding(self.entry(tenant_id, **further)), again="")

    def tables(self) -> list[str]:
        return self.client("dynamodb").list_tables()["TableNames"]

    def next_build(self, folder) -> Build:
        """Of other code."""
        return made_build(folder, b"the next code")


def made_build(folder, code: bytes, layer: bytes = b"a layer") -> Build:
    folder.mkdir(exist_ok=True)
    (folder / "code.zip").write_bytes(code)
    (folder / "layer.zip").write_bytes(layer)
    bundle = builds.built(folder)
    for name, template in _templates(bundle).items():
        (folder / name).write_text(template)
    return Build(folder, bundle)


@cache
def _templates(bundle: Bundle) -> dict[str, str]:
    """By their files' names; the same for all tests."""
    tenants = {f"tenant-{name}.json": text(tenant(tier, bundle)) for name, tier in TIERS.items()}
    return {"platform.json": text(platform(bundle)), **tenants}


@pytest.fixture(autouse=True, scope="session")
def _keys_are_drawn_once() -> Iterator[None]:
    """Moto draws an RSA key for each key of KMS, also for those that are no RSA keys."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "generate_private_key", cache(models.generate_private_key))
        yield


@pytest.fixture
def address(store) -> Iterator[str]:
    """The service of the tests, reached over HTTP."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = Client().get(self.path)
            self.send_response(answer.status)
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cell(address, tmp_path) -> Iterator[Cell]:
    pauses: list[float] = []
    stacks, functions, topics, vault = CloudFormation(), Functions(), Topics(), Vault()
    os.environ["AWS_DEFAULT_REGION"] = REGION
    with (
        mock_aws(),
        answering("cloudformation", stacks),
        answering("lambda", functions),
        answering("sns", topics),
        answering("backup", vault),
        answering("secretsmanager.StopReplicationToReplica", Promotions()),
    ):
        _forget()
        build = made_build(tmp_path / "build", b"some code")
        watch = Watch(platform(build.bundle), stacks)
        with watching(watch):
            account = Account(REGION, pauses.append, NOW.timestamp)
            yield Cell(account, build, stacks, functions, topics, vault, address, watch, pauses)
        _forget()
    del os.environ["AWS_DEFAULT_REGION"]


@pytest.fixture
def filled(cell, store, ada, betty) -> Cell:
    """With a tenant whose tables hold what those of the tests do: Ada shares with Betty."""
    cell.set_up()
    for step in [*cell.onboarding(cell.entry())[:5], cell.onboarding(cell.entry())[6]]:
        step.do()
    make.resource(ada, {betty: 1})
    Mail.to("carol@example.com", "AN_register_user").save()
    fill(cell, store, 1)
    return cell


def fill(cell: Cell, store, epoch: int) -> None:
    dynamodb = cell.client("dynamodb")
    for name, table in our_tables().items():
        for row in store.rows(table.stored_as()):
            dynamodb.put_item(TableName=f"keyhaven-acme-{epoch}-{name}", Item=row)


def _forget() -> None:
    """Not of all regions: the tables of other tests lie in another."""
    for backends in _BACKENDS:
        backends[ACCOUNT][REGION].reset()
    secretsmanager_backends[ACCOUNT][ELSEWHERE].reset()
    s3_backends[ACCOUNT]["aws"].reset()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Run these with whole stacks (`make test-cloud`): a service that is asked needs none of it."""
    item.add_marker(pytest.mark.cloud)
