"""A tenant put back to a moment, in new tables beside the old ones.

Tables come back one by one and lose their settings, so these are put back and all rows are
checked against each other before anything leads to them. Until the functions are led there the
tenant runs on its old tables, and giving up costs nothing. These stay for seven days longer.

Rows come from what the old tables remember of each second, or, where these are gone, from copies
in the vault.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from chalicelib.storage.forms import UnknownForm
from chalicelib.tables.settings import SERVER_KEY, SIGNING_KEYS
from infra.operate import builds, functions, leftovers, smoke
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.onboarding import FOUNDER
from infra.operate.registry import ACTIVE, HELD, Entry, Registry
from infra.operate.restores import copies
from infra.operate.restores.copies import CopySet
from infra.operate.stack import Stack
from infra.operate.steps import Failed, Step
from infra.operate.tables import rows, table_settings
from infra.template.compute import WAITING
from infra.template.elements import Json
from infra.template.tables import RECOVERY_DAYS, our_tables, table_id, tables
from infra.template.tiers import TIERS
from integrity.invariants import violations

WORK = "restore"
KEPT_DAYS = 7
"""How long the tables of the epoch before stay."""
SHOWN = 20
_IN_USE = "The functions use the new tables already."
SETTINGS = "settings"
SESSIONS = "tokens"
"""The table with sessions, and with links and nonces that are used once."""
MAILS = "outbox"
_KEY_ROWS = [{"name": {"S": name}} for name in (SIGNING_KEYS, SERVER_KEY)]


class Source(Protocol):
    """Where the rows come from."""

    @property
    def empty(self) -> frozenset[str]:
        """Tables that are made anew: they came later."""
        ...

    def begin(self, name: str, target: str, properties: Json, key: str) -> None:
        """Have a table brought back under another name, and under the tenant's key."""
        ...

    def require_goes_on(self, target: str, *, is_there: bool) -> bool:
        """Whether a table that is there is whole; `Failed` where it will not be."""
        ...


def steps(
    account: Account, build: Build, entry: Entry, moment: datetime, *, instead: bool = False
) -> list[Step]:
    """To a second of the last 35 days, by the tables the tenant runs on."""
    source = _Past(account, entry, moment)
    back = _Restore(account, build, entry, source, moment, instead=instead)
    restore = Step(f"restore each table to {moment:%Y-%m-%d %H:%M:%S} UTC", back.restore)
    return back.steps(restore, *back.over_to_them())


def steps_from_vault(
    account: Account, build: Build, entry: Entry, chosen: CopySet, *, instead: bool = False
) -> list[Step]:
    """To the last copies, whether or not the tables are there that they were made of."""
    source = copies.Restoring(account, chosen)
    back = _Restore(account, build, entry, source, chosen.last, instead=instead)
    restore = Step(f"restore each table from the vault: {chosen}", back.restore)
    publish = Step("publish the keys that the secrets hold", back.publish_keys)
    return back.steps(restore, *back.over_to_them(), publish)


class _Restore:
    def __init__(
        self,
        account: Account,
        build: Build,
        entry: Entry,
        source: Source,
        moment: datetime,
        *,
        instead: bool,
    ) -> None:
        self._account = account
        self._registry = Registry(account)
        self._build = build
        self._entry = entry
        self._source = source
        self._instead = instead
        self._work = f"{WORK} {entry.tenant} {moment:%Y-%m-%dT%H:%M:%SZ}"
        self._new = replace(entry, epoch=entry.epoch + 1)

    def steps(self, restore: Step, *over_to_them: Step) -> list[Step]:
        """All of them; what changes something is done while nobody has the tenant held."""
        changing = [
            restore,
            Step(
                "put back what restored tables lose: expiry, recovery, protection, tags",
                self.settle,
            ),
            Step("check all rows against each other", self.check),
            Step("close all sessions, end all links, and drop the mails that wait", self.close),
            Step("keep the keys that sign tokens as they are", self.keep_keys),
            *over_to_them,
        ]
        return [
            Step("write down what is begun", self.begin),
            *self._registry.while_at_work(self._entry.tenant, self._work, changing),
            Step("see that it answers", self.smoke),
            Step("write down the new epoch", self.end),
        ]

    def over_to_them(self) -> list[Step]:
        return [
            Step("take the new tables into the stack", self.take_in),
            Step("switch the service off", self.silence),
            Step("lead the functions to the new tables", self.switch),
            Step("switch the service on again", self.wake),
        ]

    def begin(self) -> None:
        tenant, work = self._entry.tenant, self._work
        self._require_not_mixed(self._registry.fetch(tenant))
        entry = self._registry.begin(tenant, work, ACTIVE, instead=self._instead, restoring=work)
        if entry.epoch != self._entry.epoch:
            self._registry.end(tenant, work, restoring="")
            raise Failed("The tenant was restored just now; look at `status`.")

    def _require_not_mixed(self, entry: Entry) -> None:
        """Tables that are there, or are still to come, are of one moment: also with `--instead`."""
        if self._work in (entry.restoring, entry.work):
            return
        newer = replace(entry, epoch=entry.epoch + 1)
        if any(name.startswith(newer.table_prefix) for name in self._present()):
            raise Failed(
                f"Tables of epoch {newer.epoch} are there already, and this is not finished: "
                f"{entry.restoring or entry.work or 'an earlier restore'}. Finish it, or remove "
                f"them first: `keyhaven infra restore {entry.tenant} --give-up`."
            )
        copies.require_none_under_way(self._account, entry.tenant)

    def restore(self) -> str:
        """A table that came since was empty at the moment: there it is made, not restored."""
        empty, present = self._source.empty, self._present()
        for name in our_tables():
            if self._new.table(name) not in present:
                self._begin(name, is_empty=name in empty)
        self._account.until(self._are_there, 20)
        made = f", {len(empty)} of them empty: they came later" if empty else ""
        return f"{len(our_tables())} tables{made}."

    def _begin(self, name: str, *, is_empty: bool) -> None:
        resource = self._resources()[table_id(name, self._new.epoch)]
        key = self._stack.outputs()["TenantKeyArn"]
        if is_empty:
            table_settings.create(self._account, resource, self._entry.tenant, key)
            return
        target = self._new.table(name)
        self._source.begin(name, target, resource["Properties"], key)

    def settle(self) -> None:
        """From the template, so that a restored table is what a new one would be."""
        for resource in self._resources().values():
            table_settings.put_back(self._account, resource, self._entry.tenant)

    def check(self) -> str:
        """Refuse a state that never was: then another second is to be tried, or a repair."""
        if self._is_switched():
            return _IN_USE
        stored = {name: rows.read(self._account, self._new.table(name)) for name in our_tables()}
        try:
            found = violations(stored)
        except UnknownForm as unknown:
            raise Failed(
                f"Some rows of that state are of a form that this build does not read: {unknown}. "
                "The tenant runs on as before. To try a later second, give "
                f"`keyhaven infra restore {self._entry.tenant} --give-up` first."
            ) from None
        if found:
            raise Failed(self._refusal([str(each) for each in found]))
        return f"{sum(map(len, stored.values())):,} rows, nothing is wrong."

    def close(self) -> str:
        """What was used up since the moment would be unused again: a link, a token, a nonce.

        Mails that waited at the moment have been sent since, or hold a link that ends here.
        """
        if self._is_switched():
            return _IN_USE
        ended, dropped = (
            rows.empty(self._account, self._new.table(name)) for name in (SESSIONS, MAILS)
        )
        return (
            f"{ended} ended, {dropped} mails dropped. "
            "Who was invited and has not set up asks for another link."
        )

    def keep_keys(self) -> str:
        """Their private halves are no rows, and were not put back."""
        if self._is_switched():
            return _IN_USE
        old, new = self._entry.table(SETTINGS), self._new.table(SETTINGS)
        if old not in self._present():
            rows.remove(self._account, new, _KEY_ROWS)
            return "The table that had them is gone. They are published by the secrets, below."
        for key in _KEY_ROWS:
            rows.copy(self._account, old, new, key)
        return "As published now."

    def publish_keys(self) -> str:
        """What is not published yet is, by the private halves: the rows may be gone, or older."""
        made = functions.call(self._account, self._entry.tenant, FOUNDER, {})
        return f"The fingerprint of the server's key: {made['fingerprint']}"

    def take_in(self) -> str:
        """Import them: a stack never creates what is there."""
        new = self._resources()
        if new.keys() <= self._stack.template()["Resources"].keys():
            return "They are in it."
        named = {table_id(name, self._new.epoch): self._new.table(name) for name in our_tables()}
        self._stack.take_in(new, named)
        return f"{len(named)} taken in."

    def silence(self) -> str:
        """While some functions use the old tables and some the new ones, nobody writes."""
        return functions.silence(self._account, self._stack)

    def switch(self) -> str:
        """The old tables leave the stack, and stay in the account."""
        self._stack.change(_at_once(self._template()))
        return f"Epoch {self._new.epoch}."

    def wake(self) -> str:
        return functions.wake(self._account, self._entry, self._stack, self._template())

    def smoke(self) -> str:
        return smoke.require_well(self._account, self._entry)

    def end(self) -> str:
        until = datetime.fromtimestamp(self._account.now(), UTC) + timedelta(days=KEPT_DAYS)
        old = self._entry.table_prefix
        is_left = any(name.startswith(old) for name in self._present())
        self._registry.end(
            self._entry.tenant,
            self._work,
            epoch=self._new.epoch,
            let_go=f"{until:%Y-%m-%d}",
            restoring="",
        )
        if not is_left:
            return f"No table of epoch {self._entry.epoch} is left."
        return f"The tables of epoch {self._entry.epoch} stay until {until:%Y-%m-%d} at least."

    @property
    def _stack(self) -> Stack:
        return builds.stack_of(self._account, self._entry.tenant)

    def _template(self) -> Json:
        return builds.template_of(self._new, self._build, self._stack.parameters())

    def _is_switched(self) -> bool:
        prefix = self._stack.outputs()["TablePrefix"]
        return prefix == self._new.table_prefix

    def _present(self) -> set[str]:
        return {name for _, name in leftovers.tables(self._account, self._entry.tenant)}

    def _are_there(self) -> bool:
        names = [self._new.table(name) for name in our_tables()]
        ready = [
            name
            for name in names
            if self._source.require_goes_on(name, is_there=leftovers.is_there(self._account, name))
        ]
        print(f"    {len(ready)} of {len(names)} tables are back", flush=True)
        return len(ready) == len(names)

    def _resources(self) -> dict[str, Json]:
        tier = TIERS[self._entry.tier]
        return tables(self._new.epoch, may_be_removable=tier.may_be_removable)

    def _refusal(self, found: list[str]) -> str:
        more = [f"  and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        tenant, epoch = self._entry.tenant, self._new.epoch
        return "\n".join(
            [
                f"{len(found)} things are wrong with that state, so nothing leads to it:",
                *(f"  {each}" for each in found[:SHOWN]),
                *more,
                "The tenant runs on as before. Tables come back one by one, so a change that was",
                "just being written may be half there. To try another second, remove them first:",
                f"`keyhaven infra restore {tenant} --give-up`. Or repair the rows by hand, in the",
                f"tables of epoch {epoch} (docs/operations.md), and repeat the command.",
            ]
        )


class _Past:
    """What the tables the tenant runs on remember of a second."""

    def __init__(self, account: Account, entry: Entry, moment: datetime) -> None:
        self._account = account
        self._entry = entry
        self._moment = moment

    @property
    def empty(self) -> frozenset[str]:
        return require_reached(self._account, self._entry, self._moment)

    def begin(self, name: str, target: str, properties: Json, key: str) -> None:
        self._account.client("dynamodb").restore_table_to_point_in_time(
            SourceTableName=self._entry.table(name),
            TargetTableName=target,
            RestoreDateTime=self._moment,
            SSESpecificationOverride=table_settings.encryption(key),
            OnDemandThroughputOverride=properties["OnDemandThroughput"],
        )

    def require_goes_on(self, target: str, *, is_there: bool) -> bool:  # noqa: ARG002
        return is_there


def give_up(account: Account, entry: Entry) -> list[Step]:
    """Remove what a restore that did not come to its end has made; whoever is held stays so."""
    registry = Registry(account)

    def end() -> None:
        if entry.work == HELD:
            registry.begin(entry.tenant, HELD, ACTIVE, restoring="")
        else:
            registry.end(entry.tenant, entry.work, restoring="")

    return [
        Step(
            "remove the tables of the epoch that was not reached",
            lambda: _remove_unreached(account, entry),
        ),
        Step("write down that nothing is unfinished", end),
    ]


def _remove_unreached(account: Account, entry: Entry) -> str:
    if entry.work and entry.work != HELD and not entry.work.startswith(WORK):
        raise Failed(f"It is no restore that is unfinished, but: {entry.work}.")
    copies.require_none_under_way(account, entry.tenant)
    newer = [name for epoch, name in leftovers.tables(account, entry.tenant) if epoch > entry.epoch]
    held = set(builds.stack_of(account, entry.tenant).resources("DynamoDB::Table").values())
    if held & set(newer):
        raise Failed(
            "The stack has taken the new tables in: finish the restore instead "
            f"({entry.restoring or entry.work})."
        )
    leftovers.remove_tables(account, newer)
    return f"{len(newer)} tables."


def let_go(account: Account, entry: Entry) -> list[Step]:
    """Remove the tables of earlier epochs, when their seven days are over."""

    def remove() -> str:
        today = f"{datetime.fromtimestamp(account.now(), UTC):%Y-%m-%d}"
        if today < entry.let_go:
            raise Failed(f"They stay until {entry.let_go}.")
        older = [
            name for epoch, name in leftovers.tables(account, entry.tenant) if epoch < entry.epoch
        ]
        leftovers.remove_tables(account, older)
        return f"{len(older)} tables."

    return [Step("remove the tables of earlier epochs", remove)]


def _at_once(template: Json) -> Json:
    """The same, without a tenth of the requests first: those would see other tables.

    And without instances that always wait: what is silenced may have none.
    """
    resources = {
        name: {
            **{key: value for key, value in each.items() if key != "UpdatePolicy"},
            "Properties": {
                key: value for key, value in each["Properties"].items() if key != WAITING
            },
        }
        for name, each in template["Resources"].items()
    }
    return {**template, "Resources": resources}


def require_within_reach(account: Account, moment: datetime) -> None:
    now = datetime.fromtimestamp(account.now(), UTC)
    if not now - timedelta(days=RECOVERY_DAYS) <= moment <= now - timedelta(minutes=5):
        raise Failed(
            f"A moment should be from {RECOVERY_DAYS} days to five minutes ago; "
            f"it is {now:%Y-%m-%dT%H:%M:%SZ}."
        )


def require_reached(account: Account, entry: Entry, moment: datetime) -> frozenset[str]:
    """Tables that came after a moment; `Failed` where what was stored then cannot be had back.

    One that a restore has made holds nothing of before it, and is not taken for one that came.
    """
    _require_there(account, entry)
    described = {name: _described(account, entry, name) for name in our_tables()}
    younger = {name for name, each in described.items() if each["CreationDateTime"] > moment}
    restored = sorted(name for name in younger if described[name].get("RestoreSummary"))
    if restored:
        raise Failed(
            f"The tables of epoch {entry.epoch} were restored after that moment. What was before "
            f"lies in those of epoch {entry.epoch - 1}, until they are let go (docs/operations.md)."
        )
    if len(younger) == len(described):
        first = min(each["CreationDateTime"] for each in described.values())
        raise Failed(f"The tenant has been there since {first:%Y-%m-%dT%H:%M:%SZ} alone.")
    for name in described.keys() - younger:
        _require_recoverable(account, entry, name, moment)
    return frozenset(younger)


def _require_there(account: Account, entry: Entry) -> None:
    present = {name for epoch, name in leftovers.tables(account, entry.tenant)}
    wanted = set(map(entry.table, our_tables()))
    if gone := sorted(wanted - present):
        raise Failed(
            f"These tables are gone, and what they remembered with them: {', '.join(gone)}. Copies "
            f"are in the vault: `keyhaven infra restore {entry.tenant} --from-vault`."
        )


def _described(account: Account, entry: Entry, name: str) -> Json:
    told = account.client("dynamodb").describe_table(TableName=entry.table(name))
    return dict(told["Table"])


def _require_recoverable(account: Account, entry: Entry, name: str, moment: datetime) -> None:
    """Recovery begins a little later than a table: its first rows of all are not in it."""
    told = account.client("dynamodb").describe_continuous_backups(TableName=entry.table(name))
    described = told["ContinuousBackupsDescription"]
    first = described.get("PointInTimeRecoveryDescription", {}).get("EarliestRestorableDateTime")
    if first is not None and moment < first:
        raise Failed(f"The table {name} can be had back from {first:%Y-%m-%dT%H:%M:%SZ} on.")
