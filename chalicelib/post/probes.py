"""How the prober asks: the tenant's address as a stranger does, and a version of a function."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from chalicelib import aws
from chalicelib.domain.deadline import Patience
from chalicelib.domain.ids import new_id
from chalicelib.settings import Probe, settings

NO_ANSWER = 0
"""In place of a status, of what does not answer at all."""
SECONDS = 20
PATIENCE = Patience(tries=1, connect=2, answer=30)
_SESSION = "passbolt_session"


def ask_address(path: str, address: str = settings.base_url) -> int:
    """The status with which the tenant's own address answers."""
    where = urlsplit(address)
    kind = HTTPSConnection if where.scheme == "https" else HTTPConnection
    connection = kind(where.netloc, timeout=SECONDS)
    try:
        connection.request("GET", where.path + path, headers={"Accept": "application/json"})
        return connection.getresponse().status
    except (OSError, HTTPException):
        return NO_ANSWER
    finally:
        connection.close()


def ask_inside(path: str, watched: Iterable[Probe] = settings.watched) -> int:
    """The same where only the tenant's networks reach its address: asked past the gateway."""
    [probe] = (each for each in watched if each.path == path)
    return ask_version(probe)


def ask_version(probe: Probe) -> int:
    """The status with which a version of a function answers a request.

    It comes with a session that nobody has, so that the function reads what it would of anybody's.
    """
    asked = json.dumps(request(probe.method, probe.path))
    answer = _client("lambda").invoke(FunctionName=probe.version, Payload=asked)
    if "FunctionError" in answer:
        return NO_ANSWER
    return int(json.load(answer["Payload"])["statusCode"])


def tell_release(event: dict[str, str], *, is_well: bool) -> None:
    """Let CodeDeploy go on with a release, or lead it back."""
    _client("codedeploy").put_lifecycle_event_hook_execution_status(
        deploymentId=event["DeploymentId"],
        lifecycleEventHookExecutionId=event["LifecycleEventHookExecutionId"],
        status="Succeeded" if is_well else "Failed",
    )


def request(method: str, path: str) -> dict[str, Any]:
    """A request as the gateway hands it over, with a session that nobody has."""
    headers = {"Accept": "application/json", "Cookie": f"{_SESSION}={new_id()}"}
    return {
        "path": path,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "body": None,
        "isBase64Encoded": False,
        "requestContext": {
            "httpMethod": method,
            "resourcePath": path,
            "identity": {"sourceIp": "127.0.0.1"},
        },
    }


@cache
def _client(service: str) -> Any:
    return aws.client(service, PATIENCE)
