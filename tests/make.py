"""What tests start from: people who are signed in, and things they have."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.crypto import openpgp
from chalicelib.domain import clock, roles
from chalicelib.domain.actor import Actor, Session
from chalicelib.domain.ids import GpgkeyId, RoleId, UserId, new_id
from chalicelib.services import signing_keys
from chalicelib.services.sessions import ISSUER
from chalicelib.services.users import new_user
from chalicelib.tables.claims import Claim
from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.tables.tokens import BEARER, Token, token_hash
from chalicelib.tables.users import User
from tests.client import Client
from tests.keys import KEYS, Key


@dataclass(frozen=True)
class Somebody:
    """A user of the tests: his row, his key, and a client that is signed in as him."""

    user: User
    key: Key
    gpgkey_id: str
    client: Client

    @property
    def id(self) -> UserId:
        return UserId(self.user.id)

    @property
    def actor(self) -> Actor:
        return Actor(
            self.id,
            RoleId(self.user.role_id),
            is_admin=self.user.is_admin,
            gpgkey_id=GpgkeyId(self.gpgkey_id),
            session=Session("none", is_bearer=True, expires=0),
        )


def user(name: str, *, admin: bool = False, key: str | None = None) -> Somebody:
    """An active user called `name`, with the key of that name, signed in by access token."""
    pair = KEYS[key or name]
    row = new_user(f"{name}@example.com", name.title(), "Lovelace")
    row.role_id = roles.ADMIN.id if admin else roles.USER.id
    row.active = True
    record = openpgp.parse_public_key(pair.public)
    gpgkey = Gpgkey(
        new_id(),
        user_id=row.id,
        armored_key=pair.public,
        bits=record.bits,
        uid=record.uid,
        key_id=record.key_id,
        fingerprint=record.fingerprint,
        type=record.type,
        key_created=record.key_created,
        encryption_key_ids=set(record.encryption_key_ids),
        created=clock.now(),
        modified=clock.now(),
    )
    row.gpgkey_id = gpgkey.id
    for each in (
        row,
        gpgkey,
        Claim.username(row.username, row.id),
        Claim.fingerprint(pair.fingerprint, gpgkey.id, row.id),
    ):
        each.save()
    return Somebody(row, pair, gpgkey.id, Client(access_token(row)))


def access_token(row: User) -> str:
    """A session of the user's, made as a login makes it, without the cryptography."""
    session = new_id()
    now = clock.timestamp()
    Token(
        token_hash(BEARER, session),
        kind=BEARER,
        user_id=row.id,
        epoch=row.session_epoch,
        expires=now + 3600,
    ).save()
    return signing_keys.private.get().sign(row.id, session, issuer=ISSUER, now=now)
