"""What a directory calls the people whom it provisions: each by a name of their own."""

from __future__ import annotations

from chalicelib.domain.directory.scim.words import Taken
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.claims import Claim

TAKEN = Taken("The userName is already in use.")


def exchange(tx: Transaction, user_id: str, before: str | None, after: str | None) -> None:
    """Write that a user is called so from now on, by a name that is nobody else's.

    However it is written: a name in other letters is the same. Whoever calls holds that the user's
    row says what it said before.
    """
    old, new = (
        None if name is None else Claim.scim_name(name, user_id) for name in (before, after)
    )
    if old is not None and new is not None and old.value == new.value:
        return
    if old is not None:
        tx.delete(old)
    if new is not None:
        tx.create(new, otherwise=TAKEN)
