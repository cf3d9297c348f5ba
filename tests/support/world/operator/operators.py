"""People who run the service, and an STS that knows them: it checks what they have signed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

ACCOUNT = "123456789012"
REGION = "eu-west-1"
CONTEXT = SimpleNamespace(
    invoked_function_arn=f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:keyhaven-acme-founder:live"
)


@dataclass(frozen=True)
class Person:
    """By their access key; the secret is theirs and the STS's."""

    key: str
    arn: str
    session: str | None = None

    @property
    def secret(self) -> str:
        return f"secret of {self.key}"

    @property
    def environment(self) -> dict[str, str]:
        """What boto3 reads."""
        session = {"AWS_SESSION_TOKEN": self.session} if self.session else {}
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, **session}


def of_role(name: str, role: str = f"keyhaven-deployer-{REGION}", key: str = "") -> Person:
    arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/{name}"
    return Person(key or f"AK{role}{name}", arn, session="a session")


MAX, NORA = of_role("max"), of_role("nora")
MAX_AGAIN = of_role("max", role="AWSReservedSSO_Operators_0123456789abcdef")
TINA = Person("AKTINA", f"arn:aws:iam::{ACCOUNT}:user/operations/tina")
STRANGER = Person("AKSTRANGER", "arn:aws:iam::999999999999:user/sam")
NOBODY = {
    "a function": of_role("keyhaven-acme-users", role="keyhaven-acme-UsersRole-X1"),
    "a function of a tenant called deployer": of_role(
        "max", role=f"keyhaven-deployer-{REGION}-UsersRole-X1"
    ),
    "CI": of_role("max", role=f"keyhaven-ci-{REGION}"),
    "deployers of another cell": of_role("max", role="keyhaven-deployer-eu-north-1"),
    "another role": of_role("max", role="Operators"),
    "a federated user": Person("AKFEDERATED", f"arn:aws:sts::{ACCOUNT}:federated-user/max"),
    "the root of the account": Person("AKROOT", f"arn:aws:iam::{ACCOUNT}:root"),
}
"""Whoever signs in the account and is no person by that."""
EVERYBODY = (MAX, NORA, MAX_AGAIN, TINA, STRANGER, *NOBODY.values())


@contextmanager
def an_sts(monkeypatch: Any) -> Iterator[str]:
    """Serve it on this machine, where boto3 and the service look for it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
    try:
        yield address
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        person = _signer(dict(self.headers.items()), body)
        told = b"{}" if person is None else json.dumps(_identity(person)).encode()
        self.send_response(200 if person else 403)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_: Any) -> None:
        pass


def _identity(person: Person) -> dict[str, Any]:
    result = {"Account": person.arn.split(":")[4], "Arn": person.arn, "UserId": person.key}
    return {"GetCallerIdentityResponse": {"GetCallerIdentityResult": result}}


def _signer(headers: dict[str, str], body: bytes) -> Person | None:
    """Who has signed these headers, by signing them once more with what only they have."""
    given = headers["Authorization"]
    person = next((each for each in EVERYBODY if f"={each.key}/" in given), None)
    if person is None or headers.get("X-Amz-Security-Token") != person.session:
        return None
    signed = given.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    named = {name.lower(): value for name, value in headers.items()}
    if any(name not in named for name in signed):
        return None
    sent = {name: named[name] for name in signed}
    request = AWSRequest("POST", f"http://{named['host']}/", headers=sent, data=body)
    request.context["timestamp"] = named["x-amz-date"]
    signer = SigV4Auth(Credentials(person.key, person.secret), "sts", given.split("/")[2])
    again = signer.signature(
        signer.string_to_sign(request, signer.canonical_request(request)), request
    )
    return person if given.endswith(f"Signature={again}") else None
