"""The keys that sign a tenant's access tokens, changed by the founder, step by step.

The founder decides what may be done and when; here it is asked, and what it says is told.
"""

from __future__ import annotations

from typing import Any

from chalicelib.domain.key_sets import Step as KeyStep
from infra.operate import functions
from infra.operate.account import Account
from infra.operate.onboarding import FOUNDER
from infra.operate.registry import ACTIVE, Entry, Registry
from infra.operate.steps import Failed, Step

LOOK = "look"
AT_ONCE = "replace"
_SAYS = {
    KeyStep.NEXT: "make another key and publish it beside the one that signs",
    KeyStep.SIGN: "sign with the published key, in a quarter of an hour",
    KeyStep.RETIRE: "take the old key out, so that it is believed no more",
    AT_ONCE: "make another key, sign with it, and believe no other",
}


def steps(account: Account, entry: Entry, what: str, *, instead: bool = False) -> list[Step]:
    change = _Rotation(account, entry, what, instead=instead)
    return [
        Step("write down what is begun", change.begin),
        Step(_SAYS[what], change.carry_out),
        Step("write down that nothing is unfinished", change.end),
    ]


def look(account: Account, entry: Entry) -> list[Step]:
    ask = _Rotation(account, entry, LOOK, instead=False)
    return [Step("ask how the keys stand", ask.carry_out)]


class _Rotation:
    def __init__(self, account: Account, entry: Entry, what: str, *, instead: bool) -> None:
        self._account = account
        self._registry = Registry(account)
        self._tenant = entry.tenant
        self._what = what
        self._instead = instead
        self._work = f"rotate {entry.tenant}"
        """Of every step: one that was cut short is in no other's way."""

    def begin(self) -> None:
        self._registry.begin(self._tenant, self._work, ACTIVE, instead=self._instead)

    def carry_out(self) -> str:
        event = {"signing_keys": self._what}
        told = functions.call(self._account, self._tenant, FOUNDER, event)
        if refusal := _refusal(told):
            self._let_others()
            raise Failed(refusal)
        return "\n    ".join(_sentences(self._tenant, told))

    def end(self) -> None:
        self._registry.end(self._tenant, self._work)

    def _let_others(self) -> None:
        """What is refused changed nothing, so nothing is unfinished."""
        if self._what != LOOK:
            self.end()


def _refusal(told: dict[str, Any]) -> str | None:
    """Why nothing was done. A founder of before keys could be changed answers as to nothing."""
    if "signs" not in told and "refused" not in told:
        return "The build it runs cannot change keys: release first."
    return told.get("refused")


def _sentences(tenant: str, told: dict[str, Any]) -> list[str]:
    """How the keys stand, and the command that comes next."""
    signs, other, step = told["signs"], told["other"], told["step"]
    command = f"python -m infra rotate {tenant} --step {step}"
    if step == KeyStep.NEXT:
        return [f"{signs} signs, and no other is believed.", f"To change it: {command}"]
    since = f"Next, from {told['from']} on: {command}"
    if step == KeyStep.SIGN:
        return [f"{signs} signs; {other} is published beside it.", since]
    if told["signs_from"]:
        return [f"{signs} signs until {told['signs_from']}, and {other} from then on.", since]
    return [f"{signs} signs; {other} is still believed.", since]
