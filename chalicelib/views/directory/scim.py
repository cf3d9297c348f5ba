"""How people and groups look to a directory, and what the service says of itself (RFC 7643)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.directory.scim import filters, schemas, words
from chalicelib.domain.directory.scim.filters import Filter
from chalicelib.domain.directory.scim.schemas import MOST_RESULTS
from chalicelib.services.directory import scim_groups, scim_users
from chalicelib.views.directory.scim_settings import base_of

Json = dict[str, Any]


def person(found: scim_users.Found, setting_id: str) -> Json:
    user, state = found.user, found.state
    created = user.scim_created or user.created
    return {
        "schemas": [words.USER],
        "id": user.id,
        **_external(state.external_id),
        "meta": _meta("User", location(setting_id, "Users", user.id), created, user.modified)
        | {"version": found.version},
        "userName": state.user_name,
        "name": {
            "formatted": f"{state.given_name} {state.family_name}",
            "familyName": state.family_name,
            "givenName": state.given_name,
        },
        "active": state.active,
        "emails": [{"value": state.address, "type": words.WORK, "primary": True}],
    }


def team(found: scim_groups.Found, setting_id: str) -> Json:
    group, state = found.group, found.state
    created = group.scim_created or group.created
    modified = max(group.modified, group.scim_modified or group.modified)
    members = [_member(user_id, setting_id) for user_id in sorted(state.members - found.late)]
    return {
        "schemas": [words.GROUP],
        "id": group.id,
        **_external(state.external_id),
        "meta": _meta("Group", location(setting_id, "Groups", group.id), created, modified)
        | ({"version": found.version} if found.is_whole else {}),
        "displayName": state.name,
        **({"members": members} if members else {}),
    }


def location(setting_id: str, kind: str, identifier: str) -> str:
    return f"{base_of(setting_id)}/{kind}/{identifier}"


def matching(resources: Iterable[Json], wanted: Filter | None) -> list[Json]:
    """Those of them who are as a filter says."""
    if wanted is None:
        return list(resources)
    return [each for each in resources if wanted.holds(filters.values_of(each))]


def listed(resources: Sequence[Json], total: int, start: int) -> Json:
    """A page of a list."""
    return {
        "schemas": [words.LIST],
        "totalResults": total,
        "startIndex": start,
        "itemsPerPage": len(resources),
        "Resources": list(resources),
    }


def configuration(setting_id: str) -> Json:
    scheme = {
        "type": "oauthbearertoken",
        "name": "OAuth Bearer Token",
        "description": "The token of the SCIM settings, as a bearer token.",
        "primary": True,
    }
    return {
        "schemas": [words.CONFIGURATION],
        "patch": {"supported": True},
        "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": MOST_RESULTS},
        "changePassword": {"supported": False},
        "sort": {"supported": False},
        "etag": {"supported": True},
        "authenticationSchemes": [scheme],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": f"{base_of(setting_id)}/ServiceProviderConfig",
        },
    }


def resource_types(setting_id: str) -> Mapping[str, Json]:
    """The kinds of resources there are, by their names."""
    about = {"User": words.USER, "Group": words.GROUP}
    return {name: _resource_type(name, schema, setting_id) for name, schema in about.items()}


def schemas_of(setting_id: str) -> Mapping[str, Json]:
    """What resources consist of, by the identifiers of the schemas."""
    return {
        identifier: {
            "schemas": [words.SCHEMA],
            **schema,
            "meta": {
                "resourceType": "Schema",
                "location": location(setting_id, "Schemas", identifier),
            },
        }
        for identifier, schema in schemas.SCHEMAS.items()
    }


def discovered(resources: Collection[Json]) -> Json:
    """All of what the service says of itself at one place; such a list has no pages."""
    return listed(list(resources), len(resources), 1)


def _resource_type(name: str, schema: str, setting_id: str) -> Json:
    return {
        "schemas": [words.RESOURCE_TYPE],
        "id": name,
        "name": name,
        "endpoint": f"/{name}s",
        "description": schemas.SCHEMAS[schema]["description"],
        "schema": schema,
        "schemaExtensions": [],
        "meta": {
            "resourceType": "ResourceType",
            "location": location(setting_id, "ResourceTypes", name),
        },
    }


def _member(user_id: str, setting_id: str) -> Json:
    return {"value": user_id, "$ref": location(setting_id, "Users", user_id), "type": "User"}


def _external(identifier: str | None) -> Json:
    return {} if identifier is None else {"externalId": identifier}


def _meta(kind: str, where: str, created: datetime, modified: datetime) -> Json:
    return {
        "resourceType": kind,
        "created": _moment(created),
        "lastModified": _moment(max(created, modified)),
        "location": where,
    }


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
