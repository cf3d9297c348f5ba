"""The floors: the least that the same storage calls cost with the libraries alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self

import botocore.session
import orjson
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from chalicelib.settings import settings
from chalicelib.storage.connection import Send, connection

Call = tuple[str, dict[str, Any]]
"""An operation and its parameters."""
Floor = Callable[[list[Call], Any], None]
"""Makes the calls again, and writes the answer as JSON."""


class Recorded:
    """The storage calls made within a `with` block."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __enter__(self) -> Self:
        connection.hooks.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        connection.hooks.remove(self)

    def __call__(self, operation: str, parameters: dict[str, Any], send: Send) -> dict[str, Any]:
        self.calls.append((operation, parameters))
        return send()


def bare_botocore() -> Floor:
    """For single objects: a botocore client as anybody opens it, and `json`."""
    client = botocore.session.get_session().create_client(
        "dynamodb", region_name=settings.region, endpoint_url=settings.dynamodb_endpoint
    )

    def floor(calls: list[Call], answer: Any) -> None:
        for operation, parameters in calls:
            client._make_api_call(operation, parameters)  # noqa: SLF001  what its methods call
        json.dumps(answer)

    return floor


def signed_http() -> Floor:
    """For lists: signed requests over plain HTTP, and the fastest JSON library."""
    url = str(settings.dynamodb_endpoint)
    credentials = botocore.session.get_session().get_credentials()
    pool = urllib3.connectionpool.connection_from_url(url)

    def floor(calls: list[Call], answer: Any) -> None:
        for operation, parameters in calls:
            body = orjson.dumps(parameters)
            headers = {
                "X-Amz-Target": f"DynamoDB_20120810.{operation}",
                "Content-Type": "application/x-amz-json-1.0",
            }
            request = AWSRequest("POST", url, headers=headers, data=body)
            SigV4Auth(credentials, "dynamodb", settings.region).add_auth(request)
            sent = pool.urlopen("POST", "/", body=body, headers=dict(request.headers))
            orjson.loads(sent.data)
        orjson.dumps(answer)

    return floor
