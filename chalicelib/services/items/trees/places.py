"""Places: where a user has an item, under a folder of theirs or at the root.

A place under a folder that its user does not hold counts as the root. So whoever loses a folder
loses nothing that lies in it, and nothing is written for that however much it is. Whoever is given
a folder has nothing in it that they did not have there before: what they left in it is taken to the
root first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from chalicelib.domain.ids import FolderId, UserId
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import FOLDER, ROOT, Holding, HoldingRow
from chalicelib.tables.items.items import Item, among, keys_of


def parent_of(holding: HoldingRow) -> str | None:
    """The folder an item lies in, as its holding says; nothing at the root."""
    place = holding["place"]["S"]
    return None if place == ROOT else place


def settled(user_id: UserId, holding: HoldingRow) -> HoldingRow:
    """A holding with the place that counts."""
    [one] = settled_all(user_id, [holding])
    return one


def settled_all(user_id: UserId, holdings: Collection[HoldingRow]) -> Iterator[HoldingRow]:
    """Holdings of a user with the places that count."""
    parents = {parent for each in holdings if (parent := parent_of(each))}
    return _within(held_folders(user_id, parents), holdings)


def held_folders(user_id: UserId, folder_ids: Iterable[str]) -> set[str]:
    """Those of the folders that a user holds.

    The folders are read along: of one that is yet to be taken from the user, its row tells.
    """
    ids = [FolderId(each) for each in folder_ids]
    holdings = (Holding.of(user_id, each) for each in ids)
    rows = reading.read([*holdings, *map(Folder.by_id, ids)]) if ids else None
    return {each for each in ids if rows and is_folder(Holding.among(rows, user_id, each))}


def folders_of(holdings: Iterable[HoldingRow]) -> list[Key]:
    """The folders that holdings lie in, whose rows tell of those yet to be taken from the user."""
    parents = {parent for each in holdings if (parent := parent_of(each))}
    return [Folder.by_id(FolderId(each)) for each in parents]


def is_folder(holding: HoldingRow | None) -> bool:
    return holding is not None and holding["kind"]["S"] == FOLDER


def settled_whole(holdings: Sequence[HoldingRow]) -> Sequence[HoldingRow]:
    """All that a user holds with the places that count; mostly these are the stored ones."""
    folders = {each["item_id"]["S"] for each in holdings if each["kind"]["S"] == FOLDER}
    said = {each["place"]["S"] for each in holdings}
    return holdings if said - {ROOT} <= folders else [*_within(folders, holdings)]


def _within(folders: Collection[str], holdings: Iterable[HoldingRow]) -> Iterator[HoldingRow]:
    """Holdings with the places that count, given all folders that these lie in and are held."""
    for each in holdings:
        place = each["place"]["S"]
        yield each if place == ROOT or place in folders else at_root(each)


def at_root(holding: HoldingRow) -> HoldingRow:
    return {**holding, "place": {"S": ROOT}}


def keys_in(user_id: UserId, folder_id: str) -> list[Key]:
    """What a user has in a folder of theirs."""
    return keys_of(Holding.outlines(user_id, place=folder_id))


def content(user_id: UserId, folder_id: str) -> list[Item]:
    """The items that a user has in a folder of theirs."""
    keys = keys_in(user_id, folder_id)
    return [item for item in among(reading.read(keys), keys) if not item.deleted]
