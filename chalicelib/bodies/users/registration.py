"""Bodies of self-registration: whom the organisation lets in, and who wants to come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import (
    Rule,
    absent_is_empty,
    at_most,
    email,
    in_list,
    max_length,
    not_empty,
    with_members,
)
from chalicelib.bodies.users.users import ProfileBody
from chalicelib.domain.addresses import EMAIL_DOMAINS, canonical_domain, is_domain
from chalicelib.domain.light import dataclass

INVALID_ADDRESS = "The self registration data could not be validated."
MOST_DOMAINS = 100
fits_user = max_length(255)
"""Of an address that a user may have."""


def _canonical(domains: Sequence[str]) -> list[str]:
    return [canonical_domain(domain) for domain in domains]


def _are_domains(value: Any) -> bool:
    if not isinstance(value, list) or not all(map(is_domain, value)):
        return False
    return len(set(_canonical(value))) == len(value)


are_email_domains = Rule(
    "areEmailDomainsValid",
    "The {field} should be different domains of email addresses.",
    _are_domains,
    canonical=_canonical,
    schema={"uniqueItems": True},
)


@dataclass(frozen=True, slots=True)
class DomainsBody:
    allowed_domains: Annotated[
        list[str], absent_is_empty, not_empty, at_most(MOST_DOMAINS), are_email_domains
    ]


@dataclass(frozen=True, slots=True)
class SelfRegistrationBody:
    """Whose people may register by themselves."""

    provider: Annotated[str, absent_is_empty, not_empty, in_list(EMAIL_DOMAINS)]
    data: Annotated[DomainsBody, absent_is_empty, not_empty, with_members]


@dataclass(frozen=True, slots=True)
class EmailBody:
    """The address of someone who would register."""

    email: Annotated[str, not_empty, email]


@dataclass(frozen=True, slots=True)
class RegistrationBody:
    """What a guest registers with, who chooses neither role nor suspension."""

    username: Annotated[str, not_empty, email, fits_user]
    profile: Annotated[ProfileBody, not_empty]


def read_address(draft: Draft[RegistrationBody]) -> str:
    """The address alone of a registration, which is looked at before all else."""
    sent = {"email": draft.members.get("username")}
    return Draft(EmailBody, sent).read(INVALID_ADDRESS).email
