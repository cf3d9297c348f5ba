"""A mobile app: scans a key from another client's screen, and then signs in by access tokens.

It keeps nothing but its key, its user's identifier and its tokens, of a second factor too: it
sends that one as a cookie of its own making, and no CSRF token.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from hashlib import sha512
from typing import Any
from uuid import UUID, uuid4

import requests

from tests.support.wire.served import PATIENCE, Visitor, hear
from tests.support.world.keys import Key, challenge, open_sealed

FACTOR = "passbolt_mfa"
PAGE = 700
"""Characters of a key that one picture on the screen holds."""
Json = dict[str, Any]


@dataclass
class Screen:
    """A client with a session, which shows its user's key in pages, the first of which says how."""

    visitor: Visitor
    user_id: str
    pages: list[str] = field(default_factory=list)
    transfer: Json = field(default_factory=dict)

    def begin(self, key: Key) -> None:
        content = json.dumps({"user_id": self.user_id, "armored_key": key.private})
        parts = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
        sent = {"total_pages": len(parts) + 1, "hash": sha512(content.encode()).hexdigest()}
        path = "/mobile/transfers.json?api-version=v2"
        self.transfer = self.visitor.body("POST", path, sent)
        first = {
            "user_id": self.user_id,
            "domain": self.visitor.url,
            "total_pages": sent["total_pages"],
            "hash": sent["hash"],
            "transfer_id": self.transfer["id"],
            "authentication_token": self.transfer["authentication_token"]["token"],
        }
        self.pages = [json.dumps(first), *parts]

    def seen(self) -> Json:
        """How far the phone is, as the client asks every second."""
        path = f"/mobile/transfers/{self.transfer['id']}.json?api-version=v2"
        return dict(self.visitor.body("GET", path))

    def page(self) -> str:
        """What it shows: the page after the last that was read."""
        found = self.seen()
        if found["status"] == "start":
            return self.pages[0]
        return self.pages[found["current_page"] + 1]


@dataclass
class Phone:
    url: str = ""
    user_id: str = ""
    private: str = ""
    access_token: str = ""
    refresh_token: str = ""
    factor: str = ""
    """What it got for a code, and for each access token that was renewed since."""
    providers: list[str] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    """The statuses that made it renew its access token."""

    def scan(self, screen: Screen) -> Json:
        """Read all pages, telling each; return whom the last answer says the key is of."""
        first = json.loads(screen.page())
        self.url, self.user_id = first["domain"], first["user_id"]
        address = f"/mobile/transfers/{first['transfer_id']}/{first['authentication_token']}.json"
        last = first["total_pages"] - 1
        self._tell(address, {"status": "in progress", "current_page": 0})
        parts = []
        for number in range(1, first["total_pages"]):
            parts.append(screen.page())
            if number < last:
                self._tell(address, {"status": "in progress", "current_page": number})
        content = "".join(parts)
        assert sha512(content.encode()).hexdigest() == first["hash"]
        self.private = json.loads(content)["armored_key"]
        return self._tell(address, {"status": "complete", "current_page": last})

    def _tell(self, address: str, sent: Json) -> Json:
        """Say how far it is; what comes back is parsed strictly."""
        told = self._send("PUT", f"{address}?contain[user.profile]=1", sent)
        assert told.status_code == 200, told.text
        transfer: Json = told.json()["body"]
        assert UUID(transfer["id"])
        assert UUID(transfer["authentication_token_id"])
        assert isinstance(transfer["user"]["profile"]["avatar"]["url"]["medium"], str)
        return transfer

    def sign_in(self) -> None:
        server = self._body("GET", "/auth/verify.json")["keydata"]
        assert "PUBLIC KEY" in self._body("GET", "/auth/jwt/rsa.json")["keydata"]
        claims = {
            "version": "1.0.0",
            "domain": self.url,
            "verify_token": str(uuid4()),
            "verify_token_expiry": int(time.time()) + 120,
        }
        sealed = challenge(json.dumps(claims), self.private, server)
        sent = {"user_id": self.user_id, "challenge": sealed}
        answer = self._body("POST", "/auth/jwt/login.json", sent)["challenge"]
        opened = json.loads(open_sealed(answer, self.private, server))
        assert opened["verify_token"] == claims["verify_token"]
        self.access_token, self.refresh_token = opened["access_token"], opened["refresh_token"]
        self.providers = opened.get("providers", [])

    def wanted_factors(self, path: str) -> list[str]:
        """The second factors that a request is led to; it follows as apps do, with its token."""
        response = self._send("GET", path, access_token=self.access_token)
        assert response.status_code == requests.codes.forbidden, response.text
        assert response.url == f"{self.url}/mfa/verify/error.json"
        body = response.json()["body"]
        assert body["providers"] == {"totp": f"{self.url}/mfa/verify/totp.json"}
        return list(body["mfa_providers"])

    def give(self, code: str, *, remember: bool = False) -> None:
        sent = {"totp": code, "remember": remember}
        response = self._send("POST", "/mfa/verify/totp.json", sent, self.access_token)
        assert response.status_code == 200, response.text
        self.factor = response.cookies[FACTOR]

    def ask(self, method: str, path: str, sent: Json | None = None) -> Any:
        """The body of an answer; the access token is renewed where it is refused."""
        response = self._send(method, path, sent, self.access_token)
        if response.status_code == requests.codes.unauthorized:
            self.refused.append(response.status_code)
            self.renew()
            response = self._send(method, path, sent, self.access_token)
        assert response.status_code == 200, response.text
        return response.json()["body"]

    def renew(self) -> None:
        """The next refresh token comes in a cookie, and nowhere else."""
        sent = {"user_id": self.user_id, "refresh_token": self.refresh_token}
        response = self._send("POST", "/auth/jwt/refresh.json", sent)
        assert response.status_code == 200, response.text
        self.access_token = response.json()["body"]["access_token"]
        self.refresh_token = response.cookies["refresh_token"]
        self.factor = response.cookies.get(FACTOR, self.factor)

    def sign_out(self) -> None:
        self.ask("POST", "/auth/jwt/logout.json", {"refresh_token": self.refresh_token})

    def is_signed_in(self) -> bool:
        response = self._send("GET", "/users/me.json", access_token=self.access_token)
        return response.status_code == requests.codes.ok

    def _body(self, method: str, path: str, sent: Json | None = None) -> Any:
        response = self._send(method, path, sent)
        assert response.status_code == 200, response.text
        return response.json()["body"]

    def _send(
        self, method: str, path: str, sent: Json | None = None, access_token: str = ""
    ) -> requests.Response:
        headers = {"Authorization": f"Bearer {access_token}"} if access_token else {}
        if self.factor:
            headers["Cookie"] = f"{FACTOR}={self.factor}"
        response = requests.request(
            method, self.url + path, json=sent, headers=headers, timeout=PATIENCE
        )
        hear(response)
        return response
