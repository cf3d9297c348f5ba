"""Calls of the services a stack uses, as somebody with a role of it: are they refused?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection
from typing import Any

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Signing
from botocore.exceptions import ClientError
from botocore.model import ServiceModel

from infra.local_cloud.process import ACCOUNT, HOST, REGION, Credentials, LocalCloud

_REFUSED = ("AccessDenied", "AccessDeniedException", "AuthorizationError", "403")


@dataclass(frozen=True)
class Caller:
    """Somebody who calls services as they are called underneath: with a name and JSON."""

    who: Credentials
    connection: HTTPConnection
    cloud: LocalCloud

    def is_refused(self, service: str, operation: str, sent: Any) -> bool:
        """Whether policies refuse a call. What is wrong with it otherwise does not count."""
        metadata = model(service).metadata
        request = AWSRequest(
            "POST",
            f"{self.cloud.address}/",
            headers={
                "X-Amz-Target": f"{metadata['targetPrefix']}.{operation}",
                "Content-Type": f"application/x-amz-json-{metadata['jsonVersion']}",
            },
            data=json.dumps(sent),
        )
        signing = Signing(self.who.access_key, self.who.secret_key, self.who.token)
        SigV4Auth(signing, metadata["endpointPrefix"], REGION).add_auth(request)
        ready = request.prepare()
        self.connection.request("POST", "/", body=ready.body, headers=dict(ready.headers))
        return b"AccessDenied" in self.connection.getresponse().read()

    def client(self, service: str) -> Any:
        return self.cloud.client(service, self.who)


def is_refused(call: Callable[..., Any], **sent: Any) -> bool:
    """The same of a call by a client."""
    try:
        call(**sent)
    except ClientError as error:
        return error.response["Error"]["Code"] in _REFUSED
    return False


@cache
def model(service: str) -> ServiceModel:
    return botocore.session.Session().get_service_model(service)


def everything(service: str, **names: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """All a service offers, each with those of the names that it asks for."""
    for operation in model(service).operation_names:
        shape = model(service).operation_model(operation).input_shape
        asked = shape.members if shape else {}
        yield operation, {name: value for name, value in names.items() if name in asked}


@contextmanager
def caller_with(role: str, cloud: LocalCloud) -> Iterator[Caller]:
    """Take a role. Only services may, so the account's owner is let in for as long."""
    iam = cloud.client("iam")
    found = iam.get_role(RoleName=role)["Role"]
    trusted = found["AssumeRolePolicyDocument"]
    owner = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    let_in = {"Effect": "Allow", "Principal": owner, "Action": "sts:AssumeRole"}
    _trust(iam, role, {**trusted, "Statement": [*trusted["Statement"], let_in]})
    taken = cloud.client("sts").assume_role(RoleArn=found["Arn"], RoleSessionName="test")
    session = taken["Credentials"]
    who = Credentials(session["AccessKeyId"], session["SecretAccessKey"], session["SessionToken"])
    connection = HTTPConnection(HOST, cloud.port, timeout=60)
    try:
        yield Caller(who, connection, cloud)
    finally:
        connection.close()
        _trust(iam, role, trusted)


def _trust(iam: Any, role: str, document: Any) -> None:
    iam.update_assume_role_policy(RoleName=role, PolicyDocument=json.dumps(document))
