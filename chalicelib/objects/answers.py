"""Answers too large for a function: objects, each of which one address leads to, for a minute.

The address is signed with the function's own rights, names one object of a name nobody can
guess, and lets whoever has it read that object: it is told in the answer and nowhere else.
Nobody removes the objects; the bucket does, a day later.
"""

from __future__ import annotations

import gzip
import secrets
from functools import cache
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import aws
from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings

ANSWERS = "answers"
"""The folder of the bucket they lie in."""
SECONDS = 60
"""How long an address is good: a client follows it at once."""
PATIENCE = deadline.Patience(tries=2, connect=0.8, answer=5)
_RANDOM_BYTES = 32
_QUICKLY = 1
"""Most of an answer are messages, which no level makes much smaller."""


def leave(text: str, content_type: str) -> str:
    """Write an answer as a whole, and return the address it has for a minute.

    It is sent compressed whatever the client accepts, for S3 does not look: all libraries of
    deployed clients ask for gzip and read it. Raises `Unavailable`.
    """
    deadline.require(PATIENCE.longest)
    named = {"Bucket": settings.answer_bucket, "Key": f"{ANSWERS}/{_name()}"}
    try:
        _client().put_object(
            **named,
            Body=gzip.compress(text.encode(), _QUICKLY),
            ContentType=content_type,
            ContentEncoding="gzip",
            CacheControl="private, no-store",
        )
        address = _client().generate_presigned_url("get_object", Params=named, ExpiresIn=SECONDS)
    except (BotoCoreError, ClientError) as error:
        raise Unavailable from error
    return str(address)


def _name() -> str:
    return secrets.token_urlsafe(_RANDOM_BYTES)


@cache
def _client() -> Any:
    """Opened with the first large answer.

    Addresses name the region, so that S3 leads nobody elsewhere, and are of version 4, without
    which S3 gives nothing away that lies under a key of ours. gzip carries a sum of its own.
    """
    return aws.client(
        "s3",
        PATIENCE,
        signature_version="s3v4",
        s3={"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"},
        request_checksum_calculation="when_required",
    )
