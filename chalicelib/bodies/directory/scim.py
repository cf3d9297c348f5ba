"""How a token of SCIM has to look, and the rules for people and groups that a directory sends."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.groups import groups
from chalicelib.bodies.rules import (
    UNSET,
    Rule,
    TakenAs,
    Unset,
    absent_is_empty,
    not_empty,
    uuid,
)
from chalicelib.bodies.users import users
from chalicelib.bodies.users.users import ProfileBody
from chalicelib.domain.directory.scim.states import PersonState, TeamState
from chalicelib.domain.light import dataclass

INVALID = "Could not validate the SCIM settings."
DUMMY = f"pb_{'0' * 43}"
"""What clients send in place of a token that they do not know, and do not mean to change."""
_TOKEN = re.compile(r"pb_[A-Za-z0-9_-]{43,253}", re.ASCII)

_correct_format = Rule(
    "correctFormat",
    "The {field} should begin with pb_, and have 43 or more characters of base64url behind.",
    lambda value: isinstance(value, str) and _TOKEN.fullmatch(value) is not None,
    gives=str,
    schema={"type": "string", "pattern": "^pb_[A-Za-z0-9_-]{43,253}$"},
)
_no_dummy = Rule(
    "correctFormat",
    "The {field} should be a random one.",
    lambda value: value != DUMMY,
)
_empty = Rule(
    "ensureEmpty",
    "The {field} cannot be changed.",
    lambda value: value in (None, ""),
)
_unless_dummy = TakenAs(lambda sent: UNSET if sent in (None, "", DUMMY) else sent)
"""A token that is not meant to change counts as not sent."""


@dataclass(frozen=True, slots=True, repr=False)
class NewScimBody:
    """Where a directory provisions people from now on, by which token and in whose name."""

    setting_id: Annotated[str, absent_is_empty, not_empty, uuid]
    secret_token: Annotated[str, absent_is_empty, not_empty, _correct_format, _no_dummy]
    scim_user_id: Annotated[str, absent_is_empty, not_empty, uuid]


@dataclass(frozen=True, slots=True, repr=False)
class ScimEditBody:
    """Another token, or another person in whose name a directory provisions people."""

    scim_user_id: Annotated[str, absent_is_empty, not_empty, uuid]
    setting_id: Annotated[Any, _empty] = None
    secret_token: Annotated[str | Unset, _unless_dummy, _correct_format] = UNSET


@dataclass(frozen=True, slots=True)
class _Titled:
    name: groups.Name


def read_new(state: PersonState) -> PersonState:
    """A person who is to be added, by the rules of an invitation."""
    told = users.read_person(state.address, state.given_name, state.family_name)
    return replace(
        state,
        address=told.username,
        given_name=told.first_name,
        family_name=told.last_name,
    )


def read_names(state: PersonState) -> PersonState:
    """A person who has an account, by the rules of names."""
    names = {"first_name": state.given_name, "last_name": state.family_name}
    told = Draft(ProfileBody, names).read(users.INVALID)
    return replace(state, given_name=told.first_name, family_name=told.last_name)


def read_team(state: TeamState) -> TeamState:
    """A group, by the rules of its name."""
    told = Draft(_Titled, {"name": state.name}).read(groups.INVALID)
    return replace(state, name=told.name)
