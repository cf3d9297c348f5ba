"""LDAP (RFC 4511): how entries are read, which results are failures; alone in knowing ldap3."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import ldap3
from ldap3.core.exceptions import LDAPException
from pyasn1.error import PyAsn1Error

from chalicelib.domain.directory.directory import Unreadable
from chalicelib.domain.directory.directory_settings import Connection, Kind, Transport
from chalicelib.domain.light import dataclass
from chalicelib.ldap.sockets import Budget, Measured, opened, protected

PAGE = 250
"""Entries of a page (RFC 2696)."""
_PAGED = "1.2.840.113556.1.4.319"
_START_TLS = "1.3.6.1.4.1.1466.20037"
_ANYTHING = "(objectClass=*)"
_PART = ";range="
"""Before the bounds of a part of an attribute: Active Directory tells `member;range=0-1499`."""
_NO_SUCH_OBJECT, _REFERRAL = 32, 10
_TOO_MANY = (3, 4, 11)
"""Result codes of a partial answer: the limit of time, of entries, or of the administrator."""
_CRITICAL_UNKNOWN = 12
_BROKEN = (
    *(LDAPException, PyAsn1Error, OSError, struct.error),
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError),
)
"""What ldap3 raises of a server that does not keep to the protocol."""

ldap3.set_config_parameter("SOCKET_SIZE", 65_536)


@dataclass(frozen=True, slots=True)
class RawEntry:
    name: str
    values: Mapping[str, Sequence[bytes]]
    """By attributes in lower case, without those that have no value."""


class NoSuchObject(Unreadable):
    """There is no entry of the name that was to be searched under."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The directory has no {name}.")
        self.name = name


class Session:
    """A signed-in connection to one server."""

    def __init__(self, host: str, protocol: ldap3.Connection, budget: Budget) -> None:
        self._host = host
        self._protocol = protocol
        self._budget = budget

    def has(self, name: str) -> bool:
        """Whether the directory has an entry of this name."""
        try:
            self._search(name, _ANYTHING, ldap3.BASE, ["1.1"])
        except NoSuchObject:
            return False
        return True

    def try_filter(self, base: str, text: str) -> None:
        """Raise `Unreadable` where the server does not take the filter."""
        self._search(base, text, ldap3.SUBTREE, ["1.1"], size_limit=1)

    def own_base(self) -> str:
        """Where the server itself says that its entries are."""
        [root] = self._search("", _ANYTHING, ldap3.BASE, ["defaultNamingContext", "namingContexts"])
        named = root.values.get("defaultnamingcontext") or root.values.get("namingcontexts", ())
        if len(named) != 1:
            raise Unreadable(f"{self._host} does not name one base; the settings have to.")
        return named[0].decode(errors="replace")

    def entries(self, base: str, text: str, attributes: Sequence[str]) -> Iterator[RawEntry]:
        """All entries under a base that a filter finds, page by page; referrals are passed over.

        Each has all its values, also where the server tells them in parts.
        """
        cookie: bytes | None = b""
        while cookie is not None:
            page = {"paged_size": PAGE, "paged_criticality": True, "paged_cookie": cookie or None}
            found = self._search(base, text, ldap3.SUBTREE, attributes, **page)
            self._budget.take_entries(max(1, len(found)))
            cookie = self._next_page()
            yield from map(self._whole, found)

    def _next_page(self) -> bytes | None:
        with self._understood():
            control = (self._protocol.result.get("controls") or {}).get(_PAGED)
            return (control and control["value"]["cookie"]) or None

    def _whole(self, entry: RawEntry) -> RawEntry:
        """The entry with all values of those attributes of which it has a part."""
        in_parts = {name.partition(_PART)[0] for name in entry.values if _PART in name}
        if not in_parts:
            return entry
        values = {name: found for name, found in entry.values.items() if _PART not in name}
        for attribute in in_parts:
            try:
                values[attribute] = [*self._parts(entry, attribute)]
            except (ValueError, LookupError) as error:
                told = f"{self._host} does not give all values of {attribute} of {entry.name}."
                raise Unreadable(told) from error
        return RawEntry(entry.name, values)

    def _parts(self, entry: RawEntry, attribute: str) -> Iterator[bytes]:
        """The values of an attribute, part after part; whoever refuses one is not read at all."""
        found, following = _part(entry, attribute, 0)
        yield from found
        while following is not None:
            asked = f"{attribute}{_PART}{following}-*"
            [further] = self._search(entry.name, _ANYTHING, ldap3.BASE, [asked])
            self._budget.take_entries(1)
            found, following = _part(further, attribute, following)
            yield from found

    def _search(
        self, base: str, text: str, scope: str, attributes: Sequence[str], **further: Any
    ) -> list[RawEntry]:
        with self._understood():
            self._protocol.search(base, text, scope, attributes=list(attributes), **further)
            result = self._protocol.result
            code = int(result["result"])
            found = [
                _raw(entry)
                for entry in self._protocol.response or ()
                if entry["type"] == "searchResEntry"
            ]
        if code != 0 and not (code in _TOO_MANY and "size_limit" in further):
            self._refuse(code, result, base)
        return found

    def _refuse(self, code: int, result: Mapping[str, Any], base: str) -> None:
        if code == _NO_SUCH_OBJECT:
            raise NoSuchObject(base)
        if code == _REFERRAL:
            raise Unreadable(f"{self._host} refers to another server for {base}.")
        if code in _TOO_MANY:
            raise Unreadable(f"{self._host} does not give all that is under {base}.")
        if code == _CRITICAL_UNKNOWN:
            raise Unreadable(f"{self._host} does not answer in pages.")
        raise Unreadable(f"{self._host} refuses the search: {_told(result)}.")

    @contextmanager
    def _understood(self) -> Iterator[None]:
        with understood(self._host):
            yield


@contextmanager
def understood(host: str) -> Iterator[None]:
    """Take a server that breaks the protocol, or off, for one that cannot be read."""
    try:
        yield
    except Unreadable:
        raise
    except _BROKEN as error:
        raise Unreadable(f"{host} ends the connection or does not speak LDAP.") from error


@contextmanager
def connected(settings: Connection, host: str, budget: Budget) -> Iterator[Session]:
    """A session with one of a connection's hosts; raises `Unreadable` where it cannot be had."""
    plain = opened(host, settings.port)
    if settings.transport is Transport.LDAPS:
        plain = protected(plain, host, settings.ca_certificate)
    measured = Measured(plain, budget)
    try:
        with understood(host):
            protocol = _protocol(settings, host, measured)
            if settings.transport is Transport.START_TLS:
                _start_tls(protocol, settings, host, measured)
            _sign_in(protocol, host)
        yield Session(host, protocol, budget)
        _take_leave(protocol)
    finally:
        measured.close()


def _protocol(settings: Connection, host: str, measured: Measured) -> ldap3.Connection:
    """ldap3 over a connection that is made already: it neither opens one nor follows referrals."""
    user = _login(settings)
    protocol = ldap3.Connection(
        ldap3.Server(host, settings.port, get_info=ldap3.NONE),
        user=user,
        password=settings.password if user else None,
        authentication=ldap3.SIMPLE if user else ldap3.ANONYMOUS,
        read_only=True,
        auto_referrals=False,
        auto_range=False,  # where a further part is refused, it takes the first for the whole
        return_empty_attributes=False,
        auto_escape=False,
        check_names=False,
        auto_encode=False,
    )
    protocol.socket = measured
    protocol.closed = False
    protocol.strategy._outstanding = {}  # noqa: SLF001 - as its `open` does
    protocol.strategy._start_listen()  # noqa: SLF001
    return protocol


def _login(settings: Connection) -> str | None:
    """Who signs in: for Active Directory, a bare name is one of the domain's."""
    name = settings.username
    if not name or settings.kind is not Kind.ACTIVE_DIRECTORY:
        return name
    return name if any(sign in name for sign in "=@\\") else f"{name}@{settings.domain_name}"


def _start_tls(
    protocol: ldap3.Connection, settings: Connection, host: str, measured: Measured
) -> None:
    """Go on in TLS, before anything is told to the server."""
    protocol.extended(_START_TLS)
    if protocol.result["result"] != 0:
        raise Unreadable(f"{host} does not offer TLS: {_told(protocol.result)}.")
    measured.protect(host, settings.ca_certificate)


def _sign_in(protocol: ldap3.Connection, host: str) -> None:
    if protocol.user and not protocol.password:
        raise Unreadable("A name without a password is not signed in with.")
    if not protocol.bind():
        raise Unreadable(f"{host} refuses the name and password: {_told(protocol.result)}.")


def _take_leave(protocol: ldap3.Connection) -> None:
    try:
        protocol.unbind()
    except _BROKEN:
        return


def _told(result: Mapping[str, Any]) -> str:
    """What a server calls its refusal; never its own text, which may hold anything."""
    return str(result.get("description", "unknown"))


def _raw(entry: Mapping[str, Any]) -> RawEntry:
    values = {
        name.lower(): [bytes(value) for value in found or ()]
        for name, found in entry["raw_attributes"].items()
        if found or _PART in name.lower()  # the last part may be empty
    }
    return RawEntry(str(entry["dn"]), values)


def _part(entry: RawEntry, attribute: str, start: int) -> tuple[Sequence[bytes], int | None]:
    """The part of an attribute that begins with this value, and with which the next one does."""
    begins = f"{attribute}{_PART}{start}-"
    [name] = [each for each in entry.values if each.startswith(begins)]
    end = name.removeprefix(begins)
    return entry.values[name], None if end == "*" else int(end) + 1
