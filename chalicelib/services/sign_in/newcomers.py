"""Who follows a link, and what they are told before they set anything up."""

from __future__ import annotations

from chalicelib.domain.light import dataclass
from chalicelib.services.organisation.policies import Document
from chalicelib.services.users.people import Person


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Who sets up or recovers here, and how strong their passphrase is to be."""

    person: Person
    passphrases: Document
