"""Who follows a link, and what they are told before they set anything up."""

from __future__ import annotations

from chalicelib.domain.light import dataclass
from chalicelib.services.users.people.people import Person
from chalicelib.services.users.policies.policies import Document


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Who sets up or recovers here, and how strong their passphrase is to be."""

    person: Person
    locale: str
    """Their own language, or the organisation's."""
    passphrases: Document
