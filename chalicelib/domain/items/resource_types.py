"""The resource types: what a resource may hold, as clients know it by fixed identifiers.

A definition is the JSON schema of the clear text of a resource and of its secret. Clients
check what they write and read against it; the server sees neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import StrEnum
from typing import Any

from chalicelib.domain.ids import ResourceTypeId, named_id
from chalicelib.domain.light import dataclass

Schema = dict[str, Any]


class Format(StrEnum):
    V4 = "v4"
    """Name, username, uri and description in clear."""
    V5 = "v5"
    """All of them in one encrypted metadata message."""


@dataclass(frozen=True, slots=True)
class ResourceType:
    slug: str
    name: str
    description: str
    format: Format
    resource_schema: Callable[[int], Schema] = field(repr=False)
    """Schema of the descriptive fields, given the longest v4 name and username."""
    secret_schema: Schema = field(repr=False)
    id: ResourceTypeId

    def definition(self, longest_name: int) -> Schema:
        return {"resource": self.resource_schema(longest_name), "secret": self.secret_schema}


def _text(longest: int) -> Schema:
    return {"type": "string", "maxLength": longest}


def _text_or_null(longest: int) -> Schema:
    return {"anyOf": [_text(longest), {"type": "null"}]}


def _object(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", "required": required, "properties": properties}


def _custom_fields(**parts: Schema) -> Schema:
    kinds = ["text", "password", "boolean", "number", "uri"]
    return {
        "type": "array",
        "maxItems": 128,
        "items": _object(
            ["id", "type"],
            id={"type": "string", "format": "uuid"},
            type={"type": "string", "enum": kinds},
            **parts,
        ),
    }


_FIELD_VALUE: Schema = {
    "anyOf": [_text(20_000), {"type": "number"}, {"type": "boolean"}, {"type": "null"}]
}
_URI = _text_or_null(1_024)
_URIS: Schema = {"type": "array", "maxItems": 32, "items": _URI}
_DESCRIPTION = _text_or_null(10_000)
_ICON = _object(
    [],
    type={"type": "string", "enum": ["keepass-icon-set", "passbolt-icon-set"]},
    value={"type": "integer", "minimum": 0},
    background_color={
        "anyOf": [
            {"type": "string", "pattern": "^#(?:[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$"},
            {"type": "null"},
        ]
    },
)
_METADATA_FIELDS = _custom_fields(metadata_key=_text_or_null(255), metadata_value=_FIELD_VALUE)

_PASSWORD = _text(4_096)
_NOTE = _text_or_null(50_000)
_OBJECT_TYPE: Schema = {"type": "string", "enum": ["PASSBOLT_SECRET_DATA"]}
_TOTP = _object(
    ["secret_key", "digits", "algorithm"],
    algorithm={"type": "string", "minLength": 4, "maxLength": 6},
    secret_key=_text(1_024),
    digits={"type": "number", "minimum": 6, "exclusiveMaximum": 9},
    period={"type": "number"},
)
_SECRET_FIELDS = _custom_fields(secret_key=_text_or_null(255), secret_value=_FIELD_VALUE)
_PIN_CODE: Schema = {"type": "string", "minLength": 4, "maxLength": 12, "pattern": r"^\d+$"}


def _v4(*names: str) -> Callable[[int], Schema]:
    """A v4 resource with the optional columns `names`."""

    def schema(longest_name: int) -> Schema:
        columns = {
            "username": _text_or_null(longest_name),
            "uri": _URI,
            "description": _DESCRIPTION,
        }
        optional = {name: columns[name] for name in names}
        return _object(["name"], name=_text(longest_name), **optional)

    return schema


def _v5(*required: str, **properties: Schema) -> Callable[[int], Schema]:
    schema = _object(["name", *required], name=_text(255), **properties)
    return lambda _: schema


_V5_PASSWORD = {
    "username": _text_or_null(255),
    "uris": _URIS,
    "description": _DESCRIPTION,
    "icon": _ICON,
}
_V5_NOTE = {"uris": _URIS, "description": _DESCRIPTION, "icon": _ICON}


def _type(
    slug: str,
    name: str,
    description: str,
    resource: Callable[[int], Schema],
    secret: Schema,
) -> ResourceType:
    return ResourceType(
        slug=slug,
        name=name,
        description=description,
        format=Format.V5 if slug.startswith("v5-") else Format.V4,
        resource_schema=resource,
        secret_schema=secret,
        id=ResourceTypeId(named_id(f"resource-types.id.{slug}")),
    )


PASSWORD_STRING = _type(
    "password-string",
    "Simple password",
    "A password, and a description anyone with access to the list can read.",
    _v4("username", "uri", "description"),
    _PASSWORD,
)
PASSWORD_AND_DESCRIPTION = _type(
    "password-and-description",
    "Password with description",
    "A resource with the password and the description encrypted.",
    _v4("username", "uri"),
    _object(["password"], password=_PASSWORD, description=_DESCRIPTION),
)
TOTP = _type(
    "totp",
    "Standalone TOTP",
    "A resource with standalone TOTP fields.",
    _v4("uri"),
    _object(["totp"], totp=_TOTP),
)
PASSWORD_DESCRIPTION_TOTP = _type(
    "password-description-totp",
    "Password, Description and TOTP",
    "A resource with encrypted password, description and TOTP fields.",
    _v4("username", "uri"),
    _object(["password", "totp"], password=_PASSWORD, description=_DESCRIPTION, totp=_TOTP),
)
V5_PASSWORD_STRING = _type(
    "v5-password-string",
    "Simple Password (Deprecated)",
    "A password alone, kept for resources that were made before secrets had several fields.",
    _v5(**_V5_PASSWORD),
    _PASSWORD,
)
V5_DEFAULT = _type(
    "v5-default",
    "Default resource type",
    "A password with encrypted name, description and custom fields.",
    _v5(**_V5_PASSWORD, custom_fields=_METADATA_FIELDS),
    _object(
        ["password"],
        object_type=_OBJECT_TYPE,
        password=_PASSWORD,
        description=_NOTE,
        custom_fields=_SECRET_FIELDS,
    ),
)
V5_TOTP_STANDALONE = _type(
    "v5-totp-standalone",
    "Standalone TOTP",
    "A resource with standalone TOTP fields and encrypted metadata.",
    _v5(**_V5_NOTE),
    _object(["totp"], object_type=_OBJECT_TYPE, totp=_TOTP),
)
V5_DEFAULT_WITH_TOTP = _type(
    "v5-default-with-totp",
    "Default resource type with TOTP",
    "A password and a TOTP with encrypted name, description and custom fields.",
    _v5(**_V5_PASSWORD, custom_fields=_METADATA_FIELDS),
    _object(
        ["password", "totp"],
        object_type=_OBJECT_TYPE,
        password=_PASSWORD,
        description=_NOTE,
        custom_fields=_SECRET_FIELDS,
        totp=_TOTP,
    ),
)
V5_CUSTOM_FIELDS = _type(
    "v5-custom-fields",
    "Standalone custom fields",
    "A resource with standalone custom fields.",
    _v5("custom_fields", **_V5_NOTE, custom_fields=_METADATA_FIELDS),
    _object(
        ["object_type", "custom_fields"], object_type=_OBJECT_TYPE, custom_fields=_SECRET_FIELDS
    ),
)
V5_NOTE = _type(
    "v5-note",
    "Standalone note",
    "A resource with standalone notes.",
    _v5(**_V5_NOTE),
    _object(["description", "object_type"], object_type=_OBJECT_TYPE, description=_NOTE),
)
V5_PIN_CODE = _type(
    "v5-pin-code",
    "Standalone pin code",
    "A resource with a standalone pin code.",
    _v5(description=_DESCRIPTION, icon=_ICON),
    _object(
        ["pin_code", "object_type"],
        object_type=_OBJECT_TYPE,
        pin_code=_PIN_CODE,
        description=_NOTE,
    ),
)

RESOURCE_TYPES = (
    PASSWORD_STRING,
    PASSWORD_AND_DESCRIPTION,
    TOTP,
    PASSWORD_DESCRIPTION_TOTP,
    V5_PASSWORD_STRING,
    V5_DEFAULT,
    V5_TOTP_STANDALONE,
    V5_DEFAULT_WITH_TOTP,
    V5_CUSTOM_FIELDS,
    V5_NOTE,
    V5_PIN_CODE,
)
"""In the order of their list."""
BY_ID = {kind.id: kind for kind in RESOURCE_TYPES}
DEFAULT = PASSWORD_STRING
"""The type of a resource whose creator names none."""


def of_format(wanted: Format) -> tuple[ResourceType, ...]:
    return tuple(kind for kind in RESOURCE_TYPES if kind.format is wanted)
