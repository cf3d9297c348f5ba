"""`restore`, given in the local cloud: its steps and order, and where the functions are led.

The local cloud keeps no past of a table. The moments here are copies made of all tables while
nobody wrote (`LocalAccount.remember`); what DynamoDB has of a moment in which somebody does,
only the first account shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from chalicelib.tables.items.holdings import Holding
from infra.checks.reading import of_kind
from infra.operate import builds, leftovers
from infra.operate.registry import Registry
from infra.operate.restores import restoring
from infra.template.tables import our_tables
from tests.cloud.given.commands import steps_in
from tests.cloud.given.people import change, read, store
from tests.cloud.given.remote import Remote, answers, sign_in
from tests.cloud.given.stacks import standing
from tests.cloud.given.tenants import CloudTenant
from tests.support.wire.served import Visitor, administrator

pytestmark = pytest.mark.cloud

ME = "/users/me.json"
STEPS = (
    "write down what is begun",
    "restore each table to {moment:%Y-%m-%d %H:%M:%S} UTC",
    "put back what restored tables lose: expiry, recovery, protection, tags",
    "check all rows against each other",
    "close all sessions, end all links, and drop the mails that wait",
    "keep the keys that sign tokens as they are",
    "take the new tables into the stack",
    "switch the service off",
    "lead the functions to the new tables",
    "switch the service on again",
    "see that it answers",
    "write down the new epoch",
)


@dataclass(frozen=True)
class Restored:
    """A tenant that was put back, and what was seen of it."""

    tenant: CloudTenant
    """With the stack it has now."""
    token: Remote
    visitor: Visitor
    """Who had signed in before, by token and by cookie."""
    rows: object
    """Of the tables it was led away from, as they were last."""
    shown: str
    steps: list[str]
    """Those that are expected."""
    reserved: list[object]
    """What its functions were bounded to as each change of the stack was begun."""
    passwords: dict[str, str]
    """What Ada had afterwards."""


@pytest.fixture(scope="module")
def restored(operator):
    """Put back to when Ada had one password; she has changed it since, and stored another."""
    tenant = operator.onboard("piper")
    ada, visitor = sign_in(tenant), administrator(tenant).visitor
    mail = store(ada, "mail", "first")
    moment = operator.account.remember("piper")
    change(ada, mail, "mail of the team", "second")
    store(ada, "bank", "later")
    rows = rows_of(tenant, 1)
    operator.wait(minutes=10)

    with operator.watching("ExecuteChangeSet", lambda: operator.reserved("piper")) as reserved:
        shown = restore(operator, "piper", moment)

    return Restored(
        now(tenant),
        *(ada.client, visitor, rows, shown),
        [each.format(moment=moment) for each in STEPS],
        reserved,
        read(sign_in(tenant)),
    )


def restore(operator, name, moment):
    return operator.give("restore", name, "--to", moment.isoformat())


def now(tenant):
    stack = standing(tenant.cloud, tenant.stack.name)
    return CloudTenant(
        *(tenant.url, tenant.user_id, tenant.key, tenant.output, stack, tenant.cloud)
    )


def names(tenant, epoch):
    return {each: f"{tenant.stack.name}-{epoch}-{each}" for each in our_tables()}


def rows_of(tenant, epoch):
    tables = tenant.cloud.client("dynamodb")
    return {
        each: tables.scan(TableName=name)["Items"] for each, name in names(tenant, epoch).items()
    }


def told(tenant, name):
    """What a table has been told beyond its rows."""
    tables = tenant.cloud.client("dynamodb")
    table = tables.describe_table(TableName=name)["Table"]
    backups = tables.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    expiry = tables.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    tags = tables.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    return {
        "keys": table["KeySchema"],
        "indexes": indexes_of(table),
        "protection": table["DeletionProtectionEnabled"],
        "recovery": backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"],
        "expires by": expiry.get("AttributeName"),
        "stream": (table.get("StreamSpecification") or {}).get("StreamViewType"),
        "tags": {each["Key"]: each["Value"] for each in tags},
    }


def said(properties):
    """The same as a template says it of Piper's."""
    expiry = properties.get("TimeToLiveSpecification", {})
    return {
        "keys": properties["KeySchema"],
        "indexes": indexes_of(properties),
        "protection": properties["DeletionProtectionEnabled"],
        "recovery": "ENABLED",
        "expires by": expiry.get("AttributeName"),
        "stream": properties.get("StreamSpecification", {}).get("StreamViewType"),
        "tags": {
            each["Key"]: "piper" if each["Value"] == {"Ref": "TenantId"} else each["Value"]
            for each in properties["Tags"]
        },
    }


def indexes_of(table):
    listed = [*table.get("LocalSecondaryIndexes", ()), *table.get("GlobalSecondaryIndexes", ())]
    return {each["IndexName"]: (each["KeySchema"], each["Projection"]) for each in listed}


def epochs(operator, name):
    return {epoch for epoch, _ in leftovers.tables(operator.account, name)}


def test_it_takes_its_steps_one_after_the_other(restored):
    assert steps_in(restored.shown) == restored.steps


def test_what_was_stored_at_the_moment_is_back(restored):
    assert restored.passwords == {"mail": "first"}


def test_who_had_signed_in_is_not_any_more(restored):
    assert restored.token.get(ME).status in (401, 403)
    assert restored.visitor.get(ME).status_code in (401, 403)
    assert sign_in(restored.tenant).client.get(ME).status == 200


def test_the_functions_are_silenced_only_while_they_are_led_over(operator, restored):
    """The import of the new tables comes before. Nobody writes during the change after it."""
    assert restored.reserved == [{None}, {0}]
    assert operator.reserved("piper") == {None}
    assert answers(restored.tenant)


def test_the_functions_write_to_the_new_tables(restored):
    assert restored.tenant.stack.outputs["TablePrefix"] == "keyhaven-piper-2-"

    stored = store(sign_in(restored.tenant), "new", "third")

    assert stored in {row["id"]["S"] for row in restored.tenant.rows("resources")}


def test_the_stack_has_the_new_tables_in_the_place_of_the_old_ones(restored):
    held = restored.tenant.stack.of_kind("DynamoDB::Table").values()

    assert sorted(held) == sorted(names(restored.tenant, 2).values())


def test_the_new_tables_are_told_what_the_template_says(restored):
    stack = restored.tenant.stack
    for table, properties in of_kind(stack.template, "DynamoDB::Table"):
        assert told(restored.tenant, stack.resources[table]) == said(properties)


def test_the_old_tables_stay_as_they_were_for_seven_days(operator, restored):
    assert rows_of(restored.tenant, 1) == restored.rows
    with pytest.raises(SystemExit, match="They stay until"):
        operator.give("restore", "piper", "--let-go")
    operator.wait(days=7)

    operator.give("restore", "piper", "--let-go")

    assert epochs(operator, "piper") == {2}
    assert answers(restored.tenant)


@dataclass(frozen=True)
class Refused:
    """A tenant that was to be put back to a state that never was, and what was seen of it."""

    tenant: CloudTenant
    said: str
    passwords: dict[str, str]
    """What Ada had after that."""
    work: str
    """What the registry told of it until it was given up."""
    epochs: list[set[int]]
    """Of which there were tables before it was given up, and after."""


@pytest.fixture(scope="module")
def refused(operator):
    """To the middle of a share: the access is there, the secret is not."""
    tenant = operator.onboard("gilfoyle")
    store(sign_in(tenant), "mail", "first")
    [holding] = tenant.rows("holdings")
    tables, name = tenant.cloud.client("dynamodb"), names(tenant, 1)["holdings"]
    tables.delete_item(TableName=name, Key={each: holding[each] for each in Holding.key_names()})
    moment = operator.account.remember("gilfoyle")
    tables.put_item(TableName=name, Item=holding)
    operator.wait(minutes=10)
    with pytest.raises(SystemExit) as ended:
        restore(operator, "gilfoyle", moment)
    passwords = read(sign_in(tenant))
    before, work = epochs(operator, "gilfoyle"), work_on(operator, "gilfoyle")
    operator.give("restore", "gilfoyle", "--give-up")
    return Refused(
        tenant, str(ended.value), passwords, work, [before, epochs(operator, "gilfoyle")]
    )


@pytest.fixture(scope="module")
def begun_again(operator, refused):
    """To a moment that was; cut short after the new tables were taken into the stack."""
    moment = operator.account.remember("gilfoyle")
    operator.wait(minutes=10)
    build = builds.read(operator.folder / "build")
    entry = Registry(operator.account).fetch("gilfoyle")
    for step in restoring.steps(operator.account, build, entry, moment)[:7]:
        step.do()
    with pytest.raises(SystemExit, match="finish the restore instead"):
        operator.give("restore", "gilfoyle", "--give-up")
    return moment


def work_on(operator, name):
    return Registry(operator.account).fetch(name).work


def test_nothing_leads_to_a_state_that_never_was(refused):
    assert "Step 4 failed" in refused.said
    assert "has access and no secret" in refused.said
    assert refused.work.startswith("restore gilfoyle")
    assert refused.passwords == {"mail": "first"}


def test_what_was_given_up_leaves_nothing(refused):
    assert refused.epochs == [{1, 2}, {1}]


def test_one_that_was_cut_short_goes_on(operator, refused, begun_again):
    shown = restore(operator, "gilfoyle", begun_again)

    assert "They are in it." in shown
    assert work_on(operator, "gilfoyle") == ""
    assert now(refused.tenant).stack.outputs["TablePrefix"] == "keyhaven-gilfoyle-2-"
    assert read(sign_in(refused.tenant)) == {"mail": "first"}
