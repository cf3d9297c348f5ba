"""What runs without a request, with rights of its own."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from chalicelib.objects.exports import EXPORTS, key_of
from infra.template.functions import ALIAS, FUNCTIONS
from tests.cloud.given.tenants import FOUNDER, call

pytestmark = pytest.mark.cloud

SCHEDULED = [each.name for each in FUNCTIONS if each.group.is_scheduled]


@pytest.mark.parametrize("name", SCHEDULED)
def test_a_schedule_leads_to_it(name, acme):
    rules = acme.cloud.client("events")
    targets = [
        target["Arn"]
        for rule in acme.stack.of_kind("Events::Rule").values()
        for target in rules.list_targets_by_rule(Rule=rule)["Targets"]
    ]

    assert any(target.endswith(f":{acme.stack.name}-{name}:{ALIAS}") for target in targets)


@pytest.mark.parametrize("name", SCHEDULED)
def test_it_does_its_work_with_the_rights_it_has(name, acme):
    assert call(acme.cloud, acme.stack, name, {}) is None


def test_a_closed_day_is_left_for_auditors(acme):
    """Of an event of three days ago, that day and those after it, as whole objects."""
    day = datetime.now(UTC).date() - timedelta(days=3)
    moment = f"{day}T12:00:00+00:00"
    row = {
        "subject": str(uuid4()),
        "time_id": f"{moment}#{uuid4()}#Resources.created",
        "action": "Resources.created",
        "created": moment,
    }
    acme.cloud.client("dynamodb").put_item(
        TableName=f"{acme.stack.outputs['TablePrefix']}action_logs",
        Item={name: {"S": value} for name, value in row.items()},
    )
    for _ in range(2):
        assert call(acme.cloud, acme.stack, "exporter", {}) is None

    s3, bucket = acme.cloud.client("s3"), acme.stack.outputs["ObjectsBucket"]
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=f"{EXPORTS}/")["Contents"]
    found = [each["Key"] for each in listed if each["Key"].endswith(".gz")]
    days = [key_of(day + timedelta(days=n)) for n in range(len(found))]
    assert found == days
    assert len(days) in (2, 3)  # within the first hours of a day, the one before is not closed
    content = s3.get_object(Bucket=bucket, Key=key_of(day))["Body"].read()
    [event] = map(json.loads, gzip.decompress(content).splitlines())
    assert (event["time"], event["object_id"]) == (moment, row["subject"])


def test_the_founder_founds_once(acme):
    people = acme.rows("users")
    keys = call(acme.cloud, acme.stack, FOUNDER, {})

    assert call(acme.cloud, acme.stack, FOUNDER, {}) == keys
    assert acme.rows("users") == people
