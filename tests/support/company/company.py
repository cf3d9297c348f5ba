"""Who works for a company, and in which groups, as its directory has it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import ldap3

from tests.support.company import slapd
from tests.support.company.certificates import Certificate
from tests.support.company.slapd import SECRET, Server

LONG_AGO = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
"""When entries were made that say nothing else: before anything of a test's own."""
OPENLDAP = "dc=example,dc=org"
ACTIVE_DIRECTORY = "dc=corp,dc=example"
READER_PASSWORD = "the password of the reader"
ENABLED, DISABLED = 512, 514
_RELAX = ("1.3.6.1.4.1.4203.666.5.12", True, None)
"""Lets the root set what a server writes by itself: identifiers and times."""


@dataclass
class Company:
    """A directory of one kind, with functions to change it. Entries are known by their names."""

    server: Server
    base: str = OPENLDAP
    certificate: Certificate | None = None
    _root: ldap3.Connection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        address = ldap3.Server("127.0.0.1", self.server.port, get_info=ldap3.NONE)
        self._root = ldap3.Connection(
            address, f"cn=root,{self.base}", SECRET, auto_bind=True, raise_exceptions=True
        )
        organisation = {"o": "Company", "dc": self.base.split(",")[0][3:]}
        self._root.add(self.base, ["dcObject", "organization"], organisation)
        for unit in ("people", "groups"):
            self._root.add(f"ou={unit},{self.base}", "organizationalUnit")
        reader = {"cn": "reader", "userPassword": READER_PASSWORD}
        self._root.add(self.reader, ["organizationalRole", "simpleSecurityObject"], reader)

    @property
    def is_active_directory(self) -> bool:
        return self.base == ACTIVE_DIRECTORY

    @property
    def reader(self) -> str:
        return f"cn=reader,{self.base}"

    def person(
        self,
        name: str,
        first: str | None = None,
        last: str = "Example",
        *,
        mail: str | None = "",
        created: datetime = LONG_AGO,
        under: str = "ou=people",
        **further: Any,
    ) -> str:
        """Somebody, with an address of their own; None for none."""
        attributes: dict[str, Any] = {
            "cn": name,
            "sn": last,
            "uid": name,
            "givenName": name.capitalize() if first is None else first,
            "mail": f"{name}@example.org" if mail == "" else mail,
            **further,
        }
        classes = ["user"] if self.is_active_directory else ["inetOrgPerson"]
        if self.is_active_directory:
            attributes.setdefault("userAccountControl", ENABLED)
        return self._add(f"uid={name},{under},{self.base}", classes, attributes, created)

    def group(
        self, name: str, *members: str, created: datetime = LONG_AGO, under: str = "ou=groups"
    ) -> str:
        """A group of these names; one of nobody has its own name, as it has to have some."""
        dn = f"cn={name},{under},{self.base}"
        classes = ["group"] if self.is_active_directory else ["groupOfNames"]
        attributes = {"cn": name, "member": list(members) or [self.base]}
        return self._add(dn, classes, attributes, created)

    def set(self, dn: str, modified: datetime | None = None, **attributes: Any) -> None:
        """Replace attributes by what is given; None removes one."""
        changes = {name: [(ldap3.MODIFY_REPLACE, _values(v))] for name, v in attributes.items()}
        if modified is not None:
            name = "whenChanged" if self.is_active_directory else "modifyTimestamp"
            changes[name] = [(ldap3.MODIFY_REPLACE, [_moment(modified)])]
        self._root.modify(dn, changes, controls=[_RELAX] if modified else None)

    def set_members(self, dn: str, *members: str, modified: datetime | None = None) -> None:
        self.set(dn, modified=modified, member=list(members) or [self.base])

    def rename(self, dn: str, rdn: str) -> str:
        """Give an entry another name at its place; return the whole name."""
        self._root.modify_dn(dn, rdn)
        return f"{rdn},{dn.partition(',')[2]}"

    def move(self, dn: str, under: str) -> str:
        """Move an entry under another one of the base; return its new name."""
        rdn, place = dn.partition(",")[0], f"{under},{self.base}"
        self._root.modify_dn(dn, rdn, new_superior=place)
        return f"{rdn},{place}"

    def unit(self, name: str) -> str:
        self._root.add(f"ou={name},{self.base}", "organizationalUnit")
        return f"ou={name}"

    def disable(self, dn: str) -> None:
        """Switch an account off, where the directory knows of that."""
        self.set(dn, userAccountControl=DISABLED)

    def enable(self, dn: str) -> None:
        self.set(dn, userAccountControl=ENABLED)

    def remove(self, dn: str) -> None:
        self._root.delete(dn)

    def id_of(self, dn: str) -> str:
        """The directory's identifier of an entry."""
        name = "objectGUID" if self.is_active_directory else "entryUUID"
        self._root.search(dn, "(objectClass=*)", ldap3.BASE, attributes=[name])
        [value] = self._root.response[0]["raw_attributes"][name]
        if self.is_active_directory:
            return str(uuid.UUID(bytes_le=value))
        return str(uuid.UUID(value.decode()))

    def domain(self, **other: Any) -> dict[str, Any]:
        """What the settings say of this directory."""
        return {
            "directory_type": "ad" if self.is_active_directory else "openldap",
            "domain_name": self.base.replace("dc=", "").replace(",", "."),
            "username": self.reader,
            "password": READER_PASSWORD,
            "base_dn": self.base,
            "hosts": ["127.0.0.1"],
            "port": self.server.port,
            "connection_type": "plain",
            "authentication_type": "basic",
            **other,
        }

    def _add(
        self, dn: str, classes: Sequence[str], attributes: dict[str, Any], created: datetime
    ) -> str:
        moment = _moment(created)
        if self.is_active_directory:
            guid = uuid.uuid4().bytes_le
            further = {"objectGUID": guid, "whenCreated": moment, "whenChanged": moment}
            controls = None
        else:
            further = {"createTimestamp": moment, "modifyTimestamp": moment}
            controls = [_RELAX]
        known = {name: value for name, value in attributes.items() if value is not None}
        self._root.add(dn, list(classes), {**further, **known}, controls=controls)
        return dn


@contextmanager
def founded(
    base: str = OPENLDAP, certificate: Certificate | None = None, limits: str = ""
) -> Iterator[Company]:
    """A company of nobody, whose directory is there for as long as the block takes."""
    with slapd.started(base, certificate=certificate, limits=limits) as server:
        company = Company(server, base, certificate)
        try:
            yield company
        finally:
            company._root.unbind()


def _values(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%d%H%M%SZ")
