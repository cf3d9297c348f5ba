"""How mobile transfers look to a client."""

from __future__ import annotations

from collections.abc import Collection
from typing import NotRequired, TypedDict, cast

from chalicelib.domain.sign_in.mobile_transfers import MobileTransfer
from chalicelib.services.sign_in.mobile_transfers import Begun, Shown
from chalicelib.tables.tokens import TRANSFER_TOKEN
from chalicelib.tables.users.users import User
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users import users
from chalicelib.views.users.users import ProfileJson, UserJson

USER = "user"
PROFILE = "user.profile"


class MobileTransferOwnerJson(UserJson):
    profile: NotRequired[ProfileJson]


class MobileTransferJson(TypedDict):
    id: Uuid
    user_id: Uuid
    authentication_token_id: Uuid
    hash: str
    total_pages: int
    current_page: int
    status: str
    created: Moment
    modified: Moment
    user: NotRequired[MobileTransferOwnerJson]


class MobileTransferTokenJson(TypedDict):
    id: Uuid
    user_id: Uuid
    token: Uuid
    active: bool
    type: str
    created: Moment
    modified: Moment


class BegunMobileTransferJson(MobileTransferJson):
    authentication_token: MobileTransferTokenJson


def begun(made: Begun) -> BegunMobileTransferJson:
    """A new transfer with its token, which nobody is told again."""
    transfer = made.transfer
    token: MobileTransferTokenJson = {
        "id": transfer.token_id,
        "user_id": transfer.user_id,
        "token": made.token,
        "active": True,
        "type": TRANSFER_TOKEN,
        "created": transfer.created,
        "modified": transfer.created,
    }
    return {**_transfer(transfer), "authentication_token": token}


def shown(found: Shown, contained: Collection[str]) -> MobileTransferJson:
    """A transfer, with its user where that was asked for."""
    transfer = _transfer(found.transfer)
    if found.user is not None and USER in contained:
        transfer["user"] = _owner(found.user, contained)
    return transfer


def _owner(user: User, contained: Collection[str]) -> MobileTransferOwnerJson:
    owner = cast(MobileTransferOwnerJson, users.brief(user))
    if PROFILE in contained:
        owner["profile"] = users.profile(user)
    return owner


def _transfer(transfer: MobileTransfer) -> MobileTransferJson:
    return {
        "id": transfer.id,
        "user_id": transfer.user_id,
        "authentication_token_id": transfer.token_id,
        "hash": transfer.hash,
        "total_pages": transfer.total_pages,
        "current_page": transfer.current_page,
        "status": transfer.status,
        "created": transfer.created,
        "modified": transfer.modified,
    }
