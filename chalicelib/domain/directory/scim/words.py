"""What SCIM calls things, and why it refuses them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chalicelib.domain.errors import Conflict, Invalid, Refusal

_CORE = "urn:ietf:params:scim:schemas:core:2.0"
_MESSAGES = "urn:ietf:params:scim:api:messages:2.0"
USER = f"{_CORE}:User"
GROUP = f"{_CORE}:Group"
RESOURCE_TYPE = f"{_CORE}:ResourceType"
SCHEMA = f"{_CORE}:Schema"
CONFIGURATION = f"{_CORE}:ServiceProviderConfig"
LIST = f"{_MESSAGES}:ListResponse"
SEARCH = f"{_MESSAGES}:SearchRequest"
PATCH = f"{_MESSAGES}:PatchOp"
ERROR = f"{_MESSAGES}:Error"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
WORK = "work"
"""The type of the e-mail address that an account is known by."""

LONGEST_NAME = 256
"""Characters of a user name, and of an identifier by which a directory knows something."""

Json = Mapping[str, Any]
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


class Unfit(Invalid):
    """What was sent cannot be carried out, for a reason that SCIM has a word for."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Taken(Invalid):
    """Another resource has what was to be unique."""


class Hindered(Invalid):
    """What is stored stands in the way: it has to change first."""


class OnlySuspended(Refusal):
    """Who was to be deleted is suspended: what is stored stands in the way.

    That is written, so it is not `Invalid`, which is decided again once rows have changed.
    """


class ManagersAsked(Refusal):
    """Who was to join a group needs secrets: its managers are asked by mail to add them.

    That is written as well, so it is not `Invalid` either.
    """


class Outdated(Conflict):
    """The resource is not of the version that the client names."""

    def __init__(self) -> None:
        super().__init__("The resource has changed since this version; read it again.")


def is_text(value: object) -> bool:
    """Whether it is text that can be stored: no control characters, no half of a letter."""
    if not isinstance(value, str) or _CONTROLS.search(value):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def unfit_value(message: str) -> Unfit:
    return Unfit("invalidValue", message)


def unchangeable(message: str) -> Unfit:
    return Unfit("mutability", message)


def folded_names(sent: Json) -> dict[str, Any]:
    """An object by the names of its attributes, which SCIM compares without case."""
    return {name.lower(): value for name, value in sent.items()}
