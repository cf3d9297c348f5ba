"""Another administrator, where nobody who is one can sign in: two people of the operator do it.

Who gives a command shows who they are by what their own credentials sign; the founder asks AWS
who that was, so nobody can do it in another's name, and one person cannot be two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from chalicelib.domain.operator.operators import ASK_WHO, Proof, purpose
from chalicelib.post import operators
from chalicelib.workers.founder import ASK, GRANT, LOOK, WITHDRAW
from infra.operate import functions
from infra.operate.account import Account
from infra.operate.onboarding import FOUNDER
from infra.operate.registry import Entry
from infra.operate.steps import Failed, Step


def look(account: Account, entry: Entry) -> list[Step]:
    return [Step("ask what is asked for", lambda: _waiting(account, entry))]


def ask(account: Account, entry: Entry, wanted: Mapping[str, str]) -> list[Step]:
    def do() -> str:
        shown = proof(account, entry, ASK, *(wanted[name] for name in _NAMED))
        request = _called(account, entry, do=ASK, administrator=dict(wanted), proof=shown)[ASK]
        return "\n    ".join(["All administrators are told by mail.", *_told(entry, request)])

    return [Step(f"ask for {wanted['username']} as an administrator", do)]


def grant(account: Account, entry: Entry, request_id: str) -> list[Step]:
    def do() -> str:
        shown = proof(account, entry, GRANT, request_id)
        request = _called(account, entry, do=GRANT, id=request_id, proof=shown)[GRANT]
        return (
            f"{request['username']} gets the link to the setup by mail, good for ten days. "
            f"All administrators are told."
        )

    return [Step("grant what was asked for", do)]


def withdraw(account: Account, entry: Entry, request_id: str) -> list[Step]:
    def do() -> None:
        _called(account, entry, do=WITHDRAW, id=request_id)

    return [Step("withdraw what was asked for", do)]


_NAMED = ("username", "first_name", "last_name", "reason")


def _waiting(account: Account, entry: Entry) -> str:
    request = _called(account, entry, do=LOOK)[LOOK]
    return "Nothing is." if request is None else "\n    ".join(_told(entry, request))


def _told(entry: Entry, request: Mapping[str, str]) -> list[str]:
    command = f"keyhaven infra break-glass {entry.tenant}"
    person = f"{request['first_name']} {request['last_name']}, {request['username']},"
    return [
        f"{request['asked_by']} asks for {person} as an administrator: {request['reason']}",
        f"Within a day of {request['asked']} another one of you: {command} --grant {request['id']}",
        f"Or anybody: {command} --withdraw {request['id']}",
    ]


def _called(account: Account, entry: Entry, **asked: Any) -> Any:
    told = functions.call(account, entry.tenant, FOUNDER, {"break_glass": asked})
    if "refused" in told:
        wrong = "; ".join(
            f"{name}: {', '.join(why.values())}" for name, why in (told.get("errors") or {}).items()
        )
        raise Failed(" ".join(filter(None, [told["refused"], wrong])))
    if "fingerprint" in told:
        raise Failed("The build it runs knows no break-glass: release first.")
    return told


def proof(account: Account, entry: Entry, what: str, *named: str) -> dict[str, str | None]:
    """A request to STS, signed for this alone and not sent."""
    where = operators.endpoint(account.region)
    wanted = operators.headers(
        urlsplit(where).netloc, purpose(functions.name_of(entry.tenant, FOUNDER), what, *named)
    )
    request = AWSRequest("POST", f"{where}/", headers=wanted, data=ASK_WHO)
    SigV4Auth(account.credentials, "sts", account.region).add_auth(request)
    sent = request.headers
    shown = Proof(sent["Authorization"], sent["X-Amz-Date"], sent.get("X-Amz-Security-Token"))
    return asdict(shown)
