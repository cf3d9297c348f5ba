"""What the organisation says of second factors: which may be set up, and how they are asked for.

Every function loads this module to know its callers; `mfa_edits` changes what is said.
"""

from __future__ import annotations

from collections.abc import Collection

from chalicelib.bodies.sign_in.mfa import TOTP
from chalicelib.domain.light import dataclass
from chalicelib.storage import reading
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import MFA, MFA_POLICIES, Setting, value_of
from chalicelib.tables.users.users import UserRow

KEY = Setting.named(MFA)
"""The row `providers_in` needs, to be read together with others."""
POLICIES_KEY = Setting.named(MFA_POLICIES)
"""The same for `policies_in`."""


@dataclass(frozen=True, slots=True)
class Policies:
    """How second factors are asked for."""

    row: Setting | None

    @property
    def policy(self) -> str:
        return str(value_of(self.row).get("policy", "opt-in"))

    @property
    def remembers(self) -> bool:
        """Whether a device may be remembered for a month."""
        return bool(value_of(self.row).get("remember_me_for_a_month", True))

    @property
    def says(self) -> dict[str, str | bool]:
        return {"policy": self.policy, "remember_me_for_a_month": self.remembers}

    @property
    def forgotten(self) -> int:
        """How often all devices were forgotten; what was remembered before counts no more."""
        return int(value_of(self.row).get("forgotten", 0))


class SecondFactors:
    """Whose sign-in takes a second factor, of users that are looked at one by one."""

    def __init__(self, is_asked: bool) -> None:  # noqa: FBT001
        self.providers = providers() if is_asked else ()
        self.users: set[str] = set()

    def note(self, user: UserRow) -> None:
        if is_enabled(user, self.providers):
            self.users.add(user["id"]["S"])


def providers_in(rows: Rows) -> tuple[str, ...]:
    """The providers that users may set up; none while the organisation has not turned any on."""
    stored = value_of(rows.find(Setting, MFA)).get("providers", ())
    return tuple(provider for provider in (TOTP,) if provider in stored)


def policies_in(rows: Rows) -> Policies:
    return Policies(rows.find(Setting, MFA_POLICIES))


def is_enabled(user: UserRow, providers: Collection[str]) -> bool:
    """Whether a user's sign-in takes a second factor, where these providers are turned on."""
    return TOTP in providers and "totp" in user


def providers() -> tuple[str, ...]:
    return providers_in(reading.read([KEY]))


def policies() -> Policies:
    return policies_in(reading.read([POLICIES_KEY]))
