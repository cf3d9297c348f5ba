"""Alarms ring for what users see: each is shown with the lines that are really written."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from chalicelib.domain.operator.metrics import NAMESPACE, Metric
from infra.bundle.bundle import Bundle
from infra.checks.reading import named, of_kind
from infra.local_cloud.watch import Point, points, rings
from infra.template.alarms import CALLS_MISSED
from infra.template.elements import NO_VALUE, logical
from infra.template.functions import FUNCTIONS
from infra.template.tenant import tenant
from infra.template.tiers import STANDARD, TIERS, TRIAL

BUNDLE = Bundle("c" * 16, "d" * 16)
TEMPLATE = tenant(STANDARD, BUNDLE)
NOW = 1_800_000_000.0
MINUTE = 60
FAILING = """
import json
from moto import mock_aws
with mock_aws():
    import app
    event = json.loads(%r)
    answers = [app.app(each, None) for each in event]
    assert {each["statusCode"] for each in answers} == {500}, answers
"""
"""A build that cannot answer: there are none of the tables it reads."""
UNSENT = """
import chalicelib.workers
from chalicelib.services.operator import mails
from chalicelib.tables.operator.outbox import Mail
mail = Mail("2f2b6b3e-0d6c-4f3b-9f5e-3f7f3a2f6c11", template="t", recipient="ada@example.com")
for result in %r:
    mails._tell(mail, result)
"""


def function(name):
    return next(each for each in FUNCTIONS if each.name == name)


def called(name):
    return f"keyhaven-acme-{name}"


def lines_of(name, script):
    """What a function writes on its standard output, as a process of its own."""
    told = {
        "AWS_LAMBDA_FUNCTION_NAME": called(name),
        "ENDPOINT_GROUP": name if function(name).is_served else "",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_REGION": "eu-west-1",
        "PATH": os.environ["PATH"],
    }
    run = subprocess.run(
        [sys.executable, "-c", script], env=told, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def request(path):
    where = {"httpMethod": "GET", "resourcePath": path, "identity": {"sourceIp": "192.0.2.1"}}
    token = {"Authorization": "Bearer a.b.c"}
    return {
        "path": path,
        "headers": token,
        "multiValueHeaders": {name: [value] for name, value in token.items()},
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "body": None,
        "isBase64Encoded": False,
        "requestContext": where,
    }


def alarm(name, template=TEMPLATE):
    """The properties of an alarm, with what it refers to as the account calls it."""
    return resolved(dict(of_kind(template, "CloudWatch::Alarm"))[name])


def resolved(value):
    if isinstance(value, list):
        return [resolved(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "Ref" in value:
        known = {each.id: called(each.name) for each in FUNCTIONS}
        return known.get(value["Ref"], value["Ref"])
    if "Fn::Sub" in value:
        return str(value["Fn::Sub"])
    return {name: resolved(each) for name, each in value.items() if each != NO_VALUE}


def calls(name, metric, moments, value=1):
    """What AWS counts of a function's alias."""
    which = function(name)
    alias = frozenset({("FunctionName", called(name)), ("Resource", f"${{{which.id}}}:live")})
    return [Point(("AWS/Lambda", metric, alias), at, value) for at in moments]


def minutes(*each):
    return [NOW - n * MINUTE for n in each]


@pytest.fixture(scope="module")
def failing():
    """The lines of a function of which each answer is 500."""
    return lines_of("settings", FAILING % json.dumps([request("/settings.json")]))


def test_an_answer_of_500_rings_in_the_next_minute(failing):
    heard = list(points(failing))
    now = heard[0].at + MINUTE

    assert rings(alarm("SettingsAccidents"), heard, now)
    assert not rings(alarm("UsersAccidents"), heard, now)
    assert not rings(alarm("SettingsErrors"), heard, now)


def test_what_rings_of_accidents_leads_a_release_back():
    for which in FUNCTIONS:
        if which.is_served:
            release = TEMPLATE["Resources"][f"{which.id}Release"]["Properties"]
            assert which.accidents in named(release["AlarmConfiguration"]["Alarms"])


@pytest.mark.parametrize("tier", TIERS)
def test_every_function_of_every_tier_is_listened_to(tier):
    made = dict(of_kind(tenant(TIERS[tier], BUNDLE), "CloudWatch::Alarm"))
    assert {each.accidents for each in FUNCTIONS} <= made.keys()


def test_lines_are_no_texts_in_lines_of_another(failing):
    """Else neither a query nor a metric could name what they hold."""
    events = [json.loads(line)["event"] for line in failing]
    assert events == ["accident", "request"]


def test_what_is_counted_names_a_function_and_nobody(failing):
    [counted] = (json.loads(line) for line in failing if "_aws" in line)
    [declared] = counted["_aws"]["CloudWatchMetrics"]
    assert declared["Namespace"] == NAMESPACE
    assert declared["Dimensions"] == [["FunctionName"]]
    assert {each["Name"] for each in declared["Metrics"]} == {str(Metric.ACCIDENTS)}


def test_a_sweeper_that_always_fails_rings():
    every_five = range(1, 61, 5)
    heard = calls("sweeper", "Errors", minutes(*every_five))
    assert rings(alarm("SweeperErrors"), heard, NOW)


def test_a_sweeper_that_fails_once_does_not():
    assert not rings(alarm("SweeperErrors"), calls("sweeper", "Errors", minutes(3)), NOW)


@pytest.mark.parametrize("template", [TEMPLATE, tenant(TRIAL, BUNDLE)])
def test_what_is_never_called_by_its_schedule_rings(template):
    scheduled = [each for each in FUNCTIONS if each.group.is_scheduled]
    assert scheduled
    for which in scheduled:
        on_time = [NOW - number * which.every for number in range(2 * CALLS_MISSED)]
        heard = calls(which.name, "Invocations", on_time)
        assert rings(alarm(which.silent, template), [], NOW)
        assert not rings(alarm(which.silent, template), heard, NOW)


@pytest.mark.parametrize("each", [each for each in FUNCTIONS if each.group.is_scheduled])
def test_a_schedule_that_calls_no_more_rings_after_three_calls_that_do_not_come(each):
    """CloudWatch would go by calls of before as long as it looks back, which is longer."""
    missed = CALLS_MISSED * each.every
    heard = calls(each.name, "Invocations", [NOW - missed - n * each.every - 1 for n in range(9)])

    assert rings(alarm(each.silent), heard, NOW)


def test_a_schedule_that_comes_a_minute_late_once_does_not_ring():
    heard = calls("sweeper", "Invocations", minutes(6, 11, 16, 21, 26, 31))
    assert not rings(alarm("SweeperSilent"), heard, NOW)


def test_every_schedule_has_an_alarm_that_hears_when_it_is_silent():
    schedules = {name.removesuffix("Schedule") for name, _ in of_kind(TEMPLATE, "Events::Rule")}
    heard = {
        named(each["Metrics"][0]["MetricStat"]["Metric"]["Dimensions"]).pop()
        for _, each in of_kind(TEMPLATE, "CloudWatch::Alarm")
        if each["TreatMissingData"] == "breaching"
    }
    assert schedules == heard


def throttles(metric, moments, **index):
    table = {"TableName": "ResourcesTable1", **index}
    return [Point(("AWS/DynamoDB", metric, frozenset(table.items())), at, 7) for at in moments]


BY_TYPE = {"GlobalSecondaryIndexName": "by-type"}


@pytest.mark.parametrize("metric", ["ReadThrottleEvents", "WriteThrottleEvents"])
@pytest.mark.parametrize("index", [{}, BY_TYPE], ids=["table", "index"])
def test_a_table_that_is_overloaded_rings_though_nothing_is_told_yet_of_the_newest_minute(
    metric, index
):
    """An index has throughput of its own, of which what is told of its table says nothing."""
    heard = throttles(metric, minutes(2, 3), **index)

    assert rings(alarm("ResourcesThrottles"), heard, NOW)
    assert not rings(alarm("ResourcesThrottles"), heard, NOW + 5 * MINUTE)
    assert not rings(alarm("ResourcesThrottles"), throttles(metric, minutes(2), **index), NOW)


def test_every_index_of_a_table_is_listened_to():
    for _, table in of_kind(TEMPLATE, "DynamoDB::Table"):
        noun = table["TableName"]["Fn::Sub"].rpartition("-")[2]
        said = json.dumps(alarm(logical(noun, "throttles")))
        for index in table.get("GlobalSecondaryIndexes", ()):
            assert said.count(json.dumps(index["IndexName"])) == 2


def test_mails_that_are_all_refused_ring_within_the_hour():
    heard = list(points(lines_of("mailer", UNSENT % ["refused", "refused"])))
    now = heard[0].at + 3600
    assert rings(alarm("MailerRefused"), heard, now)


def test_a_mail_that_is_refused_beside_others_does_not_ring():
    heard = list(points(lines_of("mailer", UNSENT % ["refused", "sent", "delayed"])))
    now = heard[0].at + 3600
    assert not rings(alarm("MailerRefused"), heard, now)


@pytest.mark.parametrize(("answers", "ms", "is_told"), [(100, 11_000, True), (99, 11_000, False)])
def test_answers_that_are_slow_ring_once_there_are_many(answers, ms, is_told):
    each_minute = [NOW - minute * MINUTE - 1 for minute in range(3) for _ in range(answers)]
    heard = calls("users", "Duration", each_minute, ms)
    assert rings(alarm("UsersSlow"), heard, NOW) is is_told


def test_on_one_machine_nothing_is_counted():
    script = "from chalicelib.domain.operator import audit; audit.untraced_accident('x')"
    run = subprocess.run(
        [sys.executable, "-c", f"import logging; logging.basicConfig(level=20); {script}"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert "_aws" not in run.stdout + run.stderr
    assert "accident" in run.stderr
