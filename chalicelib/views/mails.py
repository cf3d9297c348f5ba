"""What mails say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chalicelib.domain import harmless


class Params:
    """What a template may say of what its outbox row holds.

    There is no other way to a text that somebody else chose, so no template can forget that a
    name may be a sentence with a link in it.
    """

    def __init__(self, stored: Mapping[str, str]) -> None:
        self.__stored = stored

    @property
    def first_name(self) -> str:
        return harmless.name(self.__stored["first_name"])

    @property
    def domains(self) -> str:
        listed = filter(None, self.__stored["domains"].split(", "))
        return ", ".join(map(harmless.domain, listed))

    @property
    def source(self) -> str:
        return harmless.network_address(self.__stored["source"])

    @property
    def link(self) -> str:
        """Ours, which who sends the mail sees to."""
        return self.__stored["link"]


@dataclass(frozen=True, slots=True)
class Mail:
    subject: str
    text: str
    link: str


def _invitation(params: Params) -> Mail:
    name, link = params.first_name, params.link
    text = (
        f"Hello {name},\n\n"
        "you have been invited to Keyhaven, the password manager of your team.\n"
        f"Set up your account here, within ten days:\n\n{link}\n"
    )
    return Mail(f"Welcome to Keyhaven, {name}!", text, link)


def _reminder(params: Params) -> Mail:
    name, link = params.first_name, params.link
    text = (
        f"Hello {name},\n\n"
        "somebody, hopefully you, asked for another link to your Keyhaven account, which has\n"
        f"yet to be set up. Complete the setup here, within ten days:\n\n{link}\n\n"
        "If it was not you, there is nothing to do.\n"
    )
    return Mail(f"Complete the setup of your account, {name}!", text, link)


def _recovery(params: Params) -> Mail:
    name, link = params.first_name, params.link
    text = (
        f"Hello {name},\n\n"
        "somebody, hopefully you, asked to set up your Keyhaven account on another device.\n"
        f"Have your recovery kit at hand and follow this link within ten days:\n\n{link}\n\n"
        "If it was not you, there is nothing to do.\n"
    )
    return Mail(f"Your account recovery, {name}!", text, link)


def _registration(params: Params) -> Mail:
    name, link = params.first_name, params.link
    text = (
        f"Hello {name},\n\n"
        "somebody, hopefully you, registered this address with Keyhaven, the password manager\n"
        f"of your team. Set up your account here, within ten days:\n\n{link}\n\n"
        "If it was not you, there is nothing to do.\n"
    )
    return Mail(f"Welcome to Keyhaven, {name}!", text, link)


def _registered(params: Params) -> Mail:
    name, link = params.first_name, params.link
    text = (
        "Hello,\n\n"
        f"{name} has registered with Keyhaven, by an address of a domain whose people may.\n"
        f"This is the account:\n\n{link}\n"
    )
    return Mail(f"{name} just created an account on Keyhaven!", text, link)


def _self_registration(params: Params) -> Mail:
    domains, link = params.domains, params.link
    who = f"People of these domains may register: {domains}" if domains else "Nobody may."
    text = (
        "Hello,\n\n"
        "an administrator changed who may register with Keyhaven without an invitation.\n"
        f"{who}\n\n{link}\n"
    )
    return Mail("The self registration settings of Keyhaven were changed", text, link)


def _token_reused(params: Params) -> Mail:
    name, source, link = params.first_name, params.source, params.link
    text = (
        f"Hello {name},\n\n"
        "a token that keeps you signed in to Keyhaven was used a second time. Somebody may have\n"
        "copied it, so the session it belongs to was ended. The second use came from this\n"
        f"network address, which may be yours or theirs: {source}\n\n"
        f"Sign in again here:\n\n{link}\n\n"
        "If you do not know how that could happen, tell an administrator of your team: whoever\n"
        "copied the token may have had access to one of your devices.\n"
    )
    return Mail("Security alert: a session of yours on Keyhaven was ended", text, link)


def _token_reused_of_user(params: Params) -> Mail:
    name, source, link = params.first_name, params.source, params.link
    text = (
        "Hello,\n\n"
        f"a token that keeps {name} signed in to Keyhaven was used a second time. Somebody may\n"
        "have copied it, so the session it belongs to was ended. The second use came from this\n"
        f"network address, which may be the user's or not: {source}\n"
        f"This is the account:\n\n{link}\n"
    )
    return Mail(f"Security alert: a session of {name} on Keyhaven was ended", text, link)


def _second_factor_reset(params: Params) -> Mail:
    name, link = params.first_name, params.link
    text = (
        f"Hello {name},\n\n"
        "your multi-factor authentication settings were reset by you. Signing in to Keyhaven\n"
        f"takes your key alone, until you set up a second factor again:\n\n{link}\n\n"
        "If it was not you, tell an administrator of your team at once.\n"
    )
    return Mail("Your multi-factor authentication settings were reset by you.", text, link)


def _second_factor_reset_by_administrator(params: Params) -> Mail:
    name, link = params.first_name, params.link
    text = (
        f"Hello {name},\n\n"
        "your multi-factor authentication settings were reset by an administrator. Signing in to\n"
        f"Keyhaven takes your key alone, until you set up a second factor again:\n\n{link}\n\n"
        "If you did not ask for that, tell an administrator of your team at once.\n"
    )
    subject = "Your multi-factor authentication settings were reset by an administrator."
    return Mail(subject, text, link)


TEMPLATES: Mapping[str, Callable[[Params], Mail]] = {
    "invitation": _invitation,
    "reminder": _reminder,
    "recovery": _recovery,
    "registration": _registration,
    "registered": _registered,
    "self-registration": _self_registration,
    "second-factor-reset": _second_factor_reset,
    "second-factor-reset-by-administrator": _second_factor_reset_by_administrator,
    "token-reused": _token_reused,
    "token-reused-of-user": _token_reused_of_user,
}


def render(template: str, stored: Mapping[str, str]) -> Mail:
    """Return the mail of a template and of what its outbox row holds for it."""
    return TEMPLATES[template](Params(stored))
