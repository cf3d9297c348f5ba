"""What people look at names what is really written, and a cell's own troubles are told."""

from __future__ import annotations

import json
import re

import pytest

from chalicelib.domain.operator.audit import FIELDS
from chalicelib.domain.operator.metrics import Metric
from infra.bundle.bundle import Bundle
from infra.checks.reading import named, of_kind
from infra.local_cloud.watch import Point, rings
from infra.template.cell.platform import platform
from infra.template.functions import FUNCTIONS
from infra.template.seeing import QUERIES, TENANT
from infra.template.tenant import tenant
from infra.template.tiers import TRIAL

BUNDLE = Bundle("c" * 16, "d" * 16)
PLATFORM = platform(BUNDLE)
NOW = 1_800_000_000.0
A_DAY = 24 * 3600
_OF_CLOUDWATCH = {"timestamp", "log", "message"}
_WORDS = re.compile(r"[a-z_]+")
_OF_THE_LANGUAGE = {
    *("fields", "filter", "sort", "limit", "stats", "count", "pct", "max", "by", "as", "and"),
    *("desc", "asc"),
}


def failed(**detail):
    """What AWS Backup says of a job, as far as it is looked at."""
    return {
        "source": "aws.backup",
        "detail-type": "Backup Job State Change",
        "detail": {"state": "FAILED", **detail},
    }


def matches(pattern, event):
    return all(
        name in event
        and (matches(wanted, event[name]) if isinstance(wanted, dict) else event[name] in wanted)
        for name, wanted in pattern.items()
    )


def cell_alarm(name):
    return dict(of_kind(PLATFORM, "CloudWatch::Alarm"))[name]


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_names_fields_that_are_written(name):
    bare = re.sub(r'"[^"]*"', "", QUERIES[name])
    named_as = set(re.findall(r" as (\w+)", bare))
    used = set(_WORDS.findall(bare)) - _OF_THE_LANGUAGE - named_as - _OF_CLOUDWATCH
    assert used <= FIELDS


def test_each_tenant_has_the_queries_over_all_its_logs():
    made = dict(of_kind(tenant(TRIAL, BUNDLE), "Logs::QueryDefinition"))
    assert len(made) == len(QUERIES)
    for each in made.values():
        assert named(each["LogGroupNames"]) == {which.logs for which in FUNCTIONS}


@pytest.mark.parametrize("name", ["Overview", "OneTenant"])
def test_a_dashboard_shows_what_is_counted(name):
    body = dict(of_kind(PLATFORM, "CloudWatch::Dashboard"))[name]["DashboardBody"]["Fn::Sub"]
    shown = json.loads(body)
    searched = [each["properties"]["metrics"][0][0]["expression"] for each in shown["widgets"]]
    for metric in Metric:
        assert any(f'MetricName="{metric}"' in each for each in searched)
    asks = [each["pattern"] for each in shown.get("variables", ())]
    assert asks == ([TENANT] if name == "OneTenant" else [])
    assert all(TENANT in each for each in searched) == (name == "OneTenant")
    assert "${" not in body.replace("${AWS::Region}", "")


@pytest.mark.parametrize("state", ["FAILED", "ABORTED", "EXPIRED"])
def test_a_backup_that_fails_is_told_of(state):
    rule = dict(of_kind(PLATFORM, "Events::Rule"))["FailedBackups"]
    assert rule["State"] == "ENABLED"
    assert matches(rule["EventPattern"], failed(state=state))
    assert not matches(rule["EventPattern"], failed(state="COMPLETED"))
    assert named(rule["Targets"]) == {"AlarmTopic"}


def test_events_and_alarms_may_tell_the_topic_and_use_its_key():
    [policy] = (each for _, each in of_kind(PLATFORM, "SNS::TopicPolicy"))
    told = [each["Principal"]["Service"] for each in policy["PolicyDocument"]["Statement"]]
    assert told == ["cloudwatch.amazonaws.com", "events.amazonaws.com"]
    key = dict(of_kind(PLATFORM, "KMS::Key"))["AlarmKey"]["KeyPolicy"]["Statement"]
    assert key[1]["Principal"]["Service"] == told


@pytest.mark.parametrize(("days", "is_told"), [(60, False), (30, False), (29, True), (1, True)])
def test_a_certificate_that_ends_is_told_of(days, is_told):
    alarm = cell_alarm("CertificateEnds")
    alarm = {**alarm, "Dimensions": [{"Name": "CertificateArn", "Value": "arn"}]}
    metric = ("AWS/CertificateManager", "DaysToExpiry", frozenset({("CertificateArn", "arn")}))
    heard = [Point(metric, NOW - A_DAY, days)]
    assert rings(alarm, heard, NOW) is is_told


@pytest.mark.parametrize(
    ("name", "metric", "part", "is_told"),
    [
        ("MailsBounce", "Reputation.BounceRate", 0.04, False),
        ("MailsBounce", "Reputation.BounceRate", 0.06, True),
        ("MailsAnnoy", "Reputation.ComplaintRate", 0.0005, False),
        ("MailsAnnoy", "Reputation.ComplaintRate", 0.002, True),
    ],
)
def test_mails_that_come_back_are_told_of(name, metric, part, is_told):
    heard = [Point(("AWS/SES", metric, frozenset()), NOW - 3600, part)]
    assert rings(cell_alarm(name), heard, NOW) is is_told
