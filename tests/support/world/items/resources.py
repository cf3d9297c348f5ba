"""What requests about resources are made of, and what is stored afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chalicelib.domain import clock
from chalicelib.domain.armor import MESSAGE, Packet, Tag, write_block, write_packets
from chalicelib.domain.ids import ResourceId, new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import reading
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs.action_logs import GIVEN, SECRETS_UPDATED, ActionLog
from chalicelib.tables.logs.readings import Reading
from chalicelib.tables.settings import (
    METADATA_KEYS,
    METADATA_TYPES,
    RESOURCE_TYPES,
    Setting,
)
from chalicelib.tables.users.users import User
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.world.keys import message
from tests.support.world.make import Somebody

INVALID = "Could not validate resource data."
MISSING = "The resource does not exist."
V5_DEFAULT = resource_types.V5_DEFAULT.id

_SESSION_KEY = Packet(Tag.SESSION_KEY, b"\x03" + b"\x11" * 8 + b"\x01" + b"\x22" * 40)


def message_with(content: bytes) -> str:
    """A message for nobody in particular, with this for encrypted data."""
    data = Packet(Tag.PROTECTED_DATA, b"\x01" + content)
    return write_block(write_packets([_SESSION_KEY, data]), MESSAGE)


PGP = message_with(b"\x33" * 60)


def long_message(size: int) -> str:
    """A message whose encrypted data has so many bytes."""
    return message_with(b"\x33" * size)


def v4(**members: Any) -> dict[str, Any]:
    """The body of a creation in clear; `...` takes a member away."""
    return _body({"name": "mail", "secrets": [{"data": PGP}]}, members)


def v5(who: Somebody, **members: Any) -> dict[str, Any]:
    """The body of a creation with metadata for the key of its creator."""
    usual = {
        **metadata(who),
        "resource_type_id": V5_DEFAULT,
        "secrets": [{"data": PGP}],
    }
    return _body(usual, members)


def metadata(who: Somebody, text: str = "about") -> dict[str, Any]:
    return {
        "metadata": message(text, who.key.public),
        "metadata_key_id": who.gpgkey_id,
        "metadata_key_type": "user_key",
    }


def secrets(*users: Somebody, text: str = "new") -> list[dict[str, str]]:
    """What an update sends for these users."""
    return [{"user_id": who.id, "data": message(text, who.key.public)} for who in users]


def path(resource_id: str) -> str:
    return f"/resources/{resource_id}.json"


def create(who: Somebody, body: Any | None = None, **options: Any) -> Response:
    return who.client.post("/resources.json", v4() if body is None else body, **options)


def created(who: Somebody, body: Any | None = None) -> Any:
    response = create(who, body)
    assert response.status == 200, response.json
    return response.body


def rules(response: Response, *where: str) -> set[str]:
    """The rules the field at this path of a refused body breaks."""
    assert (response.status, response.message) == (400, INVALID), response.json
    errors = response.body
    for name in where:
        errors = errors[name]
    return set(errors)


def stored(resource_id: str) -> Resource:
    key = Resource.by_id(ResourceId(resource_id))
    row = reading.find(key)
    assert row is not None
    return Resource.from_raw(row)


def secret_of(who: Somebody, resource_id: str) -> str | None:
    [secret] = secrets_of([who], resource_id)
    return secret


def secrets_of(users: Iterable[Somebody], resource_id: str) -> set[str | None]:
    """The different secrets these users have; `None` for who has none."""
    keys = [Holding.of(who.id, ResourceId(resource_id)) for who in users]
    rows = reading.read(keys)
    return {(rows.withheld(key) or {}).get("secret_data", {}).get("S") for key in keys}


def give(resource_id: str, who: Somebody, type_: PermissionType) -> None:
    """Share a resource as a request would: with a secret, and at the next version."""
    row = stored(resource_id)
    Holding(who.id, resource_id, **Holding.new_secret("given", who.id, row.secret_revision)).save()
    now = clock.now()
    given = Permission(new_id(), "User", who.id, type_, now, now)
    row.permissions = {**row.permissions, who.id: given}
    row.version += 1
    row.save()


def take(resource_id: str, who: Somebody) -> None:
    """Take access away, as a request would."""
    row = stored(resource_id)
    row.permissions = {h: each for h, each in row.permissions.items() if h != who.id}
    row.version += 1
    row.save()
    Holding.get(who.id, resource_id).delete()


def leave(who: Somebody) -> None:
    """Leave all groups."""
    row = User.get(who.id)
    row.groups = {}
    row.save()


def actions(store: Storage, subject: str) -> list[str]:
    """What is on record of something, in order, whether or not it is spread yet."""
    rows = [ActionLog.from_raw(row) for row in store.rows(ActionLog.stored_as())]
    mine = [(row.time_id, row.action) for row in rows if row.subject == subject]
    mine += [(time_id, SECRETS_UPDATED) for time_id in _replaced(rows, subject)]
    return [action for _, action in sorted([*mine, *_readings(store, subject)])]


def _replaced(rows: Iterable[ActionLog], subject: str) -> list[str]:
    return [row.time_id for row in rows if row.subject == subject and row.secrets]


def _readings(store: Storage, subject: str) -> list[tuple[str, str]]:
    rows = [Reading.from_raw(row) for row in store.rows(Reading.stored_as())]
    return [(row.time_id, GIVEN) for row in rows if subject in row.resource_ids]


def allow(**switches: bool) -> None:
    """Store metadata types settings that differ in these from those of a new tenant."""
    usual = {
        "allow_creation_of_v4_resources": True,
        "allow_creation_of_v5_resources": True,
        "allow_v5_v4_downgrade": False,
        "allow_v4_v5_upgrade": False,
    }
    Setting(METADATA_TYPES, value=usual | switches).save()


def forbid_personal_keys() -> None:
    Setting(METADATA_KEYS, value={"allow_usage_of_personal_keys": False}).save()


def delete_type(kind: resource_types.ResourceType) -> None:
    """Mark a type deleted, as a race may leave one of which there are resources."""
    Setting(RESOURCE_TYPES, marks={kind.slug: clock.now().isoformat()}).save()


def _body(usual: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**usual, **members}.items() if value is not ...}
