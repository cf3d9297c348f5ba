"""Settings of a directory as values, and which attributes are read where none are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum

from chalicelib.domain.ids import UserId
from chalicelib.domain.light import dataclass


class Kind(Enum):
    ACTIVE_DIRECTORY = "ad"
    OPENLDAP = "openldap"


class Transport(Enum):
    """How a connection is protected."""

    PLAIN = "plain"
    LDAPS = "ssl"
    START_TLS = "tls"


@dataclass(frozen=True, slots=True)
class Connection:
    """One domain: its servers, which stand in for each other, and how to sign in to them."""

    name: str
    kind: Kind
    domain_name: str
    hosts: Sequence[str]
    port: int
    transport: Transport
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    base_dn: str | None = None
    """Under which entries are looked for; None for what the server itself names."""
    ca_certificate: str | None = None
    """Certificates (PEM) of the servers' authority; None to trust those the platform trusts."""


@dataclass(frozen=True, slots=True)
class Search:
    """Which entries of a kind are asked for."""

    object_class: str | None = None
    path: str | None = None
    """Under which part of the base, as a relative distinguished name."""
    filter: str | None = None
    parent_group: str | None = None
    """The name of a group: only what is a member of it, or of groups in it, is taken."""


@dataclass(frozen=True, slots=True)
class Fields:
    """By which attributes the fields of people and groups are read, for one kind of directory."""

    user: Mapping[str, str]
    group: Mapping[str, str]
    username_fallback: str | None = None
    """The attribute asked where the one of the username is empty."""


@dataclass(frozen=True, slots=True)
class DirectorySettings:
    connections: Sequence[Connection]
    default_user: UserId
    """In whose name a run acts, while they are an active administrator."""
    default_group_admin_user: UserId
    """Who manages groups that a run makes, while they are active."""
    people: Search = field(default_factory=Search)
    teams: Search = field(default_factory=Search)
    fields: Mapping[Kind, Fields] = field(default_factory=dict)
    email_prefix: str | None = None
    """The attribute that begins an address, where addresses are made; see `email_suffix`."""
    email_suffix: str | None = None
    """What ends it; None where no addresses are made."""
    enabled_users_only: bool = False
    creates_users: bool = True
    updates_users: bool = True
    deletes_users: bool = True
    creates_groups: bool = True
    updates_groups: bool = True
    deletes_groups: bool = True
    suspends_users: bool = False
    """Whether users who are gone from the directory are suspended instead of deleted."""
    removal_limit: int = 20
    """The share, in percent, of the linked people (or groups) that a run may remove unasked."""


DEFAULT_FIELDS: Mapping[Kind, Fields] = {
    Kind.ACTIVE_DIRECTORY: Fields(
        user={
            "id": "objectGuid",
            "firstname": "givenName",
            "lastname": "sn",
            "username": "mail",
            "created": "whenCreated",
            "modified": "whenChanged",
            "groups": "memberOf",
            "enabled": "userAccountControl",
        },
        group={
            "id": "objectGuid",
            "name": "cn",
            "created": "whenCreated",
            "modified": "whenChanged",
            "users": "member",
        },
    ),
    Kind.OPENLDAP: Fields(
        user={
            "id": "entryUuid",
            "firstname": "givenname",
            "lastname": "sn",
            "username": "mail",
            "created": "createtimestamp",
            "modified": "modifytimestamp",
        },
        group={
            "id": "entryUuid",
            "name": "cn",
            "created": "createtimestamp",
            "modified": "modifytimestamp",
            "users": "member",
        },
    ),
}
