"""A tenant's keys, changed by the founder, step by step: those that sign tokens, the server's own.

The founder decides what may be done and when; here it is asked, and what it says is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.operator.key_sets import Step as KeyStep
from chalicelib.domain.operator.key_steps import AT_ONCE
from chalicelib.domain.operator.server_key_sets import SEALED_ANEW_AFTER, SEALED_ANEW_BEFORE
from chalicelib.domain.operator.server_key_sets import Step as ServerStep
from infra.operate import functions
from infra.operate.account import Account
from infra.operate.onboarding import FOUNDER
from infra.operate.registry import ACTIVE, Entry, Registry
from infra.operate.steps import Failed, Step

LOOK = "look"
RESEAL = "reseal"
_ANEW = "seal to the key in use what rests sealed to earlier ones"
Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Keys:
    """Which keys are changed."""

    word: str
    """By which the founder is told."""
    tells: str
    """What each of its answers has: that of a build from before has it not."""
    says: Mapping[str, str]
    sentences: Callable[[str, Told], list[str]]
    """How they stand, and the command that comes next."""

    @property
    def steps(self) -> list[str]:
        return [str(each) for each in self.says if each != AT_ONCE]


def steps(
    account: Account, entry: Entry, keys: Keys, what: str, *, instead: bool = False
) -> list[Step]:
    change = _Rotation(account, entry, keys, what, instead=instead)
    anew = Step(_ANEW, change.reseal)
    is_sealing = keys is SERVER
    return [
        Step("write down what is begun", change.begin),
        *([anew] if is_sealing and what in {*SEALED_ANEW_BEFORE, RESEAL} else ()),
        *([] if what == RESEAL else [Step(keys.says[what], change.carry_out)]),
        *([anew] if is_sealing and what in SEALED_ANEW_AFTER else ()),
        Step("write down that nothing is unfinished", change.end),
    ]


def look(account: Account, entry: Entry, keys: Keys) -> list[Step]:
    ask = _Rotation(account, entry, keys, LOOK, instead=False)
    return [Step("ask how the keys stand", ask.carry_out)]


class _Rotation:
    def __init__(
        self, account: Account, entry: Entry, keys: Keys, what: str, *, instead: bool
    ) -> None:
        self._account = account
        self._keys = keys
        self._registry = Registry(account)
        self._tenant = entry.tenant
        self._what = what
        self._instead = instead
        self._is_taken = False
        self._work = f"rotate {entry.tenant}"
        """Of every step: one that was cut short is in no other's way."""

    def begin(self) -> None:
        self._registry.begin(self._tenant, self._work, ACTIVE, instead=self._instead)

    def carry_out(self) -> str:
        told = self._asked(self._what, self._keys.tells)
        self._is_taken = True
        return "\n    ".join(self._keys.sentences(self._tenant, told))

    def reseal(self) -> str:
        """In calls that each end within a minute, until one has come to the end."""
        resealed, is_all = 0, False
        while not is_all:
            told = self._asked(RESEAL, "resealed")
            resealed, is_all = resealed + told["resealed"], told["is_all"]
        lost = f" {told['unopened']} do not open, and stay." if told["unopened"] else ""
        return f"{resealed} sealed anew.{lost}"

    def _asked(self, what: str, tells: str) -> Told:
        event = {self._keys.word: what}
        told: Told = functions.call(self._account, self._tenant, FOUNDER, event)
        if refusal := _refusal(told, tells):
            self._let_others()
            raise Failed(refusal)
        return told

    def end(self) -> None:
        self._registry.end(self._tenant, self._work)

    def _let_others(self) -> None:
        """What is refused changed nothing: nothing is unfinished, unless the step was taken."""
        if self._what != LOOK and not self._is_taken:
            self.end()


def _refusal(told: Told, tells: str) -> str | None:
    """Why nothing was done. A founder of before keys could be changed answers as to nothing."""
    if tells not in told and "refused" not in told:
        return "The build it runs cannot change keys: release first."
    return told.get("refused")


def _of_signing(tenant: str, told: Told) -> list[str]:
    signs, other, step = told["signs"], told["other"], told["step"]
    command = f"keyhaven infra rotate {tenant} --step {step}"
    if step == KeyStep.NEXT:
        return [f"{signs} signs, and no other is believed.", f"To change it: {command}"]
    since = f"Next, from {told['from']} on: {command}"
    if step == KeyStep.SIGN:
        return [f"{signs} signs; {other} is published beside it.", since]
    if told["signs_from"]:
        return [f"{signs} signs until {told['signs_from']}, and {other} from then on.", since]
    return [f"{signs} signs; {other} is still believed.", since]


def _of_server(tenant: str, told: Told) -> list[str]:
    in_use, coming, step = told["in_use"], told["coming"], told["step"]
    command = f"keyhaven infra rotate {tenant} --server-key --step {step}"
    if step == ServerStep.NEXT:
        return [f"{in_use} is in use, and there is no other.", f"To change it: {command}"]
    earlier, since = ", ".join(told["earlier"]), f"Next, from {told['from']} on: {command}"
    if step == ServerStep.USE:
        return [f"{in_use} is in use; {coming} is announced.", since]
    if told["used_from"]:
        return [f"{in_use} is in use until {told['used_from']}, and {coming} from then on.", since]
    if step == ServerStep.RETIRE:
        return [f"{in_use} is in use; {earlier} still answers who knows it.", since]
    return [f"{in_use} is in use; {earlier} only opens what a restore may bring back.", since]


SIGNING = Keys(
    "signing_keys",
    "signs",
    {
        KeyStep.NEXT: "make another key and publish it beside the one that signs",
        KeyStep.SIGN: "sign with the published key, in a quarter of an hour",
        KeyStep.RETIRE: "take the old key out, so that it is believed no more",
        AT_ONCE: "make another key, sign with it, and believe no other",
    },
    _of_signing,
)
SERVER = Keys(
    "server_key",
    "in_use",
    {
        ServerStep.NEXT: "make another key and tell all administrators its fingerprint",
        ServerStep.USE: "use the announced key, in a quarter of an hour",
        ServerStep.RETIRE: "let the earlier key answer no more, and tell all administrators",
        ServerStep.REMOVE: "remove the earlier key",
        AT_ONCE: "make another key, use it at once, and tell all administrators",
    },
    _of_server,
)
