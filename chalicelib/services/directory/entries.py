"""How an entry of the directory becomes a person or a group: usernames made up, values refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import NAMESPACE_X500, UUID, uuid5

from chalicelib.domain.addresses import is_address
from chalicelib.domain.directory.directory import EntryId, Person, Team
from chalicelib.domain.directory.directory_names import canonical
from chalicelib.domain.directory.directory_settings import DirectorySettings, Kind
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.moments import find_generalized_time

Values = Mapping[str, Sequence[bytes]]
Errors = dict[str, list[str]]
LONGEST_VALUE = 10_000
"""Bytes of a value that is looked at."""
OF_UNKNOWN_AGE = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a time that cannot be read: as nothing is older, such an entry never counts as
newer."""
_IDENTIFIERS = {Kind.ACTIVE_DIRECTORY: "objectGUID", Kind.OPENLDAP: "entryUUID"}

_NOT_READ = ("groups", "enabled")
"""Fields that are mapped and not asked for: groups name their members; a filter asks who is on."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry is, and of a group whom it has, as far as two readings are compared."""

    id: EntryId
    name: str
    members: frozenset[str] = frozenset()


class Reader:
    """Reads the entries of one kind of directory, and names the attributes it needs for that."""

    def __init__(self, settings: DirectorySettings, kind: Kind) -> None:
        self._settings = settings
        self._kind = kind
        self._fields = settings.fields[kind]

    @property
    def user_attributes(self) -> list[str]:
        further = [self._fields.username_fallback, self._prefix]
        return self._asked(*_read(self._fields.user), *filter(None, further))

    @property
    def group_attributes(self) -> list[str]:
        return self._asked(*_read(self._fields.group))

    @property
    def user_place_attributes(self) -> list[str]:
        return self._asked(self._fields.user["id"])

    @property
    def group_place_attributes(self) -> list[str]:
        return self._asked(self._fields.group["id"], self._fields.group["users"])

    def person(self, name: str, values: Values) -> Person:
        errors: Errors = {}
        read = _Values(values, self._fields.user, errors)
        username = self._username(read)
        first, last = read.text("firstname"), read.text("lastname")
        if username is None:
            errors["email"] = ["The e-mail address is required."]
        elif not is_address(username):
            errors["email"] = ["This is no e-mail address."]
        for field, told in (("first_name", first), ("last_name", last)):
            if told is None:
                errors[field] = [f"The {field.replace('_', ' ')} is required."]
        return Person(
            id=self._id(name, read),
            name=_checked(name, errors),
            created=read.moment("created"),
            modified=read.moment("modified"),
            username=username,
            first_name=first,
            last_name=last,
            errors=errors,
        )

    def team(self, name: str, values: Values) -> Team:
        errors: Errors = {}
        read = _Values(values, self._fields.group, errors)
        title, members = read.text("name"), read.texts("users")
        if title is None:
            errors["name"] = ["The name is required."]
        if any(canonical(member) is None for member in members):
            errors["members"] = ["A member is no distinguished name."]
        return Team(
            id=self._id(name, read),
            name=_checked(name, errors),
            created=read.moment("created"),
            modified=read.moment("modified"),
            title=title,
            members=members,
            errors=errors,
        )

    def person_place(self, name: str, values: Values) -> Place:
        return Place(self._id(name, _Values(values, self._fields.user, {})), name)

    def team_place(self, name: str, values: Values) -> Place:
        read = _Values(values, self._fields.group, {})
        return Place(self._id(name, read), name, frozenset(read.texts("users")))

    @property
    def _prefix(self) -> str | None:
        return None if self._settings.email_suffix is None else self._settings.email_prefix

    def _asked(self, *names: str) -> list[str]:
        """Each attribute once, with the server's own identifier."""
        return list({name.lower(): name for name in (*names, _IDENTIFIERS[self._kind])}.values())

    def _username(self, read: _Values) -> str | None:
        """The address; else that of the attribute which stands in; else one that is made."""
        found = read.text("username")
        if found is None and self._fields.username_fallback:
            found = read.of(self._fields.username_fallback)
        if found is None and self._prefix:
            prefix = read.of(self._prefix)
            found = prefix and f"{prefix}{self._settings.email_suffix}"
        return found

    def _id(self, name: str, read: _Values) -> EntryId:
        """The server's own identifier, as long as the entry has what is mapped as one."""
        if read.has("id"):
            own = read.raw(_IDENTIFIERS[self._kind])
            found = find_uuid(_guid(own) if self._kind is Kind.ACTIVE_DIRECTORY else _text(own))
            if found is not None:
                return EntryId(found)
            read.errors["id"] = ["The identifier cannot be read."]
        return EntryId(str(uuid5(NAMESPACE_X500, canonical(name) or name)))


class _Values:
    """The values of one entry, by the fields that the mapping gives them."""

    def __init__(self, values: Values, fields: Mapping[str, str], errors: Errors) -> None:
        self._values = values
        self._fields = fields
        self.errors = errors

    def raw(self, attribute: str) -> bytes:
        return next(iter(self._values.get(attribute.lower(), ())), b"")

    def has(self, field: str) -> bool:
        return self._fields[field].lower() in self._values

    def of(self, attribute: str) -> str | None:
        return (_text(self.raw(attribute)) or "").strip() or None

    def text(self, field: str) -> str | None:
        return self.of(self._fields[field])

    def texts(self, field: str) -> tuple[str, ...]:
        values = self._values.get(self._fields[field].lower(), ())
        return tuple(_text(value) or "" for value in values)

    def moment(self, field: str) -> datetime:
        found = find_generalized_time(self.text(field))
        if found is None:
            self.errors[field] = ["The time cannot be read."]
        return found or OF_UNKNOWN_AGE


def _read(fields: Mapping[str, str]) -> list[str]:
    return [name for field, name in fields.items() if field not in _NOT_READ]


def _checked(name: str, errors: Errors) -> str:
    if canonical(name) is None:
        errors["dn"] = ["The distinguished name cannot be read."]
    return name


def _text(value: bytes) -> str | None:
    """A value as text; None where it is none, or is longer than anybody's name."""
    if len(value) > LONGEST_VALUE:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _guid(value: bytes) -> str | None:
    """An `objectGUID`: its first three numbers stand with their last byte first."""
    return str(UUID(bytes_le=value)) if len(value) == len(UUID(int=0).bytes) else None
