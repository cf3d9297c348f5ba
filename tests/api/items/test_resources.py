"""Resources in clear: created, seen, changed and deleted, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from uuid import UUID

import pytest

from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from tests.support.faults.hooks import Recorder
from tests.support.wire.client import Response
from tests.support.world import make, people
from tests.support.world.items.resources import (
    INVALID,
    MISSING,
    PGP,
    actions,
    allow,
    create,
    created,
    delete_type,
    long_message,
    path,
    rules,
    secret_of,
    secrets,
    stored,
    v4,
)
from tests.support.world.keys import message
from tests.support.world.pictures import form

READ, UPDATE, OWNER = PermissionType
ADDED = "The resource has been added successfully."
UPDATED = "The resource has been updated successfully."
DELETED = "The resource has been deleted successfully."
NO_UPDATE = "You are not allowed to update this resource."
NO_DELETE = "You do not have the permission to delete this resource."
NO_UUID = "The resource identifier should be a valid UUID."
UNKNOWN = "8e3874ae-4b40-590b-968a-418f704b9d9a"
NOW = "2026-11-21T12:00:00+00:00"
BASE = {
    "id",
    "name",
    "username",
    "uri",
    "description",
    "resource_type_id",
    "deleted",
    "expired",
    "created",
    "modified",
    "created_by",
    "modified_by",
    "folder_parent_id",
    "personal",
}
CHANGED = BASE | {
    *("creator", "modifier", "favorite", "permission", "secrets", "tags"),
    *("user_id", "resource_id", "data"),
}
"""Members of the answer to a creation or an update: no permissions, no resource_type."""


# Creation


def test_a_creation_answers_the_resource_with_all_that_is_its_creators(time, ada):
    data = message("secret", ada.key.public)
    sent = v4(username="ada", uri="https://a.example", description="d", secrets=[{"data": data}])

    response = create(ada, sent)

    assert (response.status, response.message) == (200, ADDED)
    body = response.body
    assert set(body) == CHANGED
    assert {name: body[name] for name in BASE - {"id"}} == {
        "name": "mail",
        "username": "ada",
        "uri": "https://a.example",
        "description": "d",
        "resource_type_id": resource_types.PASSWORD_STRING.id,
        "deleted": False,
        "expired": None,
        "created": NOW,
        "modified": NOW,
        "created_by": ada.id,
        "modified_by": ada.id,
        "folder_parent_id": None,
        "personal": True,
    }
    assert UUID(body["id"]).version == 4
    assert body["favorite"] is None
    assert body["creator"] == body["modifier"]
    assert body["creator"]["username"] == "ada@example.com"
    assert "profile" not in body["creator"]
    assert {name: body["permission"][name] for name in body["permission"] if name != "id"} == {
        "aco": "Resource",
        "aco_foreign_key": body["id"],
        "aro": "User",
        "aro_foreign_key": ada.id,
        "type": 15,
        "created": NOW,
        "modified": NOW,
    }
    [secret] = body["secrets"]
    assert {name: secret[name] for name in secret if name != "id"} == {
        "user_id": ada.id,
        "resource_id": body["id"],
        "data": data,
        "created": NOW,
        "modified": NOW,
        "created_by": ada.id,
        "modified_by": ada.id,
        "secret_revision_id": stored(body["id"]).secret_revision,
        "deleted": None,
    }
    assert (body["user_id"], body["resource_id"], body["data"]) == (ada.id, body["id"], data)


def test_the_answer_to_a_creation_does_not_depend_on_the_query(ada):
    sent = v4()
    response = ada.client.post("/resources.json?contain[permissions]=1&contain[secret]=0", sent)

    assert set(response.body) == CHANGED


def test_the_creator_owns_the_resource_and_has_its_secret(ada, store):
    resource_id = created(ada)["id"]

    row = stored(resource_id)
    assert {holder: each.type for holder, each in row.permissions.items()} == {ada.id: OWNER}
    assert secret_of(ada, resource_id) == PGP
    assert actions(store, resource_id) == ["Resources.created"]


def test_what_only_the_server_says_is_not_taken_from_the_client(time, ada, betty):
    """AC28"""
    forged = {
        "id": UNKNOWN,
        "created": "2000-01-01T00:00:00+00:00",
        "modified": "2000-01-01T00:00:00+00:00",
        "created_by": betty.id,
        "modified_by": betty.id,
        "deleted": True,
        "personal": False,
        "permissions": [{"aro": "User", "aro_foreign_key": betty.id, "type": 15}],
        "version": 7,
        "live_type_id": UNKNOWN,
        "secrets": [{"data": PGP, "user_id": betty.id, "id": UNKNOWN, "resource_id": UNKNOWN}],
        "resource_type": {},
    }

    body = created(ada, v4(**forged))

    assert body["id"] != UNKNOWN
    assert (body["created"], body["modified"], body["deleted"]) == (NOW, NOW, False)
    assert (body["created_by"], body["modified_by"], body["personal"]) == (ada.id, ada.id, True)
    [secret] = body["secrets"]
    assert (secret["user_id"], secret["resource_id"]) == (ada.id, body["id"])
    assert secret["id"] != UNKNOWN
    assert stored(body["id"]).version == 1
    assert betty.client.get(path(body["id"])).status == 404
    assert secret_of(betty, body["id"]) is None


@pytest.mark.parametrize(
    "sent", [[], {}, None, [{"data": PGP}, {"data": PGP}], [{}], [{"user_id": UNKNOWN}], ...]
)
def test_a_resource_is_created_with_exactly_one_secret(ada, digest, sent):
    """IN01"""
    before = digest()

    response = create(ada, v4(secrets=sent))

    assert rules(response, "secrets")
    assert digest() == before


def test_exact_messages_of_a_creation_without_anything(ada):
    response = create(ada, {})

    assert response.body == {
        "name": {"_required": "A name is required."},
        "secrets": {"_required": "The owner secret is required."},
    }


@pytest.mark.parametrize("raw", [b"", b"[]", b'"name"', b'["name"]', b"null", b"5"])
def test_a_body_that_is_no_object_has_no_members(ada, raw):
    headers = {"content-type": "application/json"}
    response = ada.client.request("POST", "/resources.json", raw=raw, headers=headers)

    assert rules(response) == {"name", "secrets"}


def test_broken_rules_of_stored_data_are_told_when_the_fields_are_right(ada, digest):
    """AC13: what is to lie in a folder never lies silently at the root"""
    before = digest()
    response = create(ada, v4(folder_parent_id=UNKNOWN, name=""))
    assert rules(response) == {"name"}

    response = create(ada, v4(folder_parent_id=UNKNOWN))
    assert response.body == {
        "folder_parent_id": {"folder_exists": "The folder parent does not exist."}
    }
    assert digest() == before


def test_no_resource_is_created_of_a_deleted_type(ada, digest):
    """IN22"""
    delete_type(resource_types.TOTP)
    before = digest()

    response = create(ada, v4(resource_type_id=resource_types.TOTP.id))

    assert response.message == INVALID
    assert response.body == {
        "resource_type_id": {
            "resource_type_is_not_soft_deleted": "The resource type should not be deleted."
        }
    }
    assert digest() == before


def test_the_default_type_may_be_deleted_too(ada):
    """IN22"""
    delete_type(resource_types.PASSWORD_STRING)

    assert rules(create(ada), "resource_type_id") == {"resource_type_is_not_soft_deleted"}


@pytest.mark.parametrize("type_id", [UNKNOWN, resource_types.V5_DEFAULT.id])
def test_a_resource_in_clear_has_a_known_type_of_its_format(ada, digest, type_id):
    """IN22"""
    before = digest()

    assert rules(create(ada, v4(resource_type_id=type_id)), "resource_type_id") == {"inList"}
    assert digest() == before


@pytest.mark.parametrize("kind", resource_types.of_format(resource_types.Format.V4))
def test_a_resource_may_be_of_any_type_of_its_format(ada, kind):
    assert created(ada, v4(resource_type_id=kind.id))["resource_type_id"] == kind.id


def test_creation_in_clear_may_be_switched_off(ada, digest):
    """IN21"""
    allow(allow_creation_of_v4_resources=False)
    before = digest()

    response = create(ada)

    assert (response.status, response.body) == (400, "")
    assert response.message == "Resource creation with cleartext metadata not allowed."
    assert digest() == before


def test_the_description_of_a_type_that_encrypts_it_is_not_stored(ada):
    kind = resource_types.PASSWORD_AND_DESCRIPTION
    body = created(ada, v4(resource_type_id=kind.id, description="in clear"))

    assert body["description"] is None
    assert stored(body["id"]).description is None


def test_empty_texts_are_stored_as_sent(ada):
    body = created(ada, v4(username="", uri="", description=""))

    assert (body["username"], body["uri"], body["description"]) == ("", "", "")
    assert ada.client.get(path(body["id"])).body["uri"] == ""


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (None, None),
        ("", None),
        ("2031-01-01", "2031-01-01T00:00:00+00:00"),
        ("2031-01-01 10:11:12", "2031-01-01T10:11:12+00:00"),
        ("2031-01-01T10:11:12Z", "2031-01-01T10:11:12+00:00"),
        ("2031-01-01T10:11:12.345+02:00", "2031-01-01T08:11:12+00:00"),
        ("9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59+00:00"),
    ],
)
def test_an_expiry_is_kept_in_utc_and_whole_seconds(ada, sent, shown):
    body = created(ada, v4(expired=sent))

    assert body["expired"] == shown
    assert ada.client.get(path(body["id"])).body["expired"] == shown


@pytest.mark.parametrize(
    "sent",
    [
        *("2025-02-30", "10000-01-01", "0001-01-01T00:00:00+14:00", 1_900_000_000, "1900000000"),
        *("now", "tomorrow", "10/11/2030", "9" * 10_000, True, [], {}, "2031-01-01T25:00:00Z"),
    ],
)
def test_what_is_no_moment_is_no_expiry(ada, digest, sent):
    """NP23"""
    resource_id = created(ada)["id"]
    before = digest()

    for response in (
        create(ada, v4(expired=sent)),
        ada.client.put(path(resource_id), v4() | {"expired": sent, "secrets": None}),
    ):
        assert response.body == {"expired": {"expired": "The date could not be parsed."}}
    assert digest() == before


# Fields


VALUES: dict[str, Any] = {
    "missing": ...,
    "null": None,
    "empty": "",
    "space": " ",
    "0": 0,
    "-1": -1,
    "1.5": 1.5,
    "true": True,
    "[]": [],
    "{}": {},
    "[[]]": [[]],
    "100 KB": "x" * 100_000,
}
FIELDS: dict[str, set[str]] = {
    "name": {"space"},
    "username": {"missing", "null", "empty", "space"},
    "uri": {"missing", "null", "empty", "space"},
    "description": {"missing", "null", "empty", "space"},
    "resource_type_id": {"missing", "null"},
    "expired": {"missing", "null", "empty"},
    "folder_parent_id": {"missing", "null"},
    "secrets": set(),
    "metadata": {"missing", "null"},
    "metadata_key_id": {"missing", "null"},
    "metadata_key_type": {"missing", "null"},
    "personal": set(VALUES),
    "id": set(VALUES),
}
"""Which of the values each field of a creation may have."""
V5_FIELDS = ("metadata", "metadata_key_id", "metadata_key_type")


@pytest.mark.parametrize("field", FIELDS)
def test_any_value_of_a_field_is_accepted_where_documented_or_refused_by_name(ada, digest, field):
    """NP07"""
    for name, value in VALUES.items():
        before = digest()
        response = create(ada, v4(**{field: value}))
        assert_documented(response, field, is_accepted=name in FIELDS[field])
        assert (digest() == before) == (response.status != 200)


def assert_documented(response: Response, field: str, *, is_accepted: bool) -> None:
    if is_accepted:
        assert response.status == 200
    elif field in V5_FIELDS:
        assert (response.status, response.body) == (400, "")
        assert response.message == "Few fields are missing for the V5."
    else:
        assert set(rules(response)) == {field}


KEPT = {
    **FIELDS,
    "name": FIELDS["name"] | {"missing"},
    "secrets": {"missing", "null", "empty", "[]"},
    "folder_parent_id": set(VALUES),
    "permissions": set(VALUES),
    "deleted": set(VALUES),
    "created_by": set(VALUES),
}
"""The same for an update, which passes over what it does not change."""


@pytest.mark.parametrize("field", KEPT)
def test_any_value_of_a_field_is_accepted_by_an_update_or_refused_by_name(ada, digest, field):
    """NP07"""
    resource_id = make.resource(ada)
    for name, value in VALUES.items():
        before = digest()
        sent = {"uri": "new"} if name == "missing" else {"name": "new", field: value}
        response = ada.client.put(path(resource_id), sent)
        assert_documented(response, field, is_accepted=name in KEPT[field])
        assert (digest() == before) == (response.status != 200)


@pytest.mark.parametrize(
    "name", ["foo", "__class__", "__proto__", "constructor", "$where", "a.b", "", "data[]"]
)
def test_unknown_members_are_passed_over(ada, name):
    """NP08"""
    resource_id = created(ada, v4(**{name: {"a": [1]}}))["id"]

    sent = {"name": "new", name: [{"a": 1}]}
    assert ada.client.put(path(resource_id), sent).status == 200
    assert name not in ada.client.get(path(resource_id)).body


@pytest.mark.parametrize("sign", ["a", "é", "漢", "😀", "e\u0301"])
@pytest.mark.parametrize("field", ["name", "username"])
def test_names_are_counted_in_code_points(ada, digest, sign, field):
    """NP09"""
    longest = sign * (64 // len(sign))
    assert created(ada, v4(**{field: longest}))[field] == longest
    before = digest()

    response = create(ada, v4(**{field: longest + "a"}))

    assert response.body == {
        field: {"maxLength": f"The {field} length should be maximum 64 characters."}
    }
    assert digest() == before


def test_deployed_clients_may_use_255_characters():
    script = (
        "from tests.support import environment; environment.prepare()\n"
        "from tests.support.world import make\n"
        "from tests.support import storage\n"
        "from tests.support.world.items.resources import create, v4\n"
        "from chalicelib.services.operator import keys\n"
        "from chalicelib.settings import settings\n"
        "with storage.opened():\n"
        "    keys.create_local(settings.key_folder)\n"
        "    ada = make.user('ada')\n"
        "    for size in (255, 256):\n"
        "        print(create(ada, v4(name='a' * size, username='b' * size)).status)\n"
        "    [kind] = [k for k in ada.client.get('/resource-types.json').body\n"
        "              if k['slug'] == 'password-string']\n"
        "    print(kind['definition']['resource']['properties']['name']['maxLength'])\n"
    )

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={"DIALECT": "clients", "ENGINE": "embedded", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.split() == ["200", "400", "255"]


def test_a_lone_surrogate_is_no_text(ada, digest):
    """NP10"""
    resource_id = make.resource(ada)
    before = digest()

    for field in ("name", "username", "uri", "description", "expired", "resource_type_id"):
        for sent in (v4(**{field: "a\ud800"}), v4(**{"\ud800": field})):
            assert create(ada, sent).status == 400
            assert ada.client.put(path(resource_id), sent).status == 400
    assert create(ada, v4(secrets=[{"data": "\ud800"}])).status == 400
    assert digest() == before


@pytest.mark.parametrize("field", ["name", "username", "uri", "description"])
@pytest.mark.parametrize("sign", ["\x00", "\x01", "\x1b", "\x1f"])
def test_control_characters_are_refused(ada, digest, field, sign):
    """NP11"""
    before = digest()

    assert rules(create(ada, v4(**{field: f"a{sign}b"})), field)
    assert digest() == before


TEXTS = (
    "<script>alert(1)</script>",
    "'; DROP TABLE users; --",
    "{{7*7}}",
    "${x}",
    "a\r\nSet-Cookie: b",
    "=cmd()",
    "tab\tand\nlines",
    "   ",
    "e\u0301 is not é",
)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_stored_and_shown_as_they_are(ada, text):
    """NP12"""
    fields = dict.fromkeys(("name", "username", "uri", "description"), text)

    resource_id = created(ada, v4(**fields))["id"]

    shown = ada.client.get(path(resource_id))
    assert {name: shown.body[name] for name in fields} == fields
    assert shown.headers["content-type"].startswith("application/json")


# Secrets


def armor_of(kind: str) -> str:
    return PGP.replace("PGP MESSAGE", kind)


@pytest.mark.parametrize(
    "kind",
    ["PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK", "PGP SIGNATURE", "PGP SIGNED MESSAGE"],
)
def test_a_secret_is_no_other_kind_of_block(ada, digest, kind):
    """NP13"""
    before = digest()

    response = create(ada, v4(secrets=[{"data": armor_of(kind)}]))

    assert response.body["secrets"]["0"] == {
        "data": {
            "isValidOpenPGPMessage": "The message should be a valid ASCII-armored OpenPGP message."
        }
    }
    assert digest() == before


@pytest.mark.parametrize(
    "data",
    [
        PGP + PGP,
        "before\n" + PGP,
        PGP + "after\n",
        PGP.replace("-----END PGP MESSAGE-----\n", ""),
        PGP.replace("-----\n\n", "-----\n", 1),
        PGP.replace("\n\n", "\n\n!", 1),
        "!#*",
        message("x", make.KEYS["ada"].public).split("\n\n", 1)[1],
    ],
)
def test_a_secret_is_one_whole_block_and_nothing_else(ada, digest, data):
    """NP14"""
    before = digest()

    response = create(ada, v4(secrets=[{"data": data}]))

    assert rules(response, "secrets", "0", "data") == {"isValidOpenPGPMessage"}
    assert digest() == before


@pytest.mark.parametrize(
    "data",
    [
        PGP.replace("\n", "\r\n"),
        PGP.replace("-----\n\n", "-----\nVersion: 1\nComment: hello\n\n", 1),
        "\n".join(line for line in PGP.split("\n") if not line.startswith("=")),
        "\n".join("=AAAA" if line.startswith("=") else line for line in PGP.split("\n")),
        f"\n{PGP}\n",
    ],
    ids=["CRLF", "headers", "no checksum", "wrong checksum", "blank lines around"],
)
def test_a_secret_is_kept_byte_by_byte(ada, data):
    """NP15"""
    resource_id = created(ada, v4(secrets=[{"data": data}]))["id"]

    assert ada.client.get(f"/secrets/resource/{resource_id}.json").body["data"] == data


def test_a_secret_is_an_encrypted_message(ada, digest):
    """NP16"""
    before = digest()
    for inside in ("aGVsbG8gd29ybGQ=", PGP.split("\n\n")[1].split("\n")[0][:40]):
        data = f"-----BEGIN PGP MESSAGE-----\n\n{inside}\n-----END PGP MESSAGE-----\n"
        response = create(ada, v4(secrets=[{"data": data}]))
        assert rules(response, "secrets", "0", "data") == {"isValidOpenPGPMessage"}
    assert digest() == before


def test_the_longest_note_is_stored_whole(ada):
    """NP17"""
    data = message("\U0001f600" * 50_000, ada.key.public)
    assert len(data) > 265_000

    resource_id = created(ada, v4(secrets=[{"data": data}]))["id"]

    assert ada.client.get(f"/secrets/resource/{resource_id}.json").body["data"] == data


def test_a_secret_longer_than_a_row_is_refused(ada, digest):
    """FT14"""
    fits, too_long = long_message(287_000), long_message(288_000)
    assert len(fits) <= 390_000 < len(too_long)
    resource_id = created(ada, v4(secrets=[{"data": fits}]))["id"]
    before = digest()

    response = create(ada, v4(secrets=[{"data": too_long}]))
    assert response.body["secrets"]["0"]["data"]["maxLength"] == (
        "The data length should be maximum 390000 characters."
    )
    sent = {"secrets": [{"user_id": ada.id, "data": too_long}]}
    assert "maxLength" in rules(ada.client.put(path(resource_id), sent), "secrets", "0", "data")
    assert digest() == before


@pytest.mark.parametrize(
    "sent",
    [
        [None],
        ["text"],
        [["data"]],
        [{"0": {"data": PGP}}],
        [5],
        "text",
        {"a": 1},
        [[{"data": PGP}]],
    ],
)
def test_what_is_no_list_of_secrets_lacks_data_and_user(ada, digest, sent):
    """NP25"""
    resource_id = make.resource(ada)
    before = digest()

    for response in (
        create(ada, v4(secrets=sent)),
        ada.client.put(path(resource_id), {"secrets": sent}),
    ):
        errors = {field: set(broken) for field, broken in response.body["secrets"]["0"].items()}
        assert response.message == INVALID
        if isinstance(sent, list) and isinstance(sent[0], dict) and response.body:
            assert errors.get("data") == {"_required"}
        else:
            assert errors == {"data": {"_required"}, "user_id": {"_required"}}
    assert digest() == before


# Idempotency


KEY = {"headers": {"idempotency-key": "8f1a"}}


def test_a_creation_that_is_repeated_with_its_key_answers_the_first_resource(ada, digest):
    """FT03"""
    first = create(ada, v4(), **KEY)
    before = digest()

    again = create(ada, v4(), **KEY)

    assert (again.status, again.message) == (200, ADDED)
    assert again.body == first.body
    assert digest() == before


def test_a_key_belongs_to_its_caller(ada, betty):
    first = create(ada, v4(), **KEY)
    second = create(betty, v4(), **KEY)

    assert (first.status, second.status) == (200, 200)
    assert first.body["id"] != second.body["id"]


def test_without_a_key_each_creation_is_another(ada):
    assert created(ada)["id"] != created(ada)["id"]


def test_a_key_stands_for_one_content(ada, digest):
    create(ada, v4(), **KEY)
    before = digest()

    response = create(ada, v4(name="other"), **KEY)

    assert (response.status, response.body) == (409, "")
    assert digest() == before


def test_a_repeated_creation_answers_the_resource_as_it_is_now(ada):
    first = create(ada, v4(), **KEY).body
    ada.client.put(path(first["id"]), {"name": "new"})

    again = create(ada, v4(), **KEY).body

    assert (again["id"], again["name"]) == (first["id"], "new")


def test_a_resource_that_was_deleted_is_not_created_again(ada, digest):
    """I9"""
    first = create(ada, v4(), **KEY).body
    ada.client.delete(path(first["id"]))
    before = digest()

    assert create(ada, v4(), **KEY).status == 404
    assert digest() == before


def send_with_file(who, file, **parts):
    """A creation by a form that holds a file, with an idempotency key."""
    sent = form(**parts, extra=file)
    headers = {**sent["headers"], **KEY["headers"]}
    return who.client.post("/resources.json", raw=sent["raw"], headers=headers)


def test_a_key_beside_a_file_is_as_good_as_any(ada, digest):
    """The file means nothing here, and is part of the content all the same."""
    parts = {"name": "mail", "secrets__0__data": PGP}
    first = send_with_file(ada, ("a.txt", "text/plain", b"one"), **parts)
    before = digest()

    again = send_with_file(ada, ("a.txt", "text/plain", b"one"), **parts)
    others = [("a.txt", "text/plain", b"two"), ("b.txt", "text/plain", b"one")]

    assert (first.status, again.status) == (200, 200)
    assert again.body["id"] == first.body["id"]
    for other in others:
        assert send_with_file(ada, other, **parts).status == 409
    assert digest() == before


def test_a_file_where_a_secret_is_meant_is_refused_with_a_key_too(ada, digest):
    before = digest()

    response = send_with_file(ada, ("a.txt", "text/plain", b"one"), name="mail")

    assert (response.status, set(response.body)) == (400, {"secrets"})
    assert digest() == before


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_a_key_has_1_to_255_characters(ada, digest, key):
    before = digest()

    response = create(ada, v4(), headers={"idempotency-key": key})

    assert response.status == 400
    assert response.message == "The idempotency key should have 1 to 255 characters."
    assert digest() == before


# Views


def test_a_view_shows_the_resource_alone(ada):
    resource_id = created(ada)["id"]

    response = ada.client.get(path(resource_id))

    assert response.status == 200
    assert set(response.body) == BASE


def test_an_identifier_may_be_written_in_capitals(ada):
    """NP02"""
    resource_id = created(ada)["id"]

    assert ada.client.get(path(resource_id.upper())).body["id"] == resource_id
    assert ada.client.get(path(str(UUID(int=0)))).status == 404


@pytest.mark.parametrize(
    "word", ["abc", UNKNOWN[:35], f"{{{UNKNOWN}}}", f"urn:uuid:{UNKNOWN}", f"{UNKNOWN}\n"]
)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_what_is_no_identifier_is_refused_before_any_lookup(ada, method, word):
    """NP01"""
    with Recorder() as seen:
        response = ada.client.request(method, path(word), json={})

    assert (response.status, response.message) == (400, NO_UUID)
    assert "resources" not in seen.tables


def test_what_cannot_be_seen_looks_as_if_it_did_not_exist(ada, betty, digest):
    """AC03"""
    hidden = make.resource(ada)
    before = digest()

    for method in ("GET", "PUT", "DELETE"):
        answers = [
            betty.client.request(method, path(each), json={"name": ""})
            for each in (hidden, UNKNOWN)
        ]
        assert [(each.status, each.message, each.body) for each in answers] == [
            (404, MISSING, "")
        ] * 2
        one, other = (each.content.replace(UNKNOWN.encode(), hidden.encode()) for each in answers)
        assert len(one) == len(other)
    assert digest() == before


def test_an_administrator_sees_no_more_than_others(ada, betty):
    """AC05"""
    resource_id = make.resource(betty)

    assert ada.client.get(path(resource_id)).status == 404
    assert ada.client.get(f"/secrets/resource/{resource_id}.json").status == 404
    assert ada.client.get("/resources.json").body == []


def test_resources_of_a_deleted_type_are_hidden(ada):
    resource_id = created(ada)["id"]
    delete_type(resource_types.PASSWORD_STRING)

    assert ada.client.get(path(resource_id)).status == 404
    assert ada.client.get("/resources.json").body == []
    assert ada.client.get(f"/secrets/resource/{resource_id}.json").status == 404
    assert ada.client.put(path(resource_id), {"name": "new"}).status == 404


# Updates


def test_an_update_answers_the_resource_with_all_that_is_the_callers(time, ada, betty):
    resource_id = make.resource(ada, {betty: UPDATE})
    time.pass_by(minutes=2)

    response = betty.client.put(path(resource_id), {"name": "new"})

    assert (response.status, response.message) == (200, UPDATED)
    body = response.body
    assert set(body) == CHANGED
    assert (body["name"], body["created"], body["modified"]) == (
        "new",
        NOW,
        "2026-11-21T12:02:00+00:00",
    )
    assert (body["creator"]["id"], body["modifier"]["id"]) == (ada.id, betty.id)
    assert (body["created_by"], body["modified_by"]) == (ada.id, betty.id)
    assert (body["permission"]["aro_foreign_key"], body["permission"]["type"]) == (betty.id, 7)
    assert body["personal"] is False
    [secret] = body["secrets"]
    assert secret["user_id"] == betty.id
    assert secret["data"] == body["data"] == secret_of(betty, resource_id)


FULL = {"name": "mail", "username": "ada", "uri": "u", "description": "d"}


@pytest.mark.parametrize("field", ["username", "uri", "description"])
@pytest.mark.parametrize("value", ["new", "", None])
def test_an_update_changes_what_is_sent_and_keeps_the_rest(ada, field, value):
    resource_id = created(ada, v4(**FULL, expired="2031-01-01"))["id"]

    ada.client.put(path(resource_id), {field: value})

    shown = ada.client.get(path(resource_id)).body
    assert {name: shown[name] for name in FULL} == {**FULL, field: value}
    assert shown["expired"] == "2031-01-01T00:00:00+00:00"


def test_an_update_of_nothing_changes_only_who_and_when(time, ada):
    before = created(ada, v4(**FULL))
    time.pass_by(minutes=1)

    response = ada.client.put(path(before["id"]), {})

    assert response.status == 200
    assert {name for name in BASE if response.body[name] != before[name]} == {"modified"}


@pytest.mark.parametrize("nothing", [None, ""])
def test_an_update_can_take_the_expiry_away(ada, nothing):
    resource_id = created(ada, v4(expired="2031-01-01"))["id"]

    assert ada.client.put(path(resource_id), {"expired": nothing}).body["expired"] is None
    assert stored(resource_id).expired is None


def test_an_update_that_names_no_type_keeps_the_stored_one(ada):
    resource_id = created(ada, v4(resource_type_id=resource_types.TOTP.id))["id"]

    for sent in ({"name": "new"}, {"expired": None}, {"resource_type_id": None}):
        body = ada.client.put(path(resource_id), sent).body
        assert body["resource_type_id"] == resource_types.TOTP.id


def test_an_update_changes_the_type_within_its_format(ada):
    resource_id = created(ada, v4(description="d"))["id"]
    kind = resource_types.PASSWORD_AND_DESCRIPTION

    body = ada.client.put(path(resource_id), {"resource_type_id": kind.id}).body

    assert body["resource_type_id"] == kind.id
    assert body["description"] is None
    assert stored(resource_id).live_type_id == kind.id


def test_an_update_does_not_take_a_deleted_type(ada, digest):
    """IN22"""
    resource_id = created(ada)["id"]
    delete_type(resource_types.TOTP)
    before = digest()

    response = ada.client.put(path(resource_id), {"resource_type_id": resource_types.TOTP.id})

    assert rules(response, "resource_type_id") == {"resource_type_is_not_soft_deleted"}
    assert digest() == before


def test_a_reader_changes_nothing(ada, betty, digest):
    """AC04"""
    resource_id = make.resource(ada, {betty: READ})
    before = digest()

    update = betty.client.put(path(resource_id), {"name": ""})
    delete = betty.client.delete(path(resource_id))

    assert (update.status, update.message, update.body) == (403, NO_UPDATE, "")
    assert (delete.status, delete.message, delete.body) == (403, NO_DELETE, "")
    assert digest() == before


def test_there_is_no_update_by_post(ada):
    assert ada.client.post(path(make.resource(ada)), {"name": "new"}).status == 404


def test_an_update_without_secrets_keeps_them(ada, betty):
    """IN05"""
    resource_id = make.resource(ada, {betty: READ})
    before = [secret_of(who, resource_id) for who in (ada, betty)]

    for nothing in ({}, {"secrets": None}, {"secrets": ""}, {"secrets": []}):
        assert ada.client.put(path(resource_id), {"name": "new", **nothing}).status == 200

    assert [secret_of(who, resource_id) for who in (ada, betty)] == before


def test_an_update_renews_the_secret_of_everybody_with_access(time, ada, betty, carol, store):
    resource_id = make.resource(ada, {betty: UPDATE, carol: READ})
    before = ada.client.get(f"/secrets/resource/{resource_id}.json").body
    time.pass_by(minutes=2)
    sent = secrets(carol, ada, betty)

    response = betty.client.put(path(resource_id), {"secrets": sent})

    assert response.status == 200
    assert response.body["data"] == sent[2]["data"]
    assert [secret_of(who, resource_id) for who in (carol, ada, betty)] == [
        each["data"] for each in sent
    ]
    after = ada.client.get(f"/secrets/resource/{resource_id}.json").body
    assert after["id"] != before["id"]
    assert (after["created"], after["created_by"]) == ("2026-11-21T12:02:00+00:00", betty.id)
    assert sorted(actions(store, resource_id)) == [
        *["Resource.Secrets.read"] * 2,
        "Resource.Secrets.updated",
        "Resources.updated",
    ]


def incomplete(response: Response) -> None:
    assert (response.status, response.message) == (400, INVALID)
    assert response.body == {
        "secrets": {
            "secrets_provided": "The secrets should contain the secrets of all the users "
            "having access to the resource."
        }
    }


def test_no_secret_may_be_missing(ada, betty, digest):
    """IN02"""
    resource_id = make.resource(ada, {betty: READ})
    before = digest()

    incomplete(ada.client.put(path(resource_id), {"name": "new", "secrets": secrets(ada)}))
    assert digest() == before


def test_no_secret_may_be_for_somebody_without_access(ada, betty, carol, digest):
    """IN03"""
    resource_id = make.resource(ada, {betty: READ})
    before = digest()

    for sent in (secrets(ada, betty, carol), secrets(ada, carol)):
        incomplete(ada.client.put(path(resource_id), {"secrets": sent}))
    assert digest() == before


def test_nobody_gets_two_secrets(ada, betty, digest):
    """IN04"""
    resource_id = make.resource(ada, {betty: READ})
    before = digest()

    for sent in (secrets(ada, betty, betty), secrets(ada, ada)):
        incomplete(ada.client.put(path(resource_id), {"secrets": sent}))
    upper = [{**each, "user_id": each["user_id"].upper()} for each in secrets(ada)]
    incomplete(ada.client.put(path(resource_id), {"secrets": secrets(ada) + upper}))
    assert digest() == before


def test_a_suspended_user_keeps_getting_their_secrets(ada, betty, digest):
    resource_id = make.resource(ada, {betty: READ})
    people.suspend(betty)

    incomplete(ada.client.put(path(resource_id), {"secrets": secrets(ada)}))
    assert ada.client.put(path(resource_id), {"secrets": secrets(ada, betty)}).status == 200


def test_members_of_a_group_need_a_secret_each(ada, betty, carol):
    resource_id = make.resource(ada, {make.group(betty, carol): UPDATE})

    incomplete(carol.client.put(path(resource_id), {"secrets": secrets(ada, betty)}))
    sent = secrets(ada, betty, carol)
    assert carol.client.put(path(resource_id), {"secrets": sent}).status == 200
    assert secret_of(betty, resource_id) == sent[1]["data"]


def test_all_bad_secrets_are_told(ada, digest):
    resource_id = make.resource(ada)
    before = digest()
    sent = [{"data": PGP}, {"user_id": "x", "data": ""}, {"user_id": ada.id}]

    response = ada.client.put(path(resource_id), {"secrets": sent})

    assert {
        row: {field: set(broken) for field, broken in fields.items()}
        for row, fields in response.body["secrets"].items()
    } == {
        "0": {"user_id": {"_required"}},
        "1": {"user_id": {"uuid"}, "data": {"_empty"}},
        "2": {"data": {"_required"}},
    }
    assert digest() == before


def test_wrong_secrets_are_told_with_all_else_that_stored_data_forbid(ada):
    resource_id = make.resource(ada)
    delete_type(resource_types.TOTP)
    sent = {
        "resource_type_id": resource_types.TOTP.id,
        "secrets": [{"user_id": UNKNOWN, "data": PGP}],
    }

    assert rules(ada.client.put(path(resource_id), sent)) == {"resource_type_id", "secrets"}


def test_members_of_a_group_have_its_permission(ada, betty, carol):
    dave = make.user("dave")
    resource_id = make.resource(
        ada, {make.group(betty, carol): READ, make.group(carol): UPDATE, dave: READ}
    )

    assert betty.client.get(path(resource_id)).status == 200
    assert betty.client.put(path(resource_id), {"name": "new"}).status == 403
    assert carol.client.put(path(resource_id), {"name": "new"}).status == 200
    assert dave.client.put(path(resource_id), {"name": "new"}).status == 403


# Deletion


def test_a_deletion_is_for_everybody_and_for_good(ada, betty, carol, store, digest):
    """I8, I9, AC30"""
    resource_id = make.resource(
        ada, {betty: UPDATE, carol: READ}, username="u", uri="u", description="d"
    )

    response = betty.client.delete(path(resource_id))

    assert (response.status, response.message, response.body) == (200, DELETED, None)
    row = stored(resource_id)
    assert (row.deleted, row.permissions, row.live_type_id) == (True, {}, None)
    assert (row.name, row.username, row.uri, row.description) == ("mail", None, None, None)
    assert (row.modified_by, row.version) == (betty.id, 2)
    assert [secret_of(who, resource_id) for who in (ada, betty, carol)] == [None] * 3
    assert actions(store, resource_id) == ["Resources.deleted"]
    before = digest()
    for who in (ada, betty, carol):
        assert who.client.get("/resources.json").body == []
        answers = [
            who.client.get(path(resource_id)),
            who.client.put(path(resource_id), {"name": "new"}),
            who.client.delete(path(resource_id)),
        ]
        assert [(each.status, each.message) for each in answers] == [(404, MISSING)] * 3
        assert who.client.get(f"/secrets/resource/{resource_id}.json").status == 404
    assert digest() == before


def test_a_deletion_takes_the_secrets_of_a_groups_members(ada, betty, carol):
    """I9"""
    resource_id = make.resource(ada, {make.group(betty, carol): READ})

    ada.client.delete(path(resource_id))

    assert [secret_of(who, resource_id) for who in (ada, betty, carol)] == [None] * 3


def test_a_resource_of_a_deleted_type_is_not_deleted(ada, betty, carol, digest):
    resource_id = make.resource(ada, {betty: READ})
    delete_type(resource_types.PASSWORD_STRING)
    before = digest()

    response = ada.client.delete(path(resource_id))

    assert (response.status, response.message) == (400, "Could not delete the resource.")
    assert response.body == {
        "resource_type_id": {
            "resource_type_not_exists": "The resource type for this resource does not exist."
        }
    }
    assert betty.client.delete(path(resource_id)).status == 403
    assert carol.client.delete(path(resource_id)).status == 404
    assert digest() == before


def test_times_never_go_back(time, ada):
    """FT17"""
    time.pass_by(minutes=2)
    resource_id = created(ada)["id"]
    time.pass_by(minutes=-1)

    body = ada.client.put(path(resource_id), {"name": "new"}).body
    assert body["modified"] == "2026-11-21T12:02:00+00:00"
    ada.client.delete(path(resource_id))
    assert stored(resource_id).modified.isoformat() == body["modified"]


@pytest.mark.parametrize("entry", [None, {}, {"user_id": UNKNOWN, "data": "x"}])
def test_a_hundred_thousand_secrets_are_refused_whole(betty, digest, entry):
    """NP24"""
    resource_id = make.resource(betty)
    before = digest()
    body = {"name": "mail", "secrets": [entry] * 100_000}

    created = betty.client.post("/resources.json", body)
    updated = betty.client.put(f"/resources/{resource_id}.json", body)

    assert {created.status, updated.status} <= {400, 413}
    assert digest() == before
