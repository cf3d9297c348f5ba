"""What tests start from: people who are signed in, and things they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chalicelib.crypto import openpgp
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Session
from chalicelib.domain.ids import FolderId, GpgkeyId, GroupId, ResourceId, RoleId, UserId, new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.services.operator import signing_keys
from chalicelib.services.sign_in.sessions import ISSUER
from chalicelib.services.users.people.users import new_user
from chalicelib.storage import writing
from chalicelib.storage.base import Table
from chalicelib.tables.claims import Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.tokens import BEARER, Token, token_hash
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import Belonging, User
from tests.support.wire.client import Client
from tests.support.world.keys import KEYS, Key, message


@dataclass(frozen=True)
class Somebody:
    """A user of the tests: their row, their key, and a client that is signed in as them."""

    user: User
    key: Key
    gpgkey_id: str
    client: Client

    def __hash__(self) -> int:
        return hash(self.user.id)

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
    gpgkey = _gpgkey(row, pair)
    row.gpgkey_id = gpgkey.id
    claims = (
        Claim.username(row.username, row.id),
        Claim.fingerprint(pair.fingerprint, gpgkey.id, row.id),
    )
    session, token = _session(row)
    writing.put_all((row, gpgkey, *claims, session))
    return Somebody(row, pair, gpgkey.id, Client(token))


def role(administrator: Somebody, name: str = "auditor") -> str:
    """The identifier of a new role."""
    response = administrator.client.post("/roles.json", {"name": name})
    assert response.status == 200
    return str(response.body["id"])


_read = lru_cache(openpgp.parse_public_key)


def _gpgkey(row: User, pair: Key) -> Gpgkey:
    record = _read(pair.public)
    return Gpgkey(
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


def crowd(count: int) -> tuple[Somebody, ...]:
    """So many users who are not signed in, each with a key in name only: it is one of ours."""
    pair = KEYS["frances"]
    found: list[Somebody] = []
    rows: list[Table] = []
    for number in range(count):
        row = new_user(f"user{number}@example.com", "One", "Of Many")
        gpgkey = _gpgkey(row, pair)
        gpgkey.fingerprint = f"{number:040}"
        row.active, row.gpgkey_id = True, gpgkey.id
        claims = (
            Claim.username(row.username, row.id),
            Claim.fingerprint(gpgkey.fingerprint, gpgkey.id, row.id),
        )
        rows += [row, gpgkey, *claims]
        found.append(Somebody(row, pair, gpgkey.id, Client()))
    writing.put_all(rows)
    return tuple(found)


@dataclass(frozen=True)
class Team:
    """A group of the tests."""

    id: GroupId
    members: tuple[Somebody, ...]


def group(*members: Somebody, name: str | None = None, managers: int = 1) -> Team:
    """A group of these members; the first of them, or so many, manage it."""
    team = Team(GroupId(new_id()), members)
    now = clock.now()
    row = Group(
        team.id,
        name=name or f"group {team.id}",
        created=now,
        modified=now,
        created_by=members[0].id,
        modified_by=members[0].id,
    )
    rows: list[Table] = [row, Claim.group(row.name, row.id)]
    users = {each.id: each for each in User.batch_get([member.id for member in members])}
    for number, member in enumerate(members):
        belonging = Belonging(new_id(), is_admin=number < managers, created=now)
        user_row = users[member.id]
        user_row.groups = {**user_row.groups, team.id: belonging}
        membership = Membership(
            team.id, member.id, id=belonging.id, is_admin=belonging.is_admin, created=now
        )
        rows += [user_row, membership]
    writing.put_all(rows)
    return team


def groups_of(who: Somebody, count: int) -> list[Team]:
    """So many groups that nobody else belongs to."""
    now = clock.now()
    belongings = {GroupId(new_id()): Belonging(new_id(), True, now) for _ in range(count)}
    user_row = User.get(who.id)
    user_row.groups = {**user_row.groups, **belongings}
    rows: list[Table] = [user_row]
    for group_id, each in belongings.items():
        row = Group(group_id, name=f"group {group_id}", created=now, modified=now)
        row.created_by = row.modified_by = who.id
        belongs = Membership(group_id, who.id, id=each.id, is_admin=True, created=now)
        rows += [row, Claim.group(row.name, row.id), belongs]
    writing.put_all(rows)
    return [Team(group_id, (who,)) for group_id in belongings]


def resource(
    owner: Somebody | Team,
    shared_with: Mapping[Somebody | Team, PermissionType] | None = None,
    **fields: Any,
) -> ResourceId:
    """A resource as sharing leaves it: whoever has access holds it, with a secret of their own."""
    granted = {owner: PermissionType.OWNER, **(shared_with or {})}
    now = clock.now()
    row = Resource(
        new_id(),
        name=None if "metadata" in fields else "mail",
        permissions={holder.id: permission(holder, type_) for holder, type_ in granted.items()},
        created=now,
        modified=now,
        created_by=users_of(owner)[0].id,
        modified_by=users_of(owner)[0].id,
    )
    row.resource_type_id = resource_types.DEFAULT.id
    for name, value in fields.items():
        setattr(row, name, value)
    row.live_type_id = row.resource_type_id
    row.secret_revision = new_id()
    holders = {who for holder in granted for who in users_of(holder)}
    items = [GroupItem(each.id, row.id) for each in granted if isinstance(each, Team)]
    writing.put_all([row, *(_holding(who, row) for who in holders), *items])
    return ResourceId(row.id)


def folder(
    owner: Somebody | Team, shared_with: Mapping[Somebody | Team, PermissionType] | None = None
) -> FolderId:
    """A folder as sharing leaves it: whoever has access holds it, at the root."""
    granted = {owner: PermissionType.OWNER, **(shared_with or {})}
    row = Folder(new_id(), name="work", created=clock.now(), modified=clock.now())
    row.permissions = {holder.id: permission(holder, type_) for holder, type_ in granted.items()}
    row.created_by = row.modified_by = users_of(owner)[0].id
    holders = {who for holder in granted for who in users_of(holder)}
    held = [Holding(who.id, row.id, kind=Folder.kind) for who in holders]
    teams = [each for each in granted if isinstance(each, Team)]
    items = [GroupItem(each.id, row.id, kind=Folder.kind) for each in teams]
    items += [MetadataUse(CLEAR, row.id, kind=Folder.kind)]
    writing.put_all([row, *held, *items])
    return FolderId(row.id)


def users_of(holder: Somebody | Team) -> tuple[Somebody, ...]:
    return holder.members if isinstance(holder, Team) else (holder,)


def _holding(who: Somebody, resource: Resource) -> Holding:
    data = message(f"of {who.key.name}", who.key.public)
    return Holding(
        who.id, resource.id, **Holding.new_secret(data, who.id, resource.secret_revision)
    )


def permission(holder: Somebody | Team, type_: PermissionType) -> Permission:
    aro = "Group" if isinstance(holder, Team) else "User"
    return Permission(new_id(), aro, holder.id, type_, clock.now(), clock.now())


def access_token(row: User) -> str:
    """A session of the user's, made as a login makes it, without the cryptography."""
    session, token = _session(row)
    session.save()
    return token


def _session(row: User) -> tuple[Token, str]:
    name, now = new_id(), clock.timestamp()
    session = Token(
        token_hash(BEARER, name),
        kind=BEARER,
        user_id=row.id,
        epoch=row.session_epoch,
        expires=now + 3600,
    )
    return session, signing_keys.signer().sign(row.id, name, issuer=ISSUER, now=now)
