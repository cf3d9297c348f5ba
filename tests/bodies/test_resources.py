from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.resources import (
    V4Creation,
    V4Update,
    V5Creation,
    V5Touch,
    V5Update,
    format_of,
    read_creation,
    read_update,
)
from chalicelib.bodies.openpgp import LONGEST_SECRET
from chalicelib.bodies.rules import UNSET
from chalicelib.dialect import dialect
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.resource_types import Format
from tests.bodies.samples import ADA, FOLDER, KEY, PGP

TOTP = resource_types.TOTP.id
V5_DEFAULT = resource_types.V5_DEFAULT.id
METADATA = {"metadata": PGP, "metadata_key_id": KEY, "metadata_key_type": "shared_key"}
V4 = {"name": "mail", "secrets": [{"data": PGP}]}
V5 = METADATA | {"resource_type_id": V5_DEFAULT, "secrets": [{"data": PGP}]}


def create(payload: object) -> V4Creation | V5Creation:
    return read_creation(Draft(V4Creation, payload), KEY)


def update(payload: object, stored: Format = Format.V4) -> V4Update | V5Touch | V5Update:
    return read_update(Draft(V4Update, payload), KEY, stored)


def creation_errors(payload: object) -> FieldErrors:
    with pytest.raises(Invalid) as refused:
        create(payload)
    assert refused.value.message == "Could not validate resource data."
    assert refused.value.errors
    return refused.value.errors


def update_errors(payload: object, stored: Format = Format.V4) -> FieldErrors:
    with pytest.raises(Invalid) as refused:
        update(payload, stored)
    assert refused.value.message == "Could not validate resource data."
    assert refused.value.errors
    return refused.value.errors


@pytest.mark.parametrize(
    ("payload", "format_"),
    [
        ({}, None),
        ({"expired": None, "secrets": []}, None),
        ({"resource_type_id": V5_DEFAULT}, None),
        ({"metadata": None, "metadata_key_id": None, "metadata_key_type": None}, None),
        ({"name": "a"}, Format.V4),
        ({"username": None}, None),
        ({"username": ""}, Format.V4),
        ({"name": "a", "metadata": None}, Format.V4),
        (METADATA, Format.V5),
        (METADATA | {"name": None, "uri": None}, Format.V5),
        ({"metadata": PGP, "metadata_key_type": "user_key"}, Format.V5),
        ({"metadata": PGP, "metadata_key_type": "user_key", "metadata_key_id": None}, Format.V5),
    ],
)
def test_the_format_is_read_from_the_descriptive_fields(payload, format_):
    assert format_of(payload, KEY) is format_


@pytest.mark.parametrize("missing", ["metadata", "metadata_key_id", "metadata_key_type"])
def test_v5_fields_come_together(missing):
    for payload in (METADATA | {missing: None}, {k: METADATA[k] for k in METADATA if k != missing}):
        with pytest.raises(Invalid, match=r"^Few fields are missing for the V5\.$") as refused:
            format_of(payload | {"name": "a"}, KEY)
        assert refused.value.errors is None


@pytest.mark.parametrize("field", ["name", "username", "uri", "description"])
@pytest.mark.parametrize("value", ["", "a", 5, []])
def test_v4_fields_do_not_mix_with_v5(field, value):
    with pytest.raises(Invalid, match=r"^V4 related fields are not supported for V5\.$"):
        format_of(METADATA | {field: value}, KEY)


def test_a_v4_resource_needs_a_name_and_a_secret():
    body = create(V4)

    assert isinstance(body, V4Creation)
    assert body.name == "mail"
    assert body.resource_type_id == resource_types.PASSWORD_STRING.id
    assert body.secrets[0].data == PGP
    assert (body.username, body.uri, body.description, body.expired) == (None,) * 4


def test_a_v4_resource_takes_all_its_fields():
    fields = {
        "username": "",
        "uri": "https://example.com",
        "description": "😀",
        "expired": "2031-01-01T00:00:00+01:00",
        "resource_type_id": TOTP.upper(),
        "folder_parent_id": FOLDER,
        "deleted": True,
        "personal": "maybe",
        "resource_type": {},
    }

    body = create(V4 | fields)

    assert isinstance(body, V4Creation)
    assert body.username == ""
    assert body.description == "😀"
    assert body.expired == datetime(2030, 12, 31, 23, tzinfo=UTC)
    assert body.resource_type_id == TOTP
    assert body.folder_parent_id == FOLDER


def test_an_empty_creation_lacks_name_and_secret():
    """NP06."""
    for payload in ({}, None, [], ["a"], "text", 5):
        assert creation_errors(payload) == {
            "name": {"_required": "A name is required."},
            "secrets": {"_required": "The owner secret is required."},
        }


def test_names_may_be_as_long_as_the_dialect_says():
    """NP09."""
    longest = dialect.longest_name
    for sign in ("a", "é", "漢", "😀", "\u0301"):
        create(V4 | {"name": sign * longest, "username": sign * longest})
        errors = creation_errors(V4 | {"name": sign * (longest + 1), "username": sign * 256})
        assert errors == {
            field: {"maxLength": f"The {field} length should be maximum {longest} characters."}
            for field in ("name", "username")
        }


@pytest.mark.parametrize(
    ("field", "value", "rules"),
    [
        ("name", None, {"_empty"}),
        ("name", "", {"_empty"}),
        ("name", 5, {"utf8Extended"}),
        ("name", {}, {"utf8Extended", "maxLength"}),
        ("name", "\x00", {"utf8Extended"}),
        ("username", [], {"utf8Extended", "maxLength"}),
        ("uri", "😀", {"utf8"}),
        ("uri", "a" * 1_025, {"maxLength"}),
        ("uri", 5, {"utf8"}),
        ("description", "a" * 10_001, {"maxLength"}),
        ("expired", "tomorrow", {"expired"}),
        ("expired", True, {"expired"}),
        ("folder_parent_id", "", {"uuid"}),
        ("folder_parent_id", 5, {"uuid"}),
        ("resource_type_id", "x", {"uuid", "inList"}),
        ("resource_type_id", "", {"uuid", "inList"}),
        ("resource_type_id", ADA, {"inList"}),
        ("resource_type_id", V5_DEFAULT, {"inList"}),
        ("secrets", None, {"_empty"}),
        ("secrets", [{"data": PGP}, {"data": PGP}], {"hasAtMost"}),
        ("secrets", [{"data": PGP}] * 100_000, {"hasAtMost"}),
    ],
)
def test_a_creation_names_the_broken_rules(field, value, rules):
    """NP07."""
    errors = creation_errors(V4 | {field: value})

    assert set(errors) == {field}
    assert set(errors[field]) == rules


def test_exact_messages_of_a_v4_creation():
    errors = creation_errors(
        {"name": "a", "secrets": None, "resource_type_id": ADA, "expired": "soon"}
    )

    assert errors == {
        "secrets": {"_empty": "The secrets should not be empty."},
        "resource_type_id": {
            "inList": "The resource type should be one of the following: password-string, "
            "password-and-description, totp, password-description-totp."
        },
        "expired": {"expired": "The date could not be parsed."},
    }
    assert creation_errors(V4 | {"secrets": [{}, {}]})["secrets"] == {
        "hasAtMost": "The secrets should contain only the secret of the owner."
    }


NO_MESSAGE = {
    "isValidOpenPGPMessage": "The message should be a valid ASCII-armored OpenPGP message."
}


@pytest.mark.parametrize("secrets", ["", "text", [], ["text"], [None], [[]], {}, {"data": PGP}, 5])
def test_what_is_no_secret_lacks_data_and_user(secrets):
    """NP25."""
    errors = creation_errors(V4 | {"secrets": secrets})

    assert set(errors) == {"secrets"}
    assert set(errors["secrets"]) == {"0"}
    assert {field: set(rules) for field, rules in errors["secrets"]["0"].items()} == {
        "data": {"_required"},
        "user_id": {"_required"},
    }


def test_an_object_with_the_key_0_is_a_list_of_secrets():
    body = create(V4 | {"secrets": {"0": {"data": PGP, "user_id": 5}}})

    assert body.secrets[0].data == PGP


@pytest.mark.parametrize(
    ("data", "rules"),
    [
        (None, {"_empty"}),
        ("", {"_empty"}),
        ("!#*", {"isValidOpenPGPMessage"}),
        (5, {"ascii", "isValidOpenPGPMessage"}),
        ({}, {"ascii", "isValidOpenPGPMessage"}),
        ([PGP], {"ascii", "isValidOpenPGPMessage"}),
        (PGP + "é", {"ascii", "isValidOpenPGPMessage"}),
        ("\ud800", {"ascii", "isValidOpenPGPMessage"}),
        ("A" * (LONGEST_SECRET + 1), {"maxLength", "isValidOpenPGPMessage"}),
    ],
)
def test_a_secret_is_an_armored_message(data, rules):
    """NP10."""
    errors = creation_errors(V4 | {"secrets": [{"data": data}]})

    assert set(errors["secrets"]["0"]) == {"data"}
    assert set(errors["secrets"]["0"]["data"]) == rules
    if rules == {"isValidOpenPGPMessage"}:
        assert errors["secrets"]["0"]["data"] == NO_MESSAGE


def test_a_v5_resource_holds_metadata():
    body = create(V5)

    assert isinstance(body, V5Creation)
    assert (body.metadata, body.metadata_key_id, body.metadata_key_type) == (PGP, KEY, "shared_key")
    assert body.resource_type_id == V5_DEFAULT


def test_metadata_for_a_user_key_is_for_the_key_of_the_caller():
    body = create(V5 | {"metadata_key_type": "user_key", "metadata_key_id": None})

    assert isinstance(body, V5Creation)
    assert body.metadata_key_id == KEY


@pytest.mark.parametrize(
    ("field", "value", "rules"),
    [
        ("metadata", "", {"_empty"}),
        ("metadata", "é", {"ascii", "isMetadataParsable"}),
        ("metadata", 5, {"ascii", "isMetadataParsable"}),
        ("metadata_key_id", "", {"_empty"}),
        ("metadata_key_id", 5, {"uuid"}),
        ("metadata_key_type", "", {"_empty"}),
        ("metadata_key_type", 5, {"inList"}),
        ("metadata_key_type", ["user_key"], {"inList"}),
        ("resource_type_id", None, {"inList"}),
        ("resource_type_id", TOTP, {"inList"}),
        ("resource_type_id", "x", {"uuid", "inList"}),
    ],
)
def test_a_v5_creation_names_the_broken_rules(field, value, rules):
    errors = creation_errors(V5 | {field: value})

    assert set(errors) == {field}
    assert set(errors[field]) == rules


def test_an_empty_key_of_a_user_is_not_filled_in():
    errors = creation_errors(V5 | {"metadata_key_type": "user_key", "metadata_key_id": ""})

    assert set(errors["metadata_key_id"]) == {"_empty"}


def test_exact_messages_of_a_v5_creation():
    errors = creation_errors(V5 | {"metadata": "x", "resource_type_id": ADA})

    assert errors == {
        "metadata": {
            "isMetadataParsable": "The message should be a valid ASCII-armored OpenPGP message."
        },
        "resource_type_id": {
            "inList": "The resource type should be one of the following: v5-password-string, "
            "v5-default, v5-totp-standalone, v5-default-with-totp, v5-custom-fields, v5-note, "
            "v5-pin-code."
        },
    }


def test_an_update_keeps_what_was_not_sent():
    body = update({"uri": None, "expired": None})

    assert isinstance(body, V4Update)
    assert (body.uri, body.expired) == (None, None)
    assert body.resource_type_id is None
    assert {body.name, body.username, body.description, body.secrets} == {UNSET}


@pytest.mark.parametrize("name", [None, ""])
def test_an_update_does_not_take_the_name_away(name):
    assert set(update_errors({"name": name})["name"]) == {"_empty"}


@pytest.mark.parametrize("nothing", [None, "", []])
def test_an_update_may_send_no_secrets(nothing):
    assert update({"name": "a", "secrets": nothing}).secrets is UNSET


def test_secrets_of_an_update_name_their_users():
    body = update({"secrets": [{"user_id": ADA.upper(), "data": PGP}]})

    assert body.secrets is not UNSET
    assert [(secret.user_id, secret.data) for secret in body.secrets] == [(ADA, PGP)]


@pytest.mark.parametrize("secrets", ["text", ["text"], {}, {"a": 1}, 5, True])
def test_what_is_no_secret_of_an_update_lacks_user_and_data(secrets):
    """NP25."""
    errors = update_errors({"secrets": secrets})

    assert {field: set(rules) for field, rules in errors["secrets"]["0"].items()} == {
        "data": {"_required"},
        "user_id": {"_required"},
    }


def test_all_bad_secrets_of_an_update_are_reported():
    errors = update_errors({"secrets": [{"user_id": "x"}, {"user_id": ADA, "data": "x"}]})

    assert set(errors["secrets"]["0"]) == {"user_id", "data"}
    assert errors["secrets"]["1"] == {"data": NO_MESSAGE}


@pytest.mark.parametrize("user_id", [None, ""])
def test_a_secret_of_nobody_is_refused(user_id):
    errors = update_errors({"secrets": [{"user_id": user_id, "data": PGP}]})

    assert set(errors["secrets"]["0"]["user_id"]) == {"_empty"}


@pytest.mark.parametrize("value", [None, "", "x", 5, []])
def test_an_update_passes_over_what_it_does_not_change(value):
    update({"name": "a", "folder_parent_id": value, "permissions": value, "id": value})


def test_an_update_that_describes_nothing_keeps_the_stored_format():
    payload = {"expired": "2031-01-01", "resource_type_id": V5_DEFAULT}

    assert isinstance(update({"expired": None}, Format.V4), V4Update)
    assert isinstance(update(payload, Format.V5), V5Touch)
    assert set(update_errors(payload, Format.V4)["resource_type_id"]) == {"inList"}


def test_an_update_with_metadata_is_v5_whatever_was_stored():
    for stored in Format:
        body = update(METADATA | {"resource_type_id": V5_DEFAULT}, stored)
        assert isinstance(body, V5Update)
        assert body.secrets is UNSET


def test_bodies_do_not_show_what_they_hold():
    for body in (create(V4), create(V5), update(V4 | {"secrets": [{"user_id": ADA, "data": PGP}]})):
        assert "mail" not in repr(body)
        assert "PGP" not in repr(body)


_values = st.sampled_from([None, "", "a", 5, True, [], ["a"], {}, {"0": 1}, PGP, ADA, "user_key"])


@given(
    payload=st.dictionaries(
        st.sampled_from(
            [
                "name",
                "username",
                "uri",
                "description",
                "expired",
                "resource_type_id",
                "secrets",
                "metadata",
                "metadata_key_id",
                "metadata_key_type",
                "folder_parent_id",
            ]
        ),
        _values,
    ),
    stored=st.sampled_from(Format),
)
def test_any_payload_is_read_or_refused(payload, stored):
    """NP07."""
    for read in (create, lambda sent: update(sent, stored)):
        try:
            read(payload)
        except Invalid as refused:
            message = refused.message
            assert refused.errors is not None or "V5" in message  # noqa: PT017
