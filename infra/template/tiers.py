"""The tiers of tenants: what each gets beyond the same functions and tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tier:
    name: str
    is_gradual: bool
    """Whether a release reaches a tenth of the requests first, and an alarm takes it back."""
    is_watched: bool
    """Whether there are alarms beyond those for errors of functions."""
    may_be_removable: bool
    """Whether its tables may be made removable, by a parameter."""
    warm: frozenset[str] = frozenset()
    """Groups of which one instance always waits."""
    reserved: int | None = None
    """Instances kept for signing in, and the most of them: it costs a core each."""


TRIAL = Tier("trial", is_gradual=False, is_watched=False, may_be_removable=True)
STANDARD = Tier("standard", is_gradual=True, is_watched=True, may_be_removable=False)
PREMIUM = Tier(
    "premium",
    is_gradual=True,
    is_watched=True,
    may_be_removable=False,
    warm=frozenset({"auth", "resources"}),
    reserved=100,
)
TIERS = {tier.name: tier for tier in (TRIAL, STANDARD, PREMIUM)}
