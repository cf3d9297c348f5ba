"""Bodies of signing in and out. Nothing here is refused: the services judge what was sent."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from chalicelib.bodies.rules import (
    UNSET,
    Unset,
    if_object,
    meant,
    required,
    unless_null,
    utf8,
    uuid,
)
from chalicelib.domain.light import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Handshake:
    """One step of the GPG sign-in. Which one it is, the members that were sent say."""

    keyid: Annotated[object, meant(required, utf8)] = None
    server_verify_token: Annotated[object | Unset, unless_null, meant(utf8)] = UNSET
    user_token_result: Annotated[object | Unset, unless_null, meant(utf8)] = UNSET


@dataclass(frozen=True, slots=True, repr=False)
class _WrappedBody:
    gpg_auth: Annotated[Handshake, if_object] = field(default_factory=Handshake)


@dataclass(frozen=True, slots=True, repr=False)
class HandshakeBody:
    gpg_auth: Annotated[Handshake | Unset, if_object] = UNSET
    data: Annotated[_WrappedBody, if_object] = field(default_factory=_WrappedBody)
    """Some clients wrap the same in one more level."""

    @property
    def handshake(self) -> Handshake:
        return self.data.gpg_auth if isinstance(self.gpg_auth, Unset) else self.gpg_auth


@dataclass(frozen=True, slots=True, repr=False)
class LoginBody:
    user_id: Annotated[object, meant(required, uuid)] = None
    challenge: Annotated[object, meant(required, utf8)] = None


@dataclass(frozen=True, slots=True, repr=False)
class RefreshBody:
    """Where neither member was sent, the token is the cookie's."""

    user_id: Annotated[object | Unset, unless_null, meant(uuid)] = UNSET
    refresh_token: Annotated[object | Unset, unless_null, meant(uuid)] = UNSET


@dataclass(frozen=True, slots=True, repr=False)
class LogoutBody:
    """Without a token all sessions end: so one that is null is refused, and not taken for none."""

    refresh_token: Annotated[object | Unset, meant(uuid)] = UNSET
