from __future__ import annotations

from uuid import UUID, uuid5

import jsonschema_rs
import pytest

from chalicelib.domain.items import resource_types
from chalicelib.domain.items.resource_types import (
    BY_ID,
    PASSWORD_AND_DESCRIPTION,
    PASSWORD_STRING,
    RESOURCE_TYPES,
    TOTP,
    V5_CUSTOM_FIELDS,
    V5_DEFAULT,
    V5_DEFAULT_WITH_TOTP,
    V5_NOTE,
    V5_PIN_CODE,
    Format,
)
from chalicelib.domain.users.locales import DEFAULT, LOCALES, find_locale

IDS = {
    "password-string": "669f8c64-242a-59fb-92fc-81f660975fd3",
    "password-and-description": "a28a04cd-6f53-518a-967c-9963bf9cec51",
    "totp": "05ba5c75-504d-5ad6-819a-83af68867d86",
    "password-description-totp": "8cca88d9-a3f6-56df-b860-3ef08de5c5c4",
    "v5-password-string": "761e5863-e17e-5ded-b3c2-76ffd5d0a2dc",
    "v5-default": "dd1f723d-0d1e-513f-8218-4055dc0530d0",
    "v5-totp-standalone": "bb2280b5-c4d9-569c-9337-62b307f1139c",
    "v5-default-with-totp": "7438294d-f71c-5164-ba95-d9e60e295564",
    "v5-custom-fields": "0551544e-2ccd-5ce8-95cf-86f0aab0f827",
    "v5-note": "0a72c76b-b8e6-53f0-8bef-0a8ca6b5c764",
    "v5-pin-code": "4357bbc7-ed4d-52ff-b59d-9f7f17881bb3",
}
A_TOTP = {"secret_key": "JBSWY3DPEHPK3PXP", "digits": 6, "algorithm": "SHA1", "period": 30}
FIELD = {"id": IDS["totp"], "type": "text", "secret_key": "a", "secret_value": 5}
DATA = {"object_type": "PASSBOLT_SECRET_DATA"}


def holds(schema, value) -> bool:
    return jsonschema_rs.is_valid(schema, value)


def secret_schema(kind):
    return kind.definition(64)["secret"]


def resource_schema(kind, longest_name=64):
    return kind.definition(longest_name)["resource"]


def test_identifiers_are_those_clients_know():
    assert {kind.slug: kind.id for kind in RESOURCE_TYPES} == IDS
    assert [kind.slug for kind in RESOURCE_TYPES] == list(IDS)
    assert list(BY_ID) == list(IDS.values())


@pytest.mark.parametrize("kind", RESOURCE_TYPES, ids=lambda kind: kind.slug)
def test_an_identifier_is_made_from_the_slug(kind):
    namespace = UUID("d5447ca1-950f-459d-8b20-86ddfdd0f922")

    assert kind.id == str(uuid5(namespace, f"resource-types.id.{kind.slug}"))


@pytest.mark.parametrize("kind", RESOURCE_TYPES, ids=lambda kind: kind.slug)
def test_a_definition_holds_two_valid_schemas(kind):
    definition = kind.definition(64)

    assert list(definition) == ["resource", "secret"]
    for schema in definition.values():
        jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize("kind", RESOURCE_TYPES, ids=lambda kind: kind.slug)
def test_every_resource_has_a_name_first_of_all(kind):
    custom_fields = {"custom_fields": []} if kind is V5_CUSTOM_FIELDS else {}

    assert holds(resource_schema(kind), {"name": "mail", **custom_fields})
    assert not holds(resource_schema(kind), custom_fields)


def test_v4_names_are_as_long_as_is_asked():
    for kind in resource_types.of_format(Format.V4):
        assert holds(resource_schema(kind, 64), {"name": "a" * 64})
        assert not holds(resource_schema(kind, 64), {"name": "a" * 65})
        assert holds(resource_schema(kind, 255), {"name": "a" * 255})
    assert not holds(resource_schema(PASSWORD_STRING, 64), {"name": "a", "username": "a" * 65})


def test_v5_names_are_as_long_as_clients_know_them():
    for kind in resource_types.of_format(Format.V5):
        assert resource_schema(kind, 64)["properties"]["name"]["maxLength"] == 255


def test_four_types_are_v4_and_seven_are_v5():
    assert len(resource_types.of_format(Format.V4)) == 4
    assert len(resource_types.of_format(Format.V5)) == 7


RESOURCE_MEMBERS = {
    "password-string": "name username uri description",
    "password-and-description": "name username uri",
    "password-description-totp": "name username uri",
    "totp": "name uri",
    "v5-password-string": "name username uris description icon",
    "v5-default": "name username uris description icon custom_fields",
    "v5-default-with-totp": "name username uris description icon custom_fields",
    "v5-totp-standalone": "name uris description icon",
    "v5-note": "name uris description icon",
    "v5-custom-fields": "name uris description icon custom_fields",
    "v5-pin-code": "name description icon",
}
SECRET_MEMBERS = {
    "password-and-description": ("password", "password description"),
    "totp": ("totp", "totp"),
    "password-description-totp": ("password totp", "password description totp"),
    "v5-default": ("password", "object_type password description custom_fields"),
    "v5-default-with-totp": (
        "password totp",
        "object_type password description custom_fields totp",
    ),
    "v5-totp-standalone": ("totp", "object_type totp"),
    "v5-custom-fields": ("object_type custom_fields", "object_type custom_fields"),
    "v5-note": ("description object_type", "object_type description"),
    "v5-pin-code": ("pin_code object_type", "object_type pin_code description"),
}


@pytest.mark.parametrize("kind", RESOURCE_TYPES, ids=lambda kind: kind.slug)
def test_a_definition_names_the_members_of_its_type(kind):
    assert list(resource_schema(kind)["properties"]) == RESOURCE_MEMBERS[kind.slug].split()
    if kind.slug not in SECRET_MEMBERS:
        assert secret_schema(kind) == {"type": "string", "maxLength": 4096}
        return
    required, members = SECRET_MEMBERS[kind.slug]
    assert secret_schema(kind)["required"] == required.split()
    assert list(secret_schema(kind)["properties"]) == members.split()


@pytest.mark.parametrize(
    ("kind", "secret", "is_valid"),
    [
        (PASSWORD_STRING, "a" * 4096, True),
        (PASSWORD_STRING, "a" * 4097, False),
        (PASSWORD_AND_DESCRIPTION, {"password": "a", "description": None}, True),
        (PASSWORD_AND_DESCRIPTION, {"description": "a"}, False),
        (TOTP, {"totp": A_TOTP}, True),
        (TOTP, {"totp": A_TOTP | {"digits": 9}}, False),
        (TOTP, {"totp": A_TOTP | {"algorithm": "SHA"}}, False),
        (V5_DEFAULT, {"password": "a", "custom_fields": [FIELD], **DATA}, True),
        (V5_DEFAULT, {"password": "a", "custom_fields": [FIELD] * 129}, False),
        (V5_DEFAULT, {"password": None}, False),
        (V5_DEFAULT_WITH_TOTP, {"password": "a", "totp": A_TOTP}, True),
        (V5_DEFAULT_WITH_TOTP, {"password": "a"}, False),
        (V5_CUSTOM_FIELDS, {"custom_fields": [FIELD]}, False),
        (V5_CUSTOM_FIELDS, {"custom_fields": [FIELD | {"type": "date"}], **DATA}, False),
        (V5_NOTE, {"description": "a" * 50_000, **DATA}, True),
        (V5_NOTE, {"description": "a", "object_type": "other"}, False),
        (V5_PIN_CODE, {"pin_code": "1234", **DATA}, True),
        (V5_PIN_CODE, {"pin_code": "12a4", **DATA}, False),
    ],
)
def test_a_secret_is_checked_as_clients_do(kind, secret, is_valid):
    assert holds(secret_schema(kind), secret) is is_valid


@pytest.mark.parametrize(
    ("icon", "is_valid"),
    [
        ({}, True),
        ({"type": "keepass-icon-set", "value": 0, "background_color": "#a1B2c3"}, True),
        ({"background_color": None}, True),
        ({"background_color": "red"}, False),
        ({"value": -1}, False),
    ],
)
def test_an_icon_has_a_colour_or_none(icon, is_valid):
    assert holds(resource_schema(V5_DEFAULT), {"name": "a", "icon": icon}) is is_valid


def test_seventeen_languages_are_known_by_their_own_names():
    assert len(LOCALES) == 17
    assert DEFAULT in LOCALES
    assert all(LOCALES.values())


@pytest.mark.parametrize(
    ("text", "locale"),
    [("fr-FR", "fr-FR"), ("fr_FR", "fr-FR"), ("fr", None), ("xx-XX", None), ("", None), (5, None)],
)
def test_a_locale_may_be_written_with_an_underscore(text, locale):
    assert find_locale(text) == locale
