"""People who run the service, as AWS knows them: who one of them is, and how they show it."""

from __future__ import annotations

import json
from hashlib import sha256

from chalicelib.domain.light import dataclass

PURPOSE = "X-Keyhaven-Purpose"
"""The header that says for what alone a proof is good; it is signed with the others."""
ASK_WHO = "Action=GetCallerIdentity&Version=2011-06-15"
"""The body of the request to STS by which AWS says who has signed it."""

DEPLOYERS = "keyhaven-deployer-"
"""How the name of a cell's role of deployers begins; its region follows."""
_IDENTITY_CENTER = "AWSReservedSSO_"
"""How names of roles begin that IAM Identity Center makes, and nobody else may make."""


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

    def is_admitted(self, region: str) -> bool:
        """Whether people alone come by it: as a user, or by a role that keeps their names.

        Roles of functions and of CI sign too, under names that code chooses. The name of a role
        is compared as a whole, since a tenant may be called «deployer».
        """
        kind, _, rest = self.arn.split(":", 5)[5].partition("/")
        role, _, _ = rest.partition("/")
        is_role_of_people = role == f"{DEPLOYERS}{region}" or role.startswith(_IDENTITY_CENTER)
        return kind == "user" or (kind == "assumed-role" and is_role_of_people)

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
