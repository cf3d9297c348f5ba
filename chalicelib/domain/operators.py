"""People who run the service, as AWS knows them: who one of them is, and how they show it."""

from __future__ import annotations

import json
from hashlib import sha256

from chalicelib.domain.light import dataclass

PURPOSE = "X-Keyhaven-Purpose"
"""The header that says for what alone a proof is good; it is signed with the others."""
ASK_WHO = "Action=GetCallerIdentity&Version=2011-06-15"
"""The body of the request to STS by which AWS says who has signed it."""


@dataclass(frozen=True, slots=True, repr=False)
class Proof:
    """What an operator's own credentials have signed: the headers of that request.

    Whoever sends it on learns who signed it and can do nothing else with it, for some minutes.
    """

    authorization: str
    date: str
    session: str | None
    """The token of credentials that end by themselves."""

    @property
    def signs_its_purpose(self) -> bool:
        _, _, signed = self.authorization.partition("SignedHeaders=")
        return PURPOSE.lower() in signed.partition(",")[0].strip().split(";")


@dataclass(frozen=True, slots=True)
class Operator:
    arn: str

    @property
    def account(self) -> str:
        return self.arn.split(":")[4]

    def is_person(self, other: Operator) -> bool:
        """Whether two are one person: the same user, or sessions of one name in any roles."""
        return self.name == other.name

    @property
    def name(self) -> str:
        return self.arn.rpartition("/")[2]


def purpose(function: str, what: str, *named: str) -> str:
    """For what a proof is good, as it stands in one header: which function does what; of what is
    named, the digest.
    """
    return f"{function} {what} {sha256(json.dumps(named).encode()).hexdigest()}"
