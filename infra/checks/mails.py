"""Mails: each that is written calls who sends it, and all of a tenant's have one sender."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chalicelib.endpoint_groups import WORKERS
from infra.checks.reading import as_list, named, of_kind, texts
from infra.checks.rights import functions, tables
from infra.template.elements import Json, logical
from infra.template.streams import READING, TRIES

A_DAY = 24 * 3600
_ITS_SET = {
    "Fn::Sub": "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}"
    ":configuration-set/${SenderSet}"
}
_SIGNED = ({"SigningEnabled": True}, {"NextSigningKeyLength": "RSA_2048_BIT"})
_FOLLOWERS = {worker.follows: worker for worker in WORKERS if worker.follows}
_SENDS = "ses:"
_READS = {f"dynamodb:{action}" for action in READING}


def streams_are_of_what_is_followed(template: Json) -> Iterator[str]:
    """Of keys alone: what a row holds, such as a link, is in the row and nowhere else."""
    known = tables(template)
    for name, table in of_kind(template, "DynamoDB::Table"):
        view = table.get("StreamSpecification", {}).get("StreamViewType")
        wanted = "KEYS_ONLY" if known.get(name, "") in _FOLLOWERS else None
        if view != wanted:
            yield f"{name} has a stream of {view}, and should have one of {wanted}."
    for group, statements in functions(template):
        for statement in statements:
            if _READS & set(as_list(statement["Action"])) and not _are_streams(statement):
                yield f"{group.name} may read streams that are none of a table's."


def new_rows_call_who_follows(template: Json) -> Iterator[str]:
    known = tables(template)
    called = dict(of_kind(template, "Lambda::EventSourceMapping"))
    for name, each in called.items():
        [source] = (known.get(source, source) for source in named(each["EventSourceArn"]))
        follower = _FOLLOWERS.get(source)
        if follower is None or named(each["FunctionName"]) != {logical(follower.name, "alias")}:
            yield f"{name} calls who does not follow {source}."
        yield from (f"{name} {fault}." for fault in _faults(each))
    if len(called) != len(_FOLLOWERS):
        yield f"{len(called)} workers are called with new rows; {len(_FOLLOWERS)} follow a table."


def mails_have_one_sender(template: Json) -> Iterator[str]:
    for group, statements in functions(template):
        sending = [each for each in statements if _SENDS in str(each["Action"])]
        if bool(sending) != group.sends_mails:
            yield f"{group.name} may {'' if sending else 'not '}send mails."
        for each in sending:
            sender = each.get("Condition", {}).get("StringEquals", {}).get("ses:FromAddress")
            by = as_list(each["Resource"])
            if sender != {"Ref": "MailSender"} or not all(_is_of_the_sender(what) for what in by):
                yield f"{group.name} may send mails in any name."


def _is_of_the_sender(what: Any) -> bool:
    """By the tenant's own identity or set, and without one by what its sender is verified as."""
    if not isinstance(what, dict) or what.get("Fn::If", [""])[0] != "HasMailIdentity":
        return False
    [_, own, other] = what["Fn::If"]
    is_own = "MailIdentity" in named(own) or own == _ITS_SET
    is_whole = not any("*" in each for each in texts(what))
    return is_own and is_whole and "MailSender" in named(other)


def identities_are_the_tenants_own(template: Json) -> Iterator[str]:
    """Signed by a long key; what comes back is counted for the tenant, and sent to nobody."""
    counted = {
        one
        for _, each in of_kind(template, "SES::ConfigurationSetEventDestination")
        if _counts_what_comes_back(each["EventDestination"])
        for one in named(each["ConfigurationSetName"])
    }
    for name, each in of_kind(template, "SES::EmailIdentity"):
        if each.get("EmailIdentity") != {"Ref": "MailIdentity"}:
            yield f"{name} is another domain than MailIdentity."
        if each.get("FeedbackAttributes") != {"EmailForwardingEnabled": False}:
            yield f"{name}: mails that come back are sent on, with their links."
        if (each.get("DkimAttributes"), each.get("DkimSigningAttributes")) != _SIGNED:
            yield f"{name}: mails are not signed, or by a key that is too short."
        if not named(each.get("ConfigurationSetAttributes")) & counted:
            yield f"{name}: nobody counts the mails that come back."


def _counts_what_comes_back(destination: Json) -> bool:
    counts = destination.get("CloudWatchDestination", {}).get("DimensionConfigurations", [])
    types = set(destination.get("MatchingEventTypes", []))
    is_counted = any(each.get("DimensionName") == "ses:configuration-set" for each in counts)
    return destination.get("Enabled") is True and types == {"bounce", "complaint"} and is_counted


def _are_streams(statement: Json) -> bool:
    return all(
        isinstance(each, dict) and each.get("Fn::GetAtt", ["", ""])[1] == "StreamArn"
        for each in as_list(statement["Resource"])
    )


def _faults(mapping: Json) -> Iterator[str]:
    """One row that cannot be dealt with holds back others for a time, and is not forgotten."""
    patterns = [each["Pattern"] for each in mapping.get("FilterCriteria", {}).get("Filters", [])]
    if [json.loads(each) for each in patterns] != [{"eventName": ["INSERT"]}]:
        yield "calls with more than new rows"
    if mapping.get("FunctionResponseTypes") != ["ReportBatchItemFailures"]:
        yield "takes what is to be tried again for done"
    if mapping.get("BisectBatchOnFunctionError") is not True:
        yield "lets one row hold back a batch"
    tries, age = (mapping.get(f"Maximum{of}", -1) for of in ("RetryAttempts", "RecordAgeInSeconds"))
    if tries < 0 or not 0 < age <= A_DAY:
        yield "tries without end"
    if 0 <= tries < TRIES:
        yield "gives up before the day is over"
    if "DeadLetters" not in _destination(mapping):
        yield "forgets what failed"


def _destination(mapping: Json) -> set[str]:
    where: Any = mapping.get("DestinationConfig", {}).get("OnFailure")
    return named(where)
