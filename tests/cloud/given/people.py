"""What Ada does with her tenant: she stores passwords, reads them again, configures a client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cloud.given.remote import SignedIn
from tests.cloud.given.tenants import CloudTenant
from tests.support.world.keys import challenge, open_sealed


def store(ada: SignedIn, name: str, password: str) -> str:
    """Store a password; the identifier of what was made."""
    secret = challenge(password, ada.key.private, ada.key.public)
    made = ada.client.post("/resources.json", {"name": name, "secrets": [{"data": secret}]})
    return str(made.body["id"])


def change(ada: SignedIn, resource_id: str, name: str, password: str) -> None:
    secret = challenge(password, ada.key.private, ada.key.public)
    sent = {"name": name, "secrets": [{"user_id": ada.id, "data": secret}]}
    assert ada.client.put(f"/resources/{resource_id}.json", sent).status == 200


def read(ada: SignedIn) -> dict[str, str]:
    """All passwords she has, opened with her key, by name."""
    listed = ada.client.get("/resources.json").body
    return {each["name"]: _opened(ada, each["id"]) for each in listed}


def _opened(ada: SignedIn, resource_id: str) -> str:
    secret = ada.client.get(f"/secrets/resource/{resource_id}.json").body["data"]
    return open_sealed(secret, ada.key.private, ada.key.public)


def configured(tenant: CloudTenant, folder: Path) -> Any:
    """As Ada has configured the client, with her keys in a folder."""
    (folder / "public.asc").write_text(tenant.key.public)
    (folder / "private.asc").write_text(tenant.key.private)
    return {
        "PASSBOLT": {
            "SERVER": tenant.url,
            "USER_FINGERPRINT": tenant.key.fingerprint,
            "USER_PUBLIC_KEY_FILE": str(folder / "public.asc"),
            "USER_PRIVATE_KEY_FILE": str(folder / "private.asc"),
        }
    }
