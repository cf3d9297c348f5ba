"""Bodies of guests: recovery requests, and the proofs that end a setup.

Most of these steps refuse with one message instead of field errors, and look things up
between two of them; so a body is read whole, and each member is required when its turn comes.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from chalicelib.bodies.rules import (
    email,
    if_object,
    in_list,
    meant,
    required,
    unless_null,
    utf8,
    uuid,
)
from chalicelib.domain.addresses import is_address
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.users.locales import find_locale

CASES = ("default", "lost-passphrase")


@dataclass(frozen=True, slots=True)
class RecoveryBody:
    """A request for a new recovery link."""

    username: Annotated[object, meant(required, email)] = None
    case: Annotated[object, unless_null, meant(in_list(*CASES))] = CASES[0]

    def require_username(self) -> str:
        if not isinstance(self.username, str) or not is_address(self.username):
            raise Invalid("Please provide a valid email address.")
        return self.username

    def require_case(self) -> str:
        if not isinstance(self.case, str):
            raise Invalid("Account recovery case must be a string.")
        if self.case not in CASES:
            raise Invalid("Account recovery reason not supported.")
        return self.case


@dataclass(frozen=True, slots=True, repr=False)
class _TokenBody:
    token: Annotated[object, meant(required, uuid)] = None


@dataclass(frozen=True, slots=True, repr=False)
class _KeyBody:
    armored_key: Annotated[object, meant(required, utf8)] = None


@dataclass(frozen=True, slots=True)
class _UserBody:
    locale: Annotated[object, meant(utf8)] = None


@dataclass(frozen=True, slots=True, repr=False)
class CompletionBody:
    """The end of a setup or of a recovery: the token of the e-mail, and the user's key."""

    authentication_token: Annotated[_TokenBody, if_object] = field(default_factory=_TokenBody)
    authenticationtoken: Annotated[_TokenBody, if_object] = field(default_factory=_TokenBody)
    """How old clients spell it."""
    gpgkey: Annotated[_KeyBody, if_object] = field(default_factory=_KeyBody)
    user: Annotated[_UserBody, if_object] = field(default_factory=_UserBody)

    @property
    def token(self) -> str:
        """The token in its canonical form, empty where it is none."""
        return find_uuid(self._sent_token) or ""

    @property
    def _sent_token(self) -> object:
        return self.authentication_token.token or self.authenticationtoken.token

    def require_token(self) -> str:
        token = self._sent_token
        if token in (None, ""):
            raise Invalid("An authentication token should be provided.")
        found = find_uuid(token)
        if found is None:
            raise Invalid("The authentication token should be a valid UUID.")
        return found

    def require_key(self) -> str:
        key = self.gpgkey.armored_key
        if not isinstance(key, str) or not key:
            raise Invalid("An OpenPGP key must be provided.")
        return key

    @property
    def locale(self) -> str | None:
        """The language the user set up in, where it is one we know."""
        return find_locale(self.user.locale)


@dataclass(frozen=True, slots=True, repr=False)
class AbortBody:
    """The end of a recovery the user does not want."""

    authentication_token: Annotated[_TokenBody, if_object] = field(default_factory=_TokenBody)

    def require_token(self) -> str:
        token = self.authentication_token.token
        if token in (None, ""):
            raise Invalid("An authentication token must be provided.")
        found = find_uuid(token)
        if found is None:
            raise Invalid("The token should be a valid UUID.")
        return found
