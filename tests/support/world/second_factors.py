"""Second factors: organisations that want them, apps, and codes."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from chalicelib.domain import clock
from tests.support.wire.client import Client, Response
from tests.support.wire.handshake import cookies_of
from tests.support.wire.served import Person
from tests.support.world.make import Somebody

SETTINGS = "/mfa/settings.json"
POLICIES = "/mfa-policies/settings.json"
SETUP = "/mfa/setup/totp.json"
VERIFY = "/mfa/verify/totp.json"
COOKIE = "passbolt_mfa"
PERIOD = 30


@dataclass(frozen=True)
class App:
    """An authenticator app, made by another library than the server's."""

    uri: str

    def code(self, beside: int = 0) -> str:
        """The code of now, or of so many steps beside it."""
        query = parse_qs(urlsplit(self.uri).query)
        [secret] = query["secret"]
        key = base64.b32decode(secret + "=" * (-len(secret) % 8))
        return TOTP(key, 6, SHA1(), PERIOD).generate(clock.timestamp() + beside * PERIOD).decode()

    def wrong(self) -> str:
        """A code that is none of now."""
        right = {self.code(beside) for beside in (-1, 0, 1)}
        return next(code for code in map("{:06}".format, range(4)) if code not in right)


def served_app(administrator: Person, who: Person) -> App:
    """An app that somebody has set up at a served process.

    Of its three codes that are good now the first has been used. The clock is the machine's.
    """
    administrator.visitor.body("POST", SETTINGS, {"providers": ["totp"]})
    app = App(who.visitor.body("GET", SETUP)["otpProvisioningUri"])
    await_a_young_code()
    sent = {"otpProvisioningUri": app.uri, "totp": app.code(-1)}
    assert who.visitor.body("POST", SETUP, sent)["verified"]
    return app


def await_a_young_code() -> None:
    """So that the code before it is still good when it arrives."""
    left = PERIOD - time.time() % PERIOD
    if left < PERIOD / 3:
        time.sleep(left)


def turn_on(administrator: Somebody) -> None:
    response = administrator.client.post(SETTINGS, {"providers": ["totp"]})
    assert response.status == 200, response.content


def turn_off(administrator: Somebody) -> None:
    assert administrator.client.post(SETTINGS, {"providers": []}).status == 200


def offered(client: Client) -> App:
    response = client.get(SETUP)
    assert response.status == 200, response.content
    return App(response.body["otpProvisioningUri"])


def set_up(client: Client, *, csrf: dict[str, str] | None = None) -> App:
    """Set up an app for who is signed in; the client keeps no cookie of it."""
    app = offered(client)
    response = confirmed(client, app, csrf=csrf)
    assert response.status == 200, response.content
    return app


def confirmed(client: Client, app: App, *, csrf: dict[str, str] | None = None) -> Response:
    body = {"otpProvisioningUri": app.uri, "totp": app.code()}
    return client.post(SETUP, body, headers=csrf or {})


def given(client: Client, code: str, **members: object) -> Response:
    """A code, of a client whose session is by access token or which has a CSRF cookie."""
    token = client.cookies.get("csrfToken")
    headers = {"x-csrf-token": token} if token else {}
    return client.post(VERIFY, {"totp": code, **members}, headers=headers)


def cookie_of(response: Response) -> str:
    return cookies_of(response)[COOKIE]
