"""Resources with encrypted metadata: their creation, changes of format, and the keys they need."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.items.resource_types import Format, of_format
from chalicelib.storage import reading
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User
from tests.support.world import make
from tests.support.world.items.resources import (
    INVALID,
    MISSING,
    PGP,
    V5_DEFAULT,
    allow,
    create,
    created,
    delete_type,
    forbid_personal_keys,
    long_message,
    metadata,
    path,
    rules,
    secret_of,
    secrets,
    stored,
    v4,
    v5,
)
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
V4_FIELDS = ("name", "username", "uri", "description")
V5_FIELDS = ("metadata", "metadata_key_id", "metadata_key_type")
UNKNOWN = "8e3874ae-4b40-590b-968a-418f704b9d9a"
FEW = "Few fields are missing for the V5."
MIXED = "V4 related fields are not supported for V5."
KINDS = (
    "v5-password-string, v5-default, v5-totp-standalone, v5-default-with-totp, "
    "v5-custom-fields, v5-note, v5-pin-code"
)
NOT_V5 = {
    "resource_type_id": {"inList": f"The resource type should be one of the following: {KINDS}."}
}


@pytest.fixture
def ada(ada: Somebody) -> Somebody:
    """The same, where resources with metadata may be created."""
    allow()
    return ada


def v5_resource(owner: Somebody, shared_with: Any = None, **fields: Any) -> str:
    """A resource with metadata, however it came to be shared."""
    return make.resource(
        owner, shared_with, **{**metadata(owner), "resource_type_id": V5_DEFAULT, **fields}
    )


def test_a_resource_with_metadata_has_no_members_in_clear(ada):
    sent = v5(ada)

    body = created(ada, sent)

    assert {name: body[name] for name in V5_FIELDS} == {name: sent[name] for name in V5_FIELDS}
    assert not set(V4_FIELDS) & set(body)
    assert body["resource_type_id"] == V5_DEFAULT
    assert (body["personal"], body["folder_parent_id"]) == (True, None)
    shown = ada.client.get(path(body["id"])).body
    assert shown == {name: body[name] for name in shown}
    assert not set(V5_FIELDS) & set(created(ada, v4()))


@pytest.mark.parametrize("nothing", [None, ...])
def test_metadata_for_a_user_key_is_for_the_key_of_the_caller(ada, nothing):
    body = created(ada, v5(ada, metadata_key_id=nothing))

    assert body["metadata_key_id"] == ada.gpgkey_id


def test_members_in_clear_may_be_null_beside_metadata(ada):
    created(ada, v5(ada, **dict.fromkeys(V4_FIELDS)))


def refused(ada: Somebody, digest: Any, sent: Any, text: str) -> None:
    """Neither a creation nor an update of either format takes this, nor is anything changed."""
    ids = [make.resource(ada), v5_resource(ada)]
    before = digest()
    for response in (create(ada, sent), *(ada.client.put(path(each), sent) for each in ids)):
        assert (response.status, response.message, response.body) == (400, text, "")
    assert digest() == before


@pytest.mark.parametrize("field", V5_FIELDS)
@pytest.mark.parametrize("nothing", [None, ...])
def test_the_three_members_of_metadata_come_together(ada, digest, field, nothing):
    """IN21"""
    kept = {"metadata_key_type": "shared_key"} if field != "metadata_key_type" else {}

    refused(ada, digest, v5(ada, **{**kept, field: nothing}), FEW)
    refused(ada, digest, v5(ada, **{**kept, field: nothing, "name": "mail"}), FEW)


@pytest.mark.parametrize("field", V4_FIELDS)
@pytest.mark.parametrize("value", ["mail", "", 5])
def test_metadata_and_members_in_clear_do_not_mix(ada, digest, field, value):
    """IN21"""
    refused(ada, digest, v5(ada, **{field: value}), MIXED)


def test_creation_with_metadata_is_switched_off_until_it_is_allowed(betty, digest):
    """IN21"""
    before = digest()

    response = create(betty, v5(betty))

    assert (response.status, response.body) == (400, "")
    assert response.message == (
        "Resource creation/modification with encrypted metadata not allowed."
    )
    assert digest() == before


def test_what_was_created_can_be_updated_when_creation_is_switched_off(ada):
    in_clear, encrypted = make.resource(ada), v5_resource(ada)
    allow(allow_creation_of_v4_resources=False, allow_creation_of_v5_resources=False)

    assert ada.client.put(path(in_clear), {"name": "new"}).status == 200
    assert ada.client.put(path(encrypted), metadata(ada)).status == 200


@pytest.mark.parametrize(
    ("field", "value", "broken"),
    [
        ("metadata", "", {"_empty"}),
        ("metadata", "text", {"isMetadataParsable"}),
        ("metadata", 5, {"ascii", "isMetadataParsable"}),
        ("metadata", [], {"ascii", "isMetadataParsable"}),
        ("metadata", [5], {"ascii", "isMetadataParsable"}),
        ("metadata", "\u00e9", {"ascii", "isMetadataParsable"}),
        ("metadata_key_id", "", {"_empty"}),
        ("metadata_key_id", "x", {"uuid"}),
        ("metadata_key_id", 5, {"uuid"}),
        ("metadata_key_id", [], {"uuid"}),
        ("metadata_key_type", "", {"_empty"}),
        ("metadata_key_type", "user", {"inList"}),
        ("metadata_key_type", 5, {"inList"}),
        ("metadata_key_type", ["user_key"], {"inList"}),
        ("resource_type_id", "", {"uuid", "inList"}),
        ("resource_type_id", resource_types.TOTP.id, {"inList"}),
        ("resource_type_id", UNKNOWN, {"inList"}),
        ("resource_type_id", 5, {"uuid", "inList"}),
        ("expired", "soon", {"expired"}),
    ],
)
def test_a_wrong_value_is_refused_by_name(ada, digest, field, value, broken):
    """NP07, IN22"""
    resource_id = v5_resource(ada)
    before = digest()

    sent = v5(ada, **{field: value})
    for response in (create(ada, sent), ada.client.put(path(resource_id), sent | {"secrets": []})):
        assert set(rules(response)) == {field}
        assert rules(response, field) == broken
    assert digest() == before


@pytest.mark.parametrize("nothing", [None, ...])
def test_a_creation_with_metadata_names_its_type(ada, nothing):
    """IN22"""
    assert create(ada, v5(ada, resource_type_id=nothing)).body == NOT_V5


def test_the_deprecated_type_is_not_created(ada, digest):
    """IN22"""
    before = digest()
    kind = resource_types.V5_PASSWORD_STRING

    response = create(ada, v5(ada, resource_type_id=kind.id))

    assert (response.status, response.message) == (400, INVALID)
    assert response.body == {
        "resource_type_id": {
            "isNotV5PasswordStringType": (
                "It is not allowed to create v5-password-string resource types."
            )
        }
    }
    assert digest() == before
    delete_type(kind)
    assert rules(create(ada, v5(ada, resource_type_id=kind.id)), "resource_type_id") == {
        "isNotV5PasswordStringType",
        "resource_type_is_not_soft_deleted",
    }


@pytest.mark.parametrize("kind", of_format(Format.V5)[1:])
def test_any_other_type_with_metadata_is_created(ada, kind):
    assert created(ada, v5(ada, resource_type_id=kind.id))["resource_type_id"] == kind.id


def test_metadata_longer_than_its_row_holds_is_refused(ada, digest):
    """FT14"""
    resource_id = v5_resource(ada)
    before = digest()
    sent = v5(ada, metadata=long_message(150_000))
    assert 200_000 < len(sent["metadata"]) < 390_000

    for response in (create(ada, sent), ada.client.put(path(resource_id), sent)):
        assert response.body["metadata"] == {
            "maxLength": "The metadata length should be maximum 200000 characters."
        }
    assert digest() == before


# Keys


def both(ada: Somebody, digest: Any, members: Any) -> Any:
    """The errors of these members, the same for a creation and an update of a stored resource."""
    resource_id = v5_resource(ada)
    before = digest()
    one = create(ada, v5(ada, **members))
    other = ada.client.put(path(resource_id), v5(ada, **members, secrets=None))
    assert one.message == other.message == INVALID
    assert (one.status, one.body) == (other.status, other.body) == (400, one.body)
    assert digest() == before
    return one.body


NO_KEY = {
    "metadata_key_id": {
        "metadata_key_exists": "The metadata key does not exist or was deleted.",
        "isMetadataKeyNotExpired": "The metadata key is marked as expired.",
    },
    "metadata": {
        "isValidEncryptedResourceMetadata": "The resource metadata provided can not be decrypted."
    },
}


def test_a_user_key_is_the_callers_own(ada, betty, digest):
    """IN15, I6"""
    members = {"metadata": metadata(betty)["metadata"], "metadata_key_id": betty.gpgkey_id}

    assert both(ada, digest, members) == NO_KEY
    assert both(ada, digest, {"metadata_key_id": new_id()}) == NO_KEY


def test_a_shared_key_is_known(ada, digest):
    """IN16"""
    assert both(ada, digest, {"metadata_key_type": "shared_key"}) == NO_KEY


def test_metadata_is_for_the_key_it_names(ada, betty, digest):
    for text in (
        metadata(betty)["metadata"],
        message("for two", ada.key.public, betty.key.public),
        PGP,
    ):
        assert both(ada, digest, {"metadata": text}) == {"metadata": NO_KEY["metadata"]}


def test_a_blank_line_before_the_end_of_metadata_is_refused(ada, digest):
    text = metadata(ada)["metadata"].replace("-----END", "\n-----END")

    assert both(ada, digest, {"metadata": text}) == {"metadata": NO_KEY["metadata"]}


def test_metadata_is_kept_byte_by_byte(ada):
    text = metadata(ada)["metadata"].replace("\n", "\r\n")

    body = created(ada, v5(ada, metadata=text))

    assert body["metadata"] == ada.client.get(path(body["id"])).body["metadata"] == text


def test_a_key_that_expires_is_not_used(ada, digest):
    key = Gpgkey.get(ada.gpgkey_id)
    key.expires = clock.now()
    key.save()

    expired = {
        "metadata_key_id": {"isMetadataKeyNotExpired": "The metadata key is marked as expired."}
    }
    assert both(ada, digest, {}) == expired


def test_keys_of_users_may_be_forbidden(ada, digest):
    forbid_personal_keys()

    assert both(ada, digest, {}) == {
        "metadata_key_type": {
            "isMetadataKeyTypeAllowedBySettings": (
                "The settings selected by your administrator prevent from using that key type."
            )
        }
    }


PERSONAL = {
    "metadata_key_type": {
        "isMetadataKeyTypeSharedOnSharedItem": (
            "A resource of type personal cannot be shared with other users or a group."
        )
    }
}


def test_a_shared_resource_has_no_metadata_for_one_user(ada, betty, digest):
    """IN14, I6"""
    ids = [
        v5_resource(ada, {betty: READ}),
        v5_resource(ada, {make.group(betty): READ}),
        make.resource(make.group(ada), **metadata(ada), resource_type_id=V5_DEFAULT),
    ]
    before = digest()

    for resource_id in ids:
        response = ada.client.put(path(resource_id), metadata(ada))
        assert (response.status, response.body) == (400, PERSONAL)
    assert digest() == before


# Updates


def test_an_update_replaces_the_metadata(ada):
    body = created(ada, v5(ada))
    sent = metadata(ada, "something else")

    changed = ada.client.put(path(body["id"]), sent).body

    assert changed["metadata"] == sent["metadata"] != body["metadata"]
    assert changed["resource_type_id"] == V5_DEFAULT
    assert ada.client.get(path(body["id"])).body["metadata"] == sent["metadata"]


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"expired": "2031-01-01"},
        {"resource_type_id": V5_DEFAULT, "expired": None},
        {"resource_type_id": None},
        {"folder_parent_id": None, "personal": True},
        dict.fromkeys((*V4_FIELDS, *V5_FIELDS)),
    ],
)
@pytest.mark.parametrize("is_allowed", [True, False])
def test_an_update_that_describes_nothing_leaves_the_metadata(ada, sent, is_allowed):
    allow(allow_v5_v4_downgrade=is_allowed)
    before = created(ada, v5(ada))

    after = ada.client.put(path(before["id"]), sent)

    assert after.status == 200
    kept = (*V5_FIELDS, "resource_type_id")
    assert [after.body[name] for name in kept] == [before[name] for name in kept]


def test_secrets_can_be_renewed_alone(ada):
    resource_id = v5_resource(ada)
    before = stored(resource_id).metadata

    sent = secrets(ada)
    assert ada.client.put(path(resource_id), {"secrets": sent}).status == 200
    assert secret_of(ada, resource_id) == sent[0]["data"]
    assert stored(resource_id).metadata == before


def test_the_deprecated_type_can_be_updated_and_taken(ada):
    kind = resource_types.V5_PASSWORD_STRING
    old = v5_resource(ada, resource_type_id=kind.id)
    assert ada.client.put(path(old), metadata(ada)).body["resource_type_id"] == kind.id

    allow(allow_v4_v5_upgrade=True)
    sent = metadata(ada) | {"resource_type_id": kind.id}
    assert ada.client.put(path(make.resource(ada)), sent).status == 200


def test_the_type_changes_within_the_format(ada):
    resource_id = v5_resource(ada)
    kind = resource_types.V5_DEFAULT_WITH_TOTP

    for sent in ({"resource_type_id": kind.id}, metadata(ada) | {"resource_type_id": kind.id}):
        assert ada.client.put(path(resource_id), sent).body["resource_type_id"] == kind.id


# Changes of format


UPGRADE = {
    "metadata": {
        "v4_to_v5_upgrade_allowed": (
            "The settings selected by your administrator prevent from upgrading v4 to v5."
        )
    }
}
DOWNGRADE = {
    "resource_type_id": {
        "v5_to_v4_downgrade_allowed": (
            "The settings selected by your administrator prevent from downgrading resource type."
        )
    }
}


def test_an_upgrade_has_to_be_allowed(ada, digest):
    """IN21"""
    resource_id = make.resource(ada)
    before = digest()

    response = ada.client.put(path(resource_id), v5(ada, secrets=None))

    assert (response.status, response.message, response.body) == (400, INVALID, UPGRADE)
    assert digest() == before


def test_an_upgrade_takes_away_what_was_in_clear(ada):
    allow(allow_v4_v5_upgrade=True)
    resource_id = make.resource(ada, username="u", uri="u", description="d")
    sent = v5(ada, secrets=secrets(ada))

    body = ada.client.put(path(resource_id), sent).body

    assert body["metadata"] == sent["metadata"]
    assert not set(V4_FIELDS) & set(body)
    row = stored(resource_id)
    assert [getattr(row, name) for name in V4_FIELDS] == [None] * 4
    assert row.resource_type_id == row.live_type_id == V5_DEFAULT


@pytest.mark.parametrize("nothing", [None, ...])
def test_an_upgrade_names_its_type(ada, digest, nothing):
    """IN22"""
    allow(allow_v4_v5_upgrade=True)
    resource_id = make.resource(ada)
    before = digest()

    sent = v5(ada, secrets=None, resource_type_id=nothing)
    assert ada.client.put(path(resource_id), sent).body == NOT_V5
    assert digest() == before


def test_a_downgrade_has_to_be_allowed(ada, digest):
    """IN21"""
    resource_id = v5_resource(ada)
    before = digest()

    for sent in ({"name": "mail"}, {"name": "mail", "resource_type_id": resource_types.TOTP.id}):
        response = ada.client.put(path(resource_id), sent)
        assert (response.status, response.message, response.body) == (400, INVALID, DOWNGRADE)
    assert digest() == before


def test_a_downgrade_takes_the_metadata_away(ada):
    allow(allow_v5_v4_downgrade=True)
    resource_id = v5_resource(ada)
    kind = resource_types.PASSWORD_DESCRIPTION_TOTP

    body = ada.client.put(path(resource_id), {"name": "mail", "resource_type_id": kind.id}).body

    assert (body["name"], body["username"], body["uri"]) == ("mail", None, None)
    assert not set(V5_FIELDS) & set(body)
    row = stored(resource_id)
    assert [getattr(row, name) for name in V5_FIELDS] == [None] * 3
    assert row.resource_type_id == row.live_type_id == kind.id


def test_a_downgrade_without_a_type_has_the_default_one(ada):
    allow(allow_v5_v4_downgrade=True)

    body = ada.client.put(path(v5_resource(ada)), {"name": "mail"}).body

    assert body["resource_type_id"] == resource_types.PASSWORD_STRING.id


def test_a_downgrade_gives_a_name(ada, digest):
    """IN21"""
    allow(allow_v5_v4_downgrade=True)
    resource_id = v5_resource(ada)
    before = digest()

    response = ada.client.put(path(resource_id), {"username": "u"})

    assert response.body == {"name": {"_required": "A name is required."}}
    assert digest() == before


def test_a_type_alone_does_not_change_the_format(ada, digest):
    """IN21"""
    allow(allow_v5_v4_downgrade=True, allow_v4_v5_upgrade=True)
    encrypted, in_clear = v5_resource(ada), make.resource(ada)
    before = digest()

    sent = {"resource_type_id": resource_types.TOTP.id}
    assert rules(ada.client.put(path(encrypted), sent), "resource_type_id") == {"inList"}
    sent = {"resource_type_id": V5_DEFAULT}
    assert rules(ada.client.put(path(in_clear), sent), "resource_type_id") == {"inList"}
    assert digest() == before


def test_a_deleted_resource_keeps_its_metadata_out_of_sight(ada):
    """I9"""
    resource_id = v5_resource(ada)

    assert ada.client.delete(path(resource_id)).status == 200

    assert stored(resource_id).metadata is not None
    assert ada.client.get(path(resource_id)).message == MISSING


def test_a_user_without_a_key_has_no_metadata(ada):
    row = reading.read([User.by_id(ada.id)]).find(User, ada.id)
    assert row is not None
    row.gpgkey_id = None
    row.save()

    response = create(ada, v5(ada, metadata_key_id=None))

    assert (response.status, response.message) == (400, FEW)
    assert create(ada, v5(ada)).body == NO_KEY
