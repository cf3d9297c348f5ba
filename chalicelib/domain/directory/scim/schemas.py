"""What users and groups consist of, as the service describes it to whoever asks.

The same description says what filters may ask for (`attributes`), so that the two agree. Required
is what each of them always has; what cannot be changed after it was said once is immutable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chalicelib.domain.directory.scim import words
from chalicelib.domain.directory.scim.filters import Attributes, Kind

Json = dict[str, Any]
MOST_RESULTS = 200
"""Resources of one answer."""
USUAL_RESULTS = 25
"""Where the client does not say how many it wants."""


def _attribute(name: str, description: str, kind: str = "string", **said: Any) -> Json:
    usual: Json = {
        "name": name,
        "type": kind,
        "multiValued": False,
        "description": description,
        "required": False,
        "caseExact": False,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    }
    return usual | said


_NAME = (
    _attribute("givenName", "The first name.", required=True),
    _attribute("familyName", "The last name.", required=True),
    _attribute(
        "formatted",
        "Both names; shown where it is asked for.",
        mutability="readOnly",
        returned="request",
    ),
)
_EMAIL = (
    _attribute("value", "The address.", required=True, mutability="immutable"),
    _attribute(
        "type",
        "What the address is for: work.",
        required=True,
        canonicalValues=[words.WORK],
        mutability="immutable",
    ),
    _attribute(
        "primary", "Whether it is the first one to write to.", "boolean", mutability="readOnly"
    ),
)
_MEMBER = (
    _attribute(
        "value",
        "The identifier of the user.",
        required=True,
        caseExact=True,
        mutability="immutable",
    ),
    _attribute(
        "$ref",
        "Where the user is found.",
        "reference",
        referenceTypes=["User"],
        caseExact=True,
        mutability="immutable",
    ),
    _attribute(
        "type",
        "What the member is: a user.",
        canonicalValues=["User"],
        mutability="immutable",
    ),
)
USER: Json = {
    "id": words.USER,
    "name": "User",
    "description": "A person who has an account, or is invited to set one up.",
    "attributes": [
        _attribute(
            "userName",
            "What the directory calls the person; they sign in by their e-mail address.",
            required=True,
            uniqueness="server",
        ),
        _attribute("name", "Their names.", "complex", required=True, subAttributes=list(_NAME)),
        _attribute(
            "active",
            "Whether they may use the service; who may not is signed out at once.",
            "boolean",
            required=True,
        ),
        _attribute(
            "emails",
            "The address they sign in with and get mails at.",
            "complex",
            multiValued=True,
            required=True,
            mutability="immutable",
            uniqueness="server",
            subAttributes=list(_EMAIL),
        ),
    ],
}
GROUP: Json = {
    "id": words.GROUP,
    "name": "Group",
    "description": "Users who are given access together, as the directory says.",
    "attributes": [
        _attribute("displayName", "What the group is called.", required=True, uniqueness="server"),
        _attribute(
            "members",
            "Users of the group, and those who belong to it once they have set up.",
            "complex",
            multiValued=True,
            subAttributes=list(_MEMBER),
        ),
    ],
}
SCHEMAS: Mapping[str, Json] = {words.USER: USER, words.GROUP: GROUP}
_COMMON: Attributes = {
    "id": Kind.EXACT,
    "externalid": Kind.EXACT,
    "meta.resourcetype": Kind.EXACT,
    "meta.created": Kind.MOMENT,
    "meta.lastmodified": Kind.MOMENT,
    "meta.version": Kind.EXACT,
}


def attributes(schema: Json) -> Attributes:
    """What a filter may ask of resources of a schema, by their lower-case names."""
    return {**_COMMON, **dict(_kinds(schema["attributes"]))}


def always_shown() -> frozenset[str]:
    return frozenset({"schemas", "id"})


def shown_on_request() -> frozenset[str]:
    """The lower-case paths of what is shown to whoever names it, and to nobody else."""
    return frozenset({"name.formatted"})


def _kinds(described: Sequence[Json], above: str = "") -> Iterator[tuple[str, Kind]]:
    for each in described:
        path = f"{above}{each['name'].lower()}"
        parts = each.get("subAttributes", ())
        inside = dict(_kinds(parts, f"{path}."))
        if not parts:
            yield path, _kind(each)
        else:
            yield path, inside.get(f"{path}.value", Kind.GROUP)
            yield from inside.items()


def _kind(described: Json) -> Kind:
    if described["type"] == "boolean":
        return Kind.BOOLEAN
    return Kind.EXACT if described["caseExact"] else Kind.TEXT


USER_ATTRIBUTES = attributes(USER)
GROUP_ATTRIBUTES = attributes(GROUP)
