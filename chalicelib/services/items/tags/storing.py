"""Tags stored, changed and removed, each together with the note of what it is encrypted to."""

from __future__ import annotations

from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.items.tags import Tag


def create(tx: Transaction, tag: Tag) -> None:
    tx.create(tag)
    if use := tag.use:
        tx.put(use)


def delete(tx: Transaction, tag: Tag, as_read: Check) -> None:
    tx.delete(tag.key, provided=as_read.condition)
    if use := tag.use:
        tx.delete(use.key)


def replace_content(tx: Transaction, before: Tag, after: Tag) -> None:
    """Let a tag that says what it did have other metadata."""
    tx.update(before.key, *after.encryption(), provided=before.has_same_content())
    if before.noted_under == after.noted_under:
        return
    if use := before.use:
        tx.delete(use.key)
    if use := after.use:
        tx.put(use)
