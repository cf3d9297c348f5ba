"""CI and deployers have no right that no command asks for.

The commands are given in turn on one cell, so that what they ask can be compared as a whole. All
but `break-glass`: it calls the function that `rotate` calls.
"""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta
from itertools import product

import pytest

from infra.checks.reading import as_list
from infra.command_line.entry import infra
from infra.template.cell.ci import CI
from infra.template.cell.deployers import DEPLOYER, OPERATES, RELEASES, RESTORES
from infra.template.stores import SECRETS
from infra.template.tables import our_tables
from tests.infra_cloud.conftest import ELSEWHERE, NOW
from tests.infra_cloud.given.authorization import HERE
from tests.infra_cloud.given.clients import client
from tests.infra_cloud.given.fakes import ACCOUNT, LONG_AGO, REGION, made_at
from tests.infra_cloud.given.rights import rights
from tests.support.collecting import collecting
from tests.support.commands import with_build
from tests.support.iam import is_about

BUCKET = "exports-keyhaven-acme"
ADMIN = ("--admin", "edith@example.com", "--first-name", "Edith", "--last-name", "Lovelace")
GRANTED_TO = {RELEASES: CI, OPERATES: DEPLOYER, RESTORES: DEPLOYER}
"""The role whose commands need a policy; those of `MayRelease` are CI's too."""
NOT_IN_THE_MOCK = [(RESTORES, "backup:StartRestoreJob", f"arn:aws:backup:{HERE}:recovery-point:*")]
"""Copies of the mock are DynamoDB's own backups; AWS Backup has names of its own for others."""


@pytest.fixture
def used(filled, monkeypatch, tmp_path):
    """A cell in which each command was given, by CI or a deployer."""
    monkeypatch.chdir(filled.build.folder.parent)
    filled.next_build(tmp_path / "next")
    filled.watch.calls.clear()
    operate(filled)
    release(filled)
    export(filled, tmp_path)
    restore(filled)
    leave(filled)
    return filled


def give(cell, role, *words):
    with cell.watch.acting(role):
        infra(with_build(words), account=lambda _: cell.account)


def operate(cell):
    """Blue is of the largest tier, reached by networks of its own, and has a domain for mails."""
    blue = ("--vpc-endpoints", "vpce-0a1b2c3d4e5f60718", "--mail-identity", "blue.example")
    give(cell, DEPLOYER, "onboard", "blue", *ADMIN, "--tier", "premium", *blue)
    cell.functions.waiting["keyhaven-blue-auth"] = 1  # as the stack has it
    give(cell, DEPLOYER, "hold", "blue")
    give(cell, DEPLOYER, "wake", "blue")
    give(cell, DEPLOYER, "rotate", "blue")
    onboard_where_it_failed(cell)
    onboard_with_replicas(cell)


def onboard_where_it_failed(cell):
    carol = ("onboard", "carol", *ADMIN, "--base-url", cell.address)
    cell.stacks.fails = {"UsersTable1": "made by a test"}
    with pytest.raises(SystemExit):
        give(cell, DEPLOYER, *carol)
    cell.stacks.fails.clear()
    client("logs").create_log_group(logGroupName="/keyhaven/carol/auth")
    give(cell, DEPLOYER, *carol)


def onboard_with_replicas(cell):
    secrets, here = client("secretsmanager", ELSEWHERE), [{"Region": REGION}]
    for name in SECRETS:
        made = {"Name": f"keyhaven/dora/{name}", "SecretString": "a key"}
        secrets.create_secret(**made, AddReplicaRegions=here)
    words = ("--keys-from-replicas", "--base-url", cell.address)
    give(cell, DEPLOYER, "onboard", "dora", *words)


def release(cell):
    cell.functions.versions = {"keyhaven-acme-auth": ["1", "2", "3", "4", "5"]}
    give(cell, CI, "plan", "acme", "--folder", "next")
    give(cell, CI, "deploy", "acme", "--set", "LogExport=yes")
    give(cell, CI, "status", "acme")
    give(cell, CI, "status", "blue")
    release_where_a_table_was_left(cell)
    give(cell, CI, "status")


def release_where_a_table_was_left(cell):
    """CI sees it, and a deployer takes it in."""
    stack = cell.stacks.stacks["keyhaven-acme"]
    stack.template["Resources"].pop("CommentsTable1")
    stack.physical.pop("CommentsTable1")
    cell.watch.refuses = {"dynamodb:UpdateContinuousBackups"}
    with pytest.raises(SystemExit, match="a deployer gives this command"):
        give(cell, CI, "release", "--folder", "next")
    cell.watch.refuses.clear()
    give(cell, DEPLOYER, "release", "--folder", "next")
    made_at("keyhaven-acme-1-comments", LONG_AGO)
    give(cell, CI, "release", "--folder", "next")


def export(cell, tmp_path):
    give(cell, DEPLOYER, "export-logs", "acme", "--into", str(tmp_path / "logs.jsonl"))
    give(cell, CI, "deploy", "acme", "--set", "Traces=yes", "--folder", "next")
    with collecting() as collector:
        give(cell, DEPLOYER, "export-traces", "acme", "--to", collector.address)


def restore(cell):
    to = ("restore", "acme", "--folder", "next")
    give(cell, DEPLOYER, *to, "--to", "2026-11-21T08:00:00Z")
    cell.account.now = (NOW + timedelta(days=7)).timestamp
    give(cell, DEPLOYER, "restore", "acme", "--let-go")
    for name in our_tables().keys() - {"comments"}:
        cell.vault.copy(f"keyhaven-acme-2-{name}", NOW)
    give(cell, DEPLOYER, *to, "--from-vault", "--empty", "comments")


def leave(cell):
    """A second time forty days later, when the wait is over."""
    where = {"LocationConstraint": REGION}
    client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=where)
    client("s3").put_object(Bucket=f"keyhaven-acme-{ACCOUNT}", Key="avatars/x", Body=b"any")
    cell.stacks.api_url = cell.address
    give(cell, DEPLOYER, "offboard", "acme", "--export-to", BUCKET)
    cell.account.now = (NOW + timedelta(days=40)).timestamp
    give(cell, DEPLOYER, "offboard", "acme", "--destroy", "--sure", "acme")


def unused(watch):
    """Actions of the policies, with where each is allowed, that no call of a command has asked."""
    for policy, role in GRANTED_TO.items():
        calls = {each for who, each in watch.calls if who == role}
        for right in granted(watch.template, policy, role):
            if not any(is_about(right, each.action, each.on, dict(each.context)) for each in calls):
                yield policy, right["Action"], right["Resource"]


def granted(template, policy, role):
    """What the statements of a policy allow: each action on each resource by itself."""
    document = template["Resources"][policy]["Properties"]["PolicyDocument"]
    for said in rights(template, role).resolved(document["Statement"]):
        if said["Effect"] == "Allow":
            for action, on in product(as_list(said["Action"]), as_list(said["Resource"])):
                yield {**said, "Action": action, "Resource": on}


def test_each_right_is_one_that_a_command_asks_for(used):
    """And one that is not would be found."""
    assert list(unused(used.watch)) == NOT_IN_THE_MOCK

    further = {"Effect": "Allow", "Action": ["s3:PutObject"], "Resource": ["*:x"]}
    used.watch.template = deepcopy(used.watch.template)
    policy = used.watch.template["Resources"][OPERATES]["Properties"]["PolicyDocument"]
    policy["Statement"].append(further)
    assert (OPERATES, "s3:PutObject", "*:x") in unused(used.watch)
