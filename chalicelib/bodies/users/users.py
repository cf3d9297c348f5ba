"""Bodies by which people are invited, and by which they and administrators edit users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import (
    UNSET,
    Unset,
    date_time,
    email,
    max_length,
    not_empty,
    unless_null,
    utf8,
    uuid,
)
from chalicelib.bodies.users.avatars import AvatarBody, if_new
from chalicelib.domain.changes import NewUser
from chalicelib.domain.ids import RoleId
from chalicelib.domain.light import dataclass

INVALID = "Could not validate user data."


@dataclass(frozen=True, slots=True)
class ProfileBody:
    first_name: Annotated[str, not_empty, utf8, max_length(255)]
    last_name: Annotated[str, not_empty, utf8, max_length(255)]


@dataclass(frozen=True, slots=True)
class InvitationBody:
    username: Annotated[str, not_empty, email, max_length(255)]
    profile: Annotated[ProfileBody, not_empty]
    role_id: Annotated[str | None, uuid] = None
    disabled: Annotated[datetime | None, date_time] = None


@dataclass(frozen=True, slots=True)
class _Told:
    """A person as somebody tells of them who sends no body of ours."""

    username: Annotated[str, not_empty, email, max_length(255)]
    first_name: Annotated[str, not_empty, utf8, max_length(255)]
    last_name: Annotated[str, not_empty, utf8, max_length(255)]


@dataclass(frozen=True, slots=True)
class AdministratorBody(_Told):
    """The first administrator of a tenant, as who runs the service names them."""


@dataclass(frozen=True, slots=True)
class EmergencyBody(_Told):
    """Another administrator, and why those who run the service ask for one."""

    reason: Annotated[str, not_empty, utf8, max_length(255)]


@dataclass(frozen=True, slots=True)
class ProfileEditBody:
    first_name: Annotated[str | Unset, not_empty, utf8, max_length(255)] = UNSET
    last_name: Annotated[str | Unset, not_empty, utf8, max_length(255)] = UNSET
    avatar: Annotated[AvatarBody | Unset | None, if_new] = UNSET


@dataclass(frozen=True, slots=True)
class UserEditBody:
    """Clients send the whole user back; what may not be changed is passed over."""

    profile: Annotated[ProfileEditBody | Unset, not_empty] = UNSET
    role_id: Annotated[str | Unset, unless_null, not_empty, uuid] = UNSET
    disabled: Annotated[datetime | Unset | None, date_time] = UNSET


def read_invitation(draft: Draft[InvitationBody]) -> NewUser:
    body = draft.read(INVALID)
    role_id = None if body.role_id is None else RoleId(body.role_id)
    return NewUser(body.username, body.profile.first_name, body.profile.last_name, role_id)


def read_person(username: str | None, first_name: str | None, last_name: str | None) -> NewUser:
    """A person as a directory tells of them, by the rules of an invitation."""
    told = {"username": username, "first_name": first_name, "last_name": last_name}
    person = Draft(_Told, told).read(INVALID)
    return NewUser(person.username, person.first_name, person.last_name)
