"""What a directory says of a person or of a team, and how requests say it.

A request is read into what is to be stored in the end (`PersonState`, `TeamState`), whether it
sends all of it or changes a part: so one write follows from either. Attributes that SCIM knows and
this service does not keep are passed over, since provisioners send them along with the others; what
SCIM does not know is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from chalicelib.domain.directory.scim import words
from chalicelib.domain.directory.scim.words import (
    LONGEST_NAME,
    Unfit,
    folded_names,
    is_text,
    unchangeable,
    unfit_value,
)
from chalicelib.domain.folding import folded, is_key
from chalicelib.domain.ids import UserId, find_uuid
from chalicelib.domain.light import dataclass

State = TypeVar("State", "PersonState", "TeamState")
Read = Callable[[str, Any], Any]
"""Reads the value of an attribute."""
MOST_MEMBERS = 5_000
"""Members that one request may name; a group has no more."""
_PASSED_OVER = frozenset(
    {
        *("displayname", "nickname", "profileurl", "title", "usertype", "preferredlanguage"),
        *("locale", "timezone", "password", "phonenumbers", "ims", "photos", "addresses"),
        *("groups", "entitlements", "roles", "x509certificates"),
        *("employeenumber", "costcenter", "organization", "division", "department", "manager"),
    }
)
"""Attributes of people that SCIM knows and that nothing here depends on."""
_EXTENSION = words.ENTERPRISE.lower()
_PASSED_OVER_NAMES = frozenset({"formatted", "middlename", "honorificprefix", "honorificsuffix"})
_OURS = frozenset({"id", "meta", "schemas"})
"""What the service says of a resource, and what clients may send back and not change."""
_TRUE = frozenset({"true", "1"})
_FALSE = frozenset({"false", "0"})


@dataclass(frozen=True, slots=True)
class PersonState:
    user_name: str | None = None
    external_id: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    active: bool = True
    address: str | None = None
    """The work e-mail address, by which they sign in: it is said once."""

    def require_whole(self) -> PersonState:
        """Refuse somebody who lacks what everybody has."""
        for name, value in (
            ("userName", self.user_name),
            ("name.givenName", self.given_name),
            ("name.familyName", self.family_name),
        ):
            if not value:
                raise unfit_value(f"The attribute {name} is required.")
        return self

    def with_attribute(self, path: str, value: Any) -> PersonState:
        """The same with another value of one attribute, by its lower-case path."""
        if path == "name":
            return self._with_names(value)
        if path == "emails":
            return self._with_address(_work_address(value))
        if _is_passed_over(path):
            return self
        if path not in _OF_PEOPLE:
            raise Unfit("invalidPath", f"Users have no attribute {path!r}.")
        return _with(self, _OF_PEOPLE, path, value)

    def without_attribute(self, path: str) -> PersonState:
        """The same without a value of one attribute."""
        if path == "externalid":
            return replace(self, external_id=None)
        if path in _OF_PEOPLE or path in ("name", "emails", *_OURS):
            raise unchangeable(f"The attribute {path!r} cannot be removed: everybody has it.")
        if _is_passed_over(path):
            return self
        raise Unfit("invalidPath", f"Users have no attribute {path!r}.")

    def _with_names(self, value: Any) -> PersonState:
        if not isinstance(value, dict):
            raise unfit_value("The attribute name should be an object.")
        made = self
        for name, part in folded_names(value).items():
            made = made.with_attribute(f"name.{name}", part)
        return made

    def _with_address(self, address: Any) -> PersonState:
        """The same, where the address is the one there is, or the first that is said."""
        if address is not None and not isinstance(address, str):
            raise unfit_value("The value of an e-mail address should be a text.")
        if self.address is None or address is None:
            return replace(self, address=address or self.address)
        if folded(address) != folded(self.address):
            raise unchangeable(
                "The e-mail address of an account stays: it is what the person signs in with."
            )
        return self


@dataclass(frozen=True, slots=True)
class TeamState:
    name: str | None = None
    external_id: str | None = None
    members: frozenset[UserId] = frozenset()

    def with_attribute(self, path: str, value: Any) -> TeamState:
        if path in _OURS:
            return self
        if path == "members":
            return replace(self, members=members_in(value))
        if path not in _OF_TEAMS:
            raise Unfit("invalidPath", f"Groups have no attribute {path!r}.")
        return _with(self, _OF_TEAMS, path, value)

    def without_attribute(self, path: str) -> TeamState:
        if path == "externalid":
            return replace(self, external_id=None)
        if path == "members":
            return replace(self, members=frozenset())
        if path == "displayname" or path in _OURS:
            raise unchangeable(f"The attribute {path!r} cannot be removed: every group has it.")
        raise Unfit("invalidPath", f"Groups have no attribute {path!r}.")

    def require_whole(self) -> TeamState:
        if not self.name:
            raise unfit_value("The attribute displayName is required.")
        return self


def person(sent: Any, before: PersonState | None = None) -> PersonState:
    """Read a person as a request sends them as a whole.

    What was said `before` of them and is not sent goes, but for `active` and the address.
    """
    members = _required(sent, words.USER)
    start = PersonState() if before is None else PersonState(active=before.active)
    if before is not None:
        members.pop("emails", None)  # it is said once; provisioners repeat it as they have it
    made = start
    for name, value in members.items():
        if value is not None:
            made = made.with_attribute(_bare(name, words.USER), value)
    made = made.require_whole()
    if before is not None:
        return replace(made, address=before.address)
    if made.address is None:
        raise unfit_value("An e-mail address of type work is required.")
    return made


def team(sent: Any) -> TeamState:
    """Read a group as a request sends it as a whole."""
    made = TeamState()
    for name, value in _required(sent, words.GROUP).items():
        if value is not None:
            made = made.with_attribute(_bare(name, words.GROUP), value)
    return made.require_whole()


def members_in(value: Any) -> frozenset[UserId]:
    """The members that a value names, one or several."""
    entries = value if isinstance(value, list) else [value]
    if len(entries) > MOST_MEMBERS:
        raise Unfit("tooMany", f"A request should name at most {MOST_MEMBERS} members.")
    return frozenset(_member(entry) for entry in entries)


def _member(entry: Any) -> UserId:
    sent = folded_names(entry) if isinstance(entry, dict) else {"value": entry}
    if str(sent.get("type") or "User").lower() != "user":
        raise unfit_value("Members of groups are users; groups do not have groups.")
    user_id = find_uuid(sent.get("value"))
    if user_id is None:
        raise unfit_value("The value of a member should be the identifier of a user.")
    return UserId(user_id)


def boolean(path: str, value: Any) -> bool:
    """True or false, which some provisioners write as a text."""
    if isinstance(value, bool):
        return value
    text = value.lower() if isinstance(value, str) else ""
    if text not in _TRUE | _FALSE:
        raise unfit_value(f"The attribute {path!r} should be true or false.")
    return text in _TRUE


def _text(path: str, value: Any) -> str:
    if not is_text(value) or not value.strip():
        raise unfit_value(f"The attribute {path!r} should be a text, and not be empty.")
    return str(value)


def _name(path: str, value: Any) -> str:
    """A text that is the only one of its kind, however it is written."""
    text = _short(path, value)
    if not is_key(text):
        raise unfit_value(f"The attribute {path!r} cannot be told from others.")
    return text


def _short(path: str, value: Any) -> str:
    text = _text(path, value)
    if len(text) > LONGEST_NAME:
        raise unfit_value(f"The attribute {path!r} should have at most {LONGEST_NAME} characters.")
    return text


def _external_id(path: str, value: Any) -> str | None:
    return None if value in (None, "") else _short(path, value)


_OF_PEOPLE = {
    "username": ("user_name", _name),
    "externalid": ("external_id", _external_id),
    "name.givenname": ("given_name", _short),
    "name.familyname": ("family_name", _short),
    "active": ("active", boolean),
}
_OF_TEAMS = {"displayname": ("name", _short), "externalid": ("external_id", _external_id)}


def _with(state: State, known: Mapping[str, tuple[str, Read]], path: str, value: Any) -> State:
    field, read = known[path]
    made: dict[str, Any] = {field: read(path, value)}
    return replace(state, **made)


def _is_passed_over(path: str) -> bool:
    """Whether it is an attribute of people that is not kept, or not changed."""
    above, _, part = path.partition(".")
    is_name = above == "name" and part in _PASSED_OVER_NAMES
    # An address is said once, and provisioners repeat it as they have it.
    return is_name or above in _OURS | _PASSED_OVER | {"emails"} or path.startswith(_EXTENSION)


def _work_address(value: Any) -> Any:
    """The address of type work among several."""
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        sent = folded_names(entry) if isinstance(entry, dict) else {}
        if str(sent.get("type") or "").lower() == words.WORK:
            return sent.get("value")
    return None


def _required(sent: Any, schema: str) -> dict[str, Any]:
    """The attributes of a resource, which says of which schema it is."""
    if not isinstance(sent, dict):
        raise Unfit("invalidSyntax", "The body should be an object.")
    members = folded_names(sent)
    schemas = members.pop("schemas", None)
    named = schemas if isinstance(schemas, list) else [schemas]
    if schema.lower() not in {str(each).lower() for each in named}:
        raise Unfit("invalidSyntax", f"The schemas should contain {schema}.")
    return members


def _bare(name: str, schema: str) -> str:
    return name.removeprefix(f"{schema.lower()}:")
