"""The founder as a function of its own: makes a tenant's keys and invites who administers it.

Called by who onboards the tenant, never by a request. The private keys so never leave the
account; what is returned is the fingerprint people compare, or the address of the setup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from chalicelib.services import keys, tenants
from chalicelib.settings import settings


def handler(event: Mapping[str, Any], context: Any) -> dict[str, str]:  # noqa: ARG001
    """Make the keys, or with an `administrator` in the event, invite him; both may be repeated."""
    invited = event.get("administrator")
    if invited is None:
        host = urlsplit(settings.base_url).hostname or "keyhaven"
        return {"fingerprint": keys.create(host)}
    if tenants.is_founded():
        return {"link": tenants.link_again()}
    return {"link": tenants.found(invited["username"], invited["first_name"], invited["last_name"])}
