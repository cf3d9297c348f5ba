"""Shared metadata keys of tests, made and read by Sequoia as clients make and read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pysequoia

from chalicelib.crypto import private_keys
from chalicelib.crypto.server_keys import ServerKeys
from tests.support.environment import BASE_URL
from tests.support.wire.client import Response
from tests.support.world.items.resources import PGP, V5_DEFAULT
from tests.support.world.keys import fingerprint, message, open_sealed
from tests.support.world.make import Somebody

_FOLDER = Path(__file__).parents[3] / "fixtures" / "keys"
KEYS = "/metadata/keys.json"
PRIVATES = "/metadata/keys/privates.json"
KEYS_SETTINGS = "/metadata/keys/settings.json"
TYPES_SETTINGS = "/metadata/types/settings.json"
TYPES: dict[str, Any] = {
    "default_resource_types": "v4",
    "default_folder_type": "v4",
    "default_tag_type": "v4",
    "default_comment_type": "v4",
    "allow_creation_of_v5_resources": False,
    "allow_creation_of_v5_folders": False,
    "allow_creation_of_v5_tags": False,
    "allow_creation_of_v5_comments": False,
    "allow_creation_of_v4_resources": True,
    "allow_creation_of_v4_folders": True,
    "allow_creation_of_v4_tags": True,
    "allow_creation_of_v4_comments": True,
    "allow_v5_v4_downgrade": False,
    "allow_v4_v5_upgrade": False,
}
V5_ON = TYPES | {
    "allow_creation_of_v5_resources": True,
    "allow_creation_of_v5_folders": True,
    "allow_v4_v5_upgrade": True,
    "allow_v5_v4_downgrade": True,
}
PERSONAL: dict[str, Any] = {
    "allow_usage_of_personal_keys": True,
    "zero_knowledge_key_share": False,
}


@dataclass(frozen=True)
class SharedKey:
    """A key pair that an administrator's client made."""

    public: str
    revoked: str = field(repr=False)
    private: str = field(repr=False)
    fingerprint: str
    id: str = ""

    @property
    def path(self) -> str:
        return f"/metadata/keys/{self.id}.json"


def pair(number: int = 1) -> SharedKey:
    """One of four pairs."""
    public, private, revoked = (
        (_FOLDER / f"shared{number}.{kind}.asc").read_text()
        for kind in ("public", "private", "revoked")
    )
    return SharedKey(public, revoked, private, fingerprint(public))


def content(key: SharedKey) -> str:
    """What a copy holds: the private key, and what it is."""
    return json.dumps(
        {
            "object_type": "PASSBOLT_METADATA_PRIVATE_KEY",
            "domain": BASE_URL,
            "fingerprint": key.fingerprint,
            "armored_key": key.private,
            "passphrase": "",
        }
    )


def copy_for(key: SharedKey, who: Somebody | None, signer: Somebody | None = None) -> str:
    """A copy for a user, or without one for the server, as somebody's client makes it."""
    held = private_keys.read(private_keys.OPENPGP)
    public = ServerKeys.load(held).in_use.armored_public_key
    recipient = pysequoia.Cert.from_bytes((who.key.public if who else public).encode())
    if signer is None:
        return message(content(key), str(recipient))
    secret = pysequoia.Tsk.from_bytes(signer.key.private.encode()).signer()
    return pysequoia.encrypt(content(key).encode(), recipients=[recipient], signer=secret).decode()


def body_of(
    key: SharedKey, *users: Somebody | None, signer: Somebody | None = None, **others: Any
) -> dict[str, Any]:
    """What creates a key with copies for these; `None` is the server."""
    copies = [
        {"user_id": who.id if who else None, "data": copy_for(key, who, signer)} for who in users
    ]
    return {
        "fingerprint": key.fingerprint,
        "armored_key": key.public,
        "metadata_private_keys": copies,
        **others,
    }


def shared(admin: Somebody, *users: Somebody | None, number: int = 1) -> SharedKey:
    """A key that an administrator has created, with copies for them and these users."""
    made = pair(number)
    response = admin.client.post(KEYS, body_of(made, admin, *users, signer=admin))
    assert response.status == 200, response.json
    [shown] = response.body
    return replace(made, id=shown["id"])


def expiry(key: SharedKey) -> dict[str, Any]:
    return {
        "fingerprint": key.fingerprint,
        "armored_key": key.revoked,
        "expired": "2026-01-01T00:00:00.000Z",
    }


def expire(admin: Somebody, key: SharedKey, **others: Any) -> Response:
    return admin.client.put(key.path, expiry(key) | others)


def allow_v5(admin: Somebody, **others: Any) -> None:
    response = admin.client.post(TYPES_SETTINGS, V5_ON | others)
    assert response.status == 200, response.json


def described(key: SharedKey, text: str = "about") -> dict[str, Any]:
    """Metadata for a shared key."""
    return {
        "metadata": message(text, key.public),
        "metadata_key_id": key.id,
        "metadata_key_type": "shared_key",
    }


def v5_resource(key: SharedKey, text: str = "about", **others: Any) -> dict[str, Any]:
    members = {"resource_type_id": V5_DEFAULT, "secrets": [{"data": PGP}]}
    return {**described(key, text), **members, **others}


def opened(key: SharedKey, armored: str) -> str:
    """Metadata as whoever has the private key reads it."""
    decryptor = pysequoia.Tsk.from_bytes(key.private.encode()).decryptor()
    found = pysequoia.decrypt(armored.encode(), decryptor=decryptor).bytes
    assert found is not None
    return found.decode()


def own_copies(who: Somebody) -> dict[str, Any]:
    """A user's copies, by key."""
    response = who.client.get(f"{KEYS}?contain[metadata_private_keys]=1")
    assert response.status == 200, response.json
    return {key["id"]: copy for key in response.body for copy in key["metadata_private_keys"]}


def private_of(who: Somebody, copy: dict[str, Any], signers: Iterable[Somebody]) -> str:
    """The private key in a copy that one of these has signed for a user."""
    for signer in signers:
        try:
            text = open_sealed(copy["data"], who.key.private, signer.key.public)
        except RuntimeError:
            continue
        return str(json.loads(text)["armored_key"])
    raise AssertionError("nobody of these has signed it")
