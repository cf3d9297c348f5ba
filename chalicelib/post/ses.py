"""Amazon SES, by which mails leave. Its client is opened with the first: no request opens one."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
)

from chalicelib.domain.addresses import canonical_domain
from chalicelib.domain.deadline import Patience
from chalicelib.settings import settings

_OF_THE_MAIL = frozenset({"MessageRejected", "BadRequestException"})
"""What SES says of this one mail, and would say again."""
_BEFORE_IT_LEFT = (ConnectTimeoutError, EndpointConnectionError, NoCredentialsError)
PATIENCE = Patience(tries=3, connect=1, answer=5)
_UTF_8 = "UTF-8"


class NotSent(Exception):  # noqa: N818  it says what is so
    """SES has not taken a mail. `reason` is a word of its own for why; it names nobody."""

    def __init__(self, reason: str, *, may_pass_later: bool, may_have_left: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_pass_later = may_pass_later
        self.may_have_left = may_have_left
        """Whether SES may have taken it all the same, and only its answer was lost."""


class Ses:
    def __init__(self, sender: str) -> None:
        self._sender = sender

    def send(self, address: str, subject: str, text: str) -> None:
        """Hand a mail over, or raise `NotSent`.

        What SES says in sentences holds addresses, so it goes no further.
        """
        if not self._sender:
            raise NotSent("NoSender", may_pass_later=True)
        try:
            self._client.send_email(**_message(self._sender, address, subject, text))
        except ClientError as error:
            code = str(error.response["Error"]["Code"])
            raise NotSent(code, may_pass_later=code not in _OF_THE_MAIL) from None
        except BotoCoreError as error:
            is_answer_lost = not isinstance(error, _BEFORE_IT_LEFT)
            name = type(error).__name__
            raise NotSent(name, may_pass_later=True, may_have_left=is_answer_lost) from None

    @cached_property
    def _client(self) -> Any:
        return botocore.session.get_session().create_client(
            "sesv2", region_name=settings.region, config=Config(**PATIENCE.as_config())
        )


def _message(sender: str, address: str, subject: str, text: str) -> dict[str, Any]:
    return {
        "FromEmailAddress": sender,
        "Destination": {"ToAddresses": [_sendable(address)]},
        "Content": {
            "Simple": {
                "Subject": {"Data": subject, "Charset": _UTF_8},
                "Body": {"Text": {"Data": text, "Charset": _UTF_8}},
            }
        },
    }


def _sendable(address: str) -> str:
    """The address with its domain as the name system has it.

    Not by Python's codec for that, which is of 2003: it makes `strasse.de` of `straße.de`,
    and these have different owners.
    """
    local, _, domain = address.rpartition("@")
    labels = canonical_domain(domain).split(".")
    return f"{local}@{'.'.join(map(_label, labels))}"


def _label(text: str) -> str:
    return text if text.isascii() else f"xn--{text.encode('punycode').decode()}"
