"""Hosts that an organisation names: which are well-formed, and which addresses are public."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_LONGEST_HOST = 253


def is_host(value: Any) -> bool:
    """Whether it is a name or an address, and nothing a protocol or a path could be read from."""
    if not isinstance(value, str) or len(value) > _LONGEST_HOST or not value.isprintable():
        return False  # the zone of an address may be any text, line breaks included
    try:
        ip_address(value)
    except ValueError:
        return all(_LABEL.fullmatch(label) for label in value.removesuffix(".").split("."))
    return True


def is_own_machine(address: str) -> bool:
    """Whether an address leads to the function itself or its platform, and not to a company."""
    found = _plain(address)
    return found.is_loopback or found.is_link_local or found.is_unspecified or found.is_multicast


def is_public(address: str) -> bool:
    """Whether an address is one that everybody has a way to, in no network of somebody's own."""
    found = _plain(address)
    return found.is_global and not found.is_multicast


def _plain(address: str) -> IPv4Address | IPv6Address:
    found = ip_address(address.partition("%")[0])
    return getattr(found, "ipv4_mapped", None) or found
