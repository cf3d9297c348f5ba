"""What must be true of everybody's trees: nothing lies in itself, and where things lie is noted."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain.items.places import Place
from chalicelib.domain.items.trees import Trees, in_cycles
from integrity.stored import Row, Stored, Violation


def nothing_lies_in_itself(stored: Stored) -> Iterator[Violation]:
    """No folder lies in itself in anybody's tree, nor would it for two people together."""
    folders = stored.by_id("folders").keys()
    above: dict[str, dict[str, set[str]]] = {}
    for folder_id in folders:
        for user_id, parent in stored.places[folder_id].items():
            if parent is not None:
                above.setdefault(user_id, {})[folder_id] = {parent}
    for user_id, own in above.items():
        for folder_id in sorted(in_cycles(own)):
            yield Violation("I5", folder_id, f"lies in itself for {user_id}")
    places = {
        folder_id: {user: Place(parent) for user, parent in stored.places[folder_id].items()}
        for folder_id in folders
    }
    for edge in Trees(places, folders).shared_cycle():
        yield Violation("I5", edge.child, f"would lie in itself, by way of {edge.parent}")


def what_lies_where_is_noted(stored: Stored) -> Iterator[Violation]:
    """What lies in a folder that several may have says so in its row, and the folder knows it."""
    folders, items = stored.by_id("folders"), {row["id"]: row for row in stored.live_items}
    known = {(row["folder_id"], row["item_id"]) for row in stored.rows("folder_items")}
    for item_id, item in items.items():
        noted = set(item["above"] or ())
        lies_in = {parent for parent in stored.places[item_id].values() if parent is not None}
        for parent in sorted(lies_in - noted):
            if not _is_of_one(folders[parent]):
                yield Violation("I5", item_id, f"does not say that it lies in {parent}")
        for parent in sorted(noted):
            is_there = parent in folders and not folders[parent]["deleted"]
            if is_there and (parent, item_id) not in known:
                yield Violation("I5", item_id, f"is not known to {parent}")
    for folder_id, item_id in sorted(known):
        if item_id in items and folder_id not in (items[item_id]["above"] or ()):
            yield Violation("I5", item_id, f"does not say that it may lie in {folder_id}")


def _is_of_one(folder: Row) -> bool:
    """Whether one user alone has the folder, and no group."""
    return [each["aro"] for each in folder["permissions"].values()] == ["User"]
