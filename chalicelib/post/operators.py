"""STS, which says who signed a request: so people who run the service show who they are."""

from __future__ import annotations

import json
import os
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from chalicelib.domain import deadline
from chalicelib.domain.errors import Forbidden, Unavailable
from chalicelib.domain.operator.operators import ASK_WHO, PURPOSE, Operator, Proof
from chalicelib.settings import settings

SECONDS = 5
_OK = 200
_MOST = 65_536
_NOT_SHOWN = Forbidden("AWS does not confirm who you are: sign in anew, and look at your clock.")


def endpoint(region: str) -> str:
    """Where STS of a region is: as boto3 finds it, unless its environment names another."""
    named = os.environ.get("AWS_ENDPOINT_URL_STS") or os.environ.get("AWS_ENDPOINT_URL")
    return (named or f"https://sts.{region}.amazonaws.com").rstrip("/")


def headers(host: str, purpose: str) -> dict[str, str]:
    """What is signed besides the date: the same by whoever signs it and by whoever sends it on."""
    return {
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
        "Host": host,
        PURPOSE: purpose,
    }


def find(proof: Proof, purpose: str) -> Operator:
    """Who signed this for this purpose; raises `Forbidden` where AWS does not say so."""
    if not proof.signs_its_purpose:
        raise _NOT_SHOWN
    where = urlsplit(endpoint(settings.region))
    sent = {**headers(where.netloc, purpose), "Authorization": proof.authorization}
    sent["X-Amz-Date"] = proof.date
    if proof.session is not None:
        sent["X-Amz-Security-Token"] = proof.session
    status, answer = _asked(where.scheme, where.netloc, sent)
    if status != _OK:
        raise _NOT_SHOWN
    return Operator(_arn(answer))


def _asked(scheme: str, host: str, sent: dict[str, str]) -> tuple[int, bytes]:
    deadline.require(SECONDS)
    kind = HTTPSConnection if scheme == "https" else HTTPConnection
    connection = kind(host, timeout=SECONDS)
    try:
        connection.request("POST", "/", ASK_WHO, sent)
        response = connection.getresponse()
        return response.status, response.read(_MOST)
    except (OSError, HTTPException, ValueError) as error:
        raise Unavailable("AWS cannot be asked who you are now; try again.") from error
    finally:
        connection.close()


def _arn(answer: bytes) -> str:
    told: Any = json.loads(answer)
    return str(told["GetCallerIdentityResponse"]["GetCallerIdentityResult"]["Arn"])
