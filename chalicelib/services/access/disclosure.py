"""The one place where secrets leave the tables: logged, and with an item of the same revision.

A `HoldingRow` does not tell its secret. `disclose` compares the revisions of item and secret,
notes that the actor reads them (`tables/logs/readings.py`), and only then returns rows that do; a
view shows no others. For a list, `SealedSecrets` lets the view make its part first, and hands that
out in the same way. So a service that forgets the log, or mixes an item with another version's
secret, does not type-check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, NewType, TypeVar, cast

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import ResourceId
from chalicelib.domain.light import dataclass
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.values import Text
from chalicelib.tables.items.holdings import Holding, HoldingRow
from chalicelib.tables.items.resources import ResourceRow
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading

Shown = TypeVar("Shown")

Disclosed = NewType("Disclosed", dict[str, Any])
"""A holding with its secret, if it has one. Made in this module alone."""


class Undisclosed(NamedTuple):
    """A holding whose secret is to be disclosed, and the revision of the item it is shown with.

    A tuple, since a list makes thousands.
    """

    revision: Text | None
    holding: HoldingRow

    @classmethod
    def of(cls, item: ResourceRow, holding: HoldingRow) -> Undisclosed:
        return cls(item.get("secret_revision"), holding)


class SealedSecrets(Generic[Shown]):
    """The secrets of a list as a view shows them, made while their rows are in hand.

    So a list keeps no rows for them. What is shown stays in here until it is on record who reads
    it.
    """

    def __init__(self, show: Callable[[Disclosed], Shown]) -> None:
        self._show = show
        self._sealed: dict[str, Shown | None] = {}

    def seal(self, item: ResourceRow, holding: HoldingRow) -> None:
        """Take in the secret of a holding, if it has one.

        Raises `Stale` where it is of another revision than the item it is shown with.
        """
        _require_same(item.get("secret_revision"), holding)
        shown = self._show(_disclosed(holding)) if has_secret(holding) else None
        self._sealed[item["id"]["S"]] = shown

    def disclose(self, actor: Actor, item_ids: Sequence[str]) -> list[Shown | None]:
        """Return those of these items, once it is on record that the actor has read them."""
        Reading.note(actor, [ResourceId(each) for each in item_ids])
        return [self._sealed[each] for each in item_ids]


@dataclass(frozen=True, slots=True)
class Logged:
    """Proof that the log has a line of what one user did with one item."""

    user_id: str
    item_id: str

    def disclose(self, secret: Undisclosed) -> Disclosed:
        """Return the holding with its secret; `Stale` where the item is of another revision."""
        require_whole(secret)
        held = secret.holding
        assert (held["user_id"]["S"], held["item_id"]["S"]) == (self.user_id, self.item_id)  # noqa: S101
        return _disclosed(held)


def disclose(actor: Actor, secrets: Sequence[Undisclosed]) -> list[Disclosed]:
    """Return holdings with their secrets, once it is on record that the actor has read them.

    Raises `Stale`, before anything is noted, where an item is of another revision: the two
    rows are read together, but not in one instant.
    """
    for each in secrets:
        require_whole(each)
    Reading.note(actor, [ResourceId(each.holding["item_id"]["S"]) for each in secrets])
    return [_disclosed(each.holding) for each in secrets]


def log_held(actor: Actor, item_id: ResourceId) -> Logged | None:
    """Note that the actor reads their secret of an item, if they have one.

    May be called in parallel with the reading itself: the note is written if, and only if, a
    secret is stored. A request that is decided again writes the same row again.
    """
    row = Reading.of(actor, [item_id])
    try:
        with Transaction() as tx:
            tx.require(Holding.has_secret(actor.id, item_id))
            tx.put(row)
    except Stale:
        return None
    return Logged(actor.id, item_id)


def disclose_to_author(actor: Actor, secret: Undisclosed) -> Disclosed:
    """Return the holding with its secret to an actor who repeats the request that made it.

    A secret that they wrote themselves is not noted as read; one that others have written
    since is.
    """
    if _is_of(actor, secret):
        return Logged(actor.id, secret.holding["item_id"]["S"]).disclose(secret)
    [disclosed] = disclose(actor, [secret])
    return disclosed


def reading_by_change(actor: Actor, secret: Undisclosed) -> Reading | None:
    """The note to write with a change that answers with this secret, if others wrote the secret.

    It says that the actor was given the secret, as if they had asked for it.
    """
    if _is_of(actor, secret):
        return None
    return Reading.by_change(actor, ResourceId(secret.holding["item_id"]["S"]))


def logged_by(change: ActionLog) -> Logged:
    """Take a change's line as proof: whoever changes an item is shown its secret as it is then."""
    return Logged(str(change.actor), change.subject)


def has_secret(holding: HoldingRow) -> bool:
    return "secret_data" in holding


def require_whole(secret: Undisclosed) -> None:
    """Raise `Stale` where the item is of another revision than the secret."""
    _require_same(secret.revision, secret.holding)


def _is_of(actor: Actor, secret: Undisclosed) -> bool:
    """Whether the actor wrote it themselves."""
    return secret.holding.get("secret_modified_by") == {"S": actor.id}


def _require_same(revision: Text | None, holding: HoldingRow) -> None:
    if revision != holding.get("secret_revision"):
        raise Stale


def _disclosed(holding: HoldingRow) -> Disclosed:
    return cast(Disclosed, holding)
