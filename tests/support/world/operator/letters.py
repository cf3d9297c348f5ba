"""SES as the tests have it: what was sent, and how it fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import boto3
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from moto import mock_aws

from chalicelib.post.ses import Ses
from chalicelib.settings import settings
from tests.support.leaks import watch

SENDER = "keyhaven@example.com"
_BEFORE = "before-call.sesv2.SendEmail"


@dataclass(frozen=True)
class Letters:
    ses: Ses

    def sent(self) -> list[Any]:
        """The mails SES has taken, in order."""
        return list(_backend().sent_messages)

    def addresses(self) -> list[str]:
        return [address for each in self.sent() for address in each.destinations["ToAddresses"]]


@contextmanager
def ses_of_tests() -> Iterator[Letters]:
    """An account in which the sender is verified and no mail has been sent."""
    with mock_aws():
        _backend().sent_messages.clear()
        identities = boto3.client("sesv2", settings.region)
        identities.create_email_identity(EmailIdentity=SENDER)
        ses = Ses(SENDER)
        ses._client.meta.events.register_first(_BEFORE, _hear)
        yield Letters(ses)
        identities.delete_email_identity(EmailIdentity=SENDER)


def _hear(params: Any, **_: Any) -> None:
    sent = json.loads(params["body"])
    watch.posted(sent["Destination"]["ToAddresses"], json.dumps(sent["Content"]))


def _backend() -> Any:
    from moto.ses.models import ses_backends  # noqa: PLC0415 - loads much

    return ses_backends["123456789012"][settings.region]


@contextmanager
def refusing(ses: Ses, code: str, *, only: str = "") -> Iterator[None]:
    """SES answers with this code, in a sentence that tells the address, as it does.

    Of mails that hold `only` alone.
    """

    def refuse(params: Any, **_: Any) -> Any:
        if only.encode() not in params["body"]:
            return None
        message = "Email address is not verified: ada@example.com"
        error = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {}}
        return SimpleNamespace(status_code=400), error

    with _at_each_call(ses, refuse):
        yield


@contextmanager
def unreachable(ses: Ses) -> Iterator[None]:
    def fail(**_: Any) -> None:
        raise ConnectTimeoutError(endpoint_url="https://ses.invalid")

    with _at_each_call(ses, fail):
        yield


@contextmanager
def answer_lost(ses: Ses) -> Iterator[None]:
    def fail(**_: Any) -> None:
        raise ReadTimeoutError(endpoint_url="https://ses.invalid")

    with _at_each_call(ses, fail):
        yield


@contextmanager
def _at_each_call(ses: Ses, answer: Any) -> Iterator[None]:
    events = ses._client.meta.events
    events.register_first(_BEFORE, answer)
    try:
        yield
    finally:
        events.unregister(_BEFORE, answer)
