"""The tenant that is measured: six people, what they have, and who else is there.

Ada owns 5,000 v5 resources with a secret each, all shared with Betty, every tenth a favorite. They
are encrypted to a metadata key that has expired, and another is active; both have copies for Ada.
Carol owns v4 resources that are looked at, changed, shared and deleted one by one. Dave is in 20
groups and has a resource through one of them. With the others they are 1,000 users, each with a
key; the others are in two of the 20 groups, and most of them in one that is large. Edith has
nothing that she does not make herself (`bench.lived`). Frances has 1,000 folders, which she shares
with Betty, twenty in each that has any, and twenty resources in one of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from chalicelib.crypto.openpgp import parse_public_key
from chalicelib.domain import clock
from chalicelib.domain.ids import UserId, new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.items.metadata import private_keys
from chalicelib.services.items.metadata.private_keys import Copy
from chalicelib.storage import writing
from chalicelib.storage.base import Table
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.holdings import RESOURCE, Holding
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from chalicelib.tables.items.metadata_uses import MetadataUse
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from tests.support.world import make
from tests.support.world.items import metadata
from tests.support.world.keys import message
from tests.support.world.make import Somebody, Team

LISTED = 5000
SINGLE = 1500
USERS = 1000
FOLDERS = 1000
CHILDREN = 20
GROUPS = 20
LARGE_GROUPS = (125, 250, 500)
METADATA = '{"object_type":"PASSBOLT_RESOURCE_METADATA","name":"Mail","username":"ada@example.com",'
METADATA += '"uris":["https://mail.example.com/login"],"description":"The mail of everybody"}'
_FILE = "tenant.json"
SECRET = (
    '{"object_type":"PASSBOLT_SECRET_DATA","password":"correct horse battery staple","totp":{}}'
)


@dataclass(frozen=True, slots=True)
class Tenant:
    """Identifiers by which requests are made."""

    ada: str
    carol: str
    dave: str
    betty: str
    edith: str
    frances: str
    inner: str
    """The folder of Frances with resources in it."""
    drawer: str
    """A folder of Carol's alone."""
    listed: str
    """One of Ada's resources."""
    of_a_group: str
    """What Dave has through a group."""
    singles: list[str]
    """Carol's resources."""
    stale: list[str]
    """Ada's, which wait for a rotation."""
    active_key: str
    members: dict[str, list[str]]
    """Users by the large group they belong to, which come by size."""

    def write(self, folder: Path) -> None:
        """Leave it for other processes of the bench."""
        (folder / _FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> Tenant:
        return cls(**json.loads((folder / _FILE).read_text()))


def fill() -> Tenant:
    """Write the rows; the tables and the keys of the tenant are there already."""
    ada, betty = make.user("ada", admin=True), make.user("betty")
    carol, dave, edith = make.user("carol"), make.user("dave"), make.user("edith")
    expired, active = (_key(ada, number) for number in (1, 2))
    expired.expired = clock.now()
    writing.put_all([expired, active, *(_copy(key, ada) for key in (expired, active))])
    listed = [_v5(ada, betty, expired, number) for number in range(LISTED)]
    writing.put_all([MetadataUse(expired.id, each.id, kind=RESOURCE) for each in listed])
    singles = [_v4(carol, number) for number in range(SINGLE)]
    shared = holdings(listed, ada, betty)
    writing.put_all([*listed, *singles, *shared, *holdings(singles, carol)])
    frances = make.user("frances")
    folders = _folders(frances, betty)
    inner = folders[FOLDERS // 2]
    writing.put_all(_inside(inner, frances, betty))
    others = make.crowd(USERS - len((ada, betty, carol, dave, edith, frances)))
    groups = [make.group(dave, *_two_in(others, number)) for number in range(GROUPS)]
    return Tenant(
        ada=ada.id,
        carol=carol.id,
        dave=dave.id,
        betty=betty.id,
        edith=edith.id,
        frances=frances.id,
        inner=inner,
        drawer=make.folder(carol),
        listed=listed[LISTED // 2].id,
        of_a_group=make.resource(betty, {groups[GROUPS // 2]: PermissionType.READ}),
        singles=[each.id for each in singles],
        stale=[each.id for each in listed],
        active_key=active.id,
        members={each.id: [who.id for who in each.members] for each in _large_groups(others)},
    )


def _folders(owner: Somebody, reader: Somebody) -> list[str]:
    """Folders of two people, each twenty of which lie in one of the first."""
    made = [make.folder(owner, {reader: PermissionType.READ}) for _ in range(FOLDERS)]
    for number, folder_id in enumerate(made[FOLDERS // CHILDREN :]):
        for who in (owner, reader):
            place = made[number // CHILDREN]
            Holding(who.id, folder_id).update(actions=[Holding.place.set(place)])
    return made


def _inside(folder_id: str, *holders: Somebody) -> Iterator[Table]:
    """Resources that lie in a folder for all who have it."""
    rows = [_v4(holders[0], number) for number in range(CHILDREN)]
    for row in rows:
        row.above = {folder_id}
        yield row
        yield FolderItem(folder_id, row.id)
    for each in holdings(rows, *holders):
        each.place = folder_id
        yield each


def _two_in(users: Sequence[Somebody], number: int) -> list[Somebody]:
    """The members of this group, where each user is in one and in the next."""
    return [*users[number::GROUPS], *users[(number + 1) % GROUPS :: GROUPS]]


def _large_groups(users: Sequence[Somebody]) -> list[Team]:
    """Groups that have no member in common."""
    bounds = accumulate(LARGE_GROUPS, initial=0)
    return [make.group(*users[start:end]) for start, end in pairwise(bounds)]


def _key(admin: Somebody, number: int) -> MetadataKey:
    pair = metadata.pair(number)
    facts = parse_public_key(pair.public)
    return MetadataKey(
        *MetadataKey.by_id(new_id())[1:],
        fingerprint=pair.fingerprint,
        armored_key=pair.public,
        encryption_key_ids=set(facts.encryption_key_ids),
        created=clock.now(),
        modified=clock.now(),
        created_by=admin.id,
        modified_by=admin.id,
    )


def _copy(key: MetadataKey, who: Somebody) -> MetadataPrivateKey:
    return private_keys.new(Copy(key.id, who.id, _message(who, METADATA * 8)), who.actor)


def _v5(owner: Somebody, reader: Somebody, key: MetadataKey, number: int) -> Resource:
    resource = _resource(owner, resource_types.V5_DEFAULT.id)
    resource.metadata = _message(owner, METADATA)
    resource.metadata_key_id = key.id
    resource.metadata_key_type = "shared_key"
    resource.permissions = {
        **resource.permissions,
        reader.id: _permission(reader.id, PermissionType.READ),
    }
    resource.created_by = resource.modified_by = (owner.id, reader.id)[number % 2]
    return resource


def named(owner: Somebody, reader: Somebody | None, number: int) -> Resource:
    """A v4 resource, maybe shared with somebody who may read it."""
    resource = _v4(owner, number)
    if reader is not None:
        granted = _permission(reader.id, PermissionType.READ)
        resource.permissions = {**resource.permissions, reader.id: granted}
    return resource


def _v4(owner: Somebody, number: int) -> Resource:
    resource = _resource(owner, resource_types.DEFAULT.id)
    resource.name = f"Mail {number}"
    resource.username = "carol@example.com"
    resource.uri = "https://mail.example.com/login"
    return resource


def _resource(owner: Somebody, type_id: str) -> Resource:
    now = clock.now()
    return Resource(
        new_id(),
        secret_revision=new_id(),
        resource_type_id=type_id,
        live_type_id=type_id,
        permissions={owner.id: _permission(owner.id, PermissionType.OWNER)},
        created=now,
        modified=now,
        created_by=owner.id,
        modified_by=owner.id,
    )


def _permission(user_id: UserId, type_: PermissionType) -> Permission:
    now = clock.now()
    return Permission(new_id(), "User", user_id, type_, now, now)


def holdings(resources: list[Resource], *holders: Somebody) -> Iterator[Holding]:
    now = clock.now()
    for number, resource in enumerate(resources):
        for holder in holders:
            is_favorite = number % 10 == 0
            yield Holding(
                holder.id,
                resource.id,
                secret_id=new_id(),
                secret_data=_message(holder, SECRET),
                secret_created=now,
                secret_modified=now,
                secret_created_by=holder.id,
                secret_modified_by=holder.id,
                secret_revision=resource.secret_revision,
                favorite_id=new_id() if is_favorite else None,
                favorite_created=now if is_favorite else None,
            )


_messages: dict[tuple[str, str], str] = {}


def _message(reader: Somebody, text: str) -> str:
    """One message a reader and text: as long as any, and made once."""
    key = (reader.id, text)
    if key not in _messages:
        _messages[key] = message(text, reader.key.public)
    return _messages[key]
