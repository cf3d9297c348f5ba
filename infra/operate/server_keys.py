"""How the key of a tenant's server stands, as it is published."""

from __future__ import annotations

from chalicelib.domain.operator.server_key_sets import Step
from chalicelib.tables.settings import SERVER_KEY
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.tables import rows


def lines(account: Account, entry: Entry) -> list[str]:
    """One line, or none of a tenant whose key was never published."""
    told = rows.setting(account, entry, SERVER_KEY)
    if not told:
        return []
    step = told.get("step")
    if step is None:
        return [f"server key: {told['fingerprint']}"]
    *_, newest = told["fingerprints"]
    says = {
        Step.USE: f"announced since {told.get('made')}",
        Step.RETIRE: f"in use from {told.get('used_from')}, and the one before it answers",
        Step.REMOVE: f"in use; the one before it is retired since {told.get('retired')}",
    }
    return [f"server key: {newest}, {says[Step(step)]}; next comes `--step {step}`"]
