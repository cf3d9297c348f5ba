"""Mails by Amazon SES: which of its refusals are for good, and how long it may take.

Its client is opened with the first: no request opens one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
)

from chalicelib import aws
from chalicelib.domain.addresses import sendable
from chalicelib.domain.deadline import Patience
from chalicelib.post.sending import NotSent

_OF_THE_MAIL = frozenset({"MessageRejected", "BadRequestException"})
"""What SES says of this one mail, and would say again."""
_BEFORE_IT_LEFT = (ConnectTimeoutError, EndpointConnectionError, NoCredentialsError)
PATIENCE = Patience(tries=3, connect=1, answer=5)
_UTF_8 = "UTF-8"


class Ses:
    def __init__(self, sender: str) -> None:
        self._sender = sender

    def send(self, address: str, subject: str, text: str, html: str) -> None:
        """Hand a mail over, or raise `NotSent`.

        What SES says in sentences holds addresses, so it goes no further.
        """
        if not self._sender:
            raise NotSent("NoSender", may_pass_later=True)
        try:
            self._client.send_email(**_message(self._sender, address, subject, text, html))
        except ClientError as error:
            code = str(error.response["Error"]["Code"])
            raise NotSent(code, may_pass_later=code not in _OF_THE_MAIL) from None
        except BotoCoreError as error:
            is_answer_lost = not isinstance(error, _BEFORE_IT_LEFT)
            name = type(error).__name__
            raise NotSent(name, may_pass_later=True, may_have_left=is_answer_lost) from None

    @cached_property
    def _client(self) -> Any:
        return aws.client("sesv2", PATIENCE)


def _message(sender: str, address: str, subject: str, text: str, html: str) -> dict[str, Any]:
    return {
        "FromEmailAddress": sender,
        "Destination": {"ToAddresses": [sendable(address)]},
        "Content": {
            "Simple": {
                "Subject": {"Data": subject, "Charset": _UTF_8},
                "Body": {
                    "Text": {"Data": text, "Charset": _UTF_8},
                    "Html": {"Data": html, "Charset": _UTF_8},
                },
            }
        },
    }
