"""Tags whose slug is encrypted: the keys they may be for, and what holds these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from chalicelib.bodies.entries import refused_each
from chalicelib.bodies.items.metadata import KeysSettings, TagUpgrade
from chalicelib.bodies.items.tags import NewTag, V5TagEdit
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.light import dataclass
from chalicelib.services.items.metadata import item_metadata, key_set
from chalicelib.services.items.metadata.item_metadata import Named, Words
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.items.metadata_keys import SHARED_KEY, MetadataKey
from chalicelib.tables.items.tags import Tag
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.gpgkeys import Gpgkey

Described = NewTag | V5TagEdit | TagUpgrade
WORDS = Words(
    {"metadata_key_exists": "The metadata key does not exist."},
    {"isValidEncryptedMetadata": "The tag metadata provided cannot be decrypted."},
    {},
)


@dataclass(frozen=True, slots=True)
class Encryption:
    """The keys that tags of a request may be for, and what settings say of these."""

    actor: Actor
    settings: KeysSettings
    own: Gpgkey | None
    shared: Mapping[str, MetadataKey]
    set_version: Setting | None

    def errors(self, body: Described) -> dict[str, FieldErrors]:
        """What is wrong with the metadata of a tag."""
        named = self._with_key(body)
        found = item_metadata.errors(named, self._key(named), self.settings, WORDS)
        return item_metadata.errors_beside(found, body.metadata_key_type, self.shared.values())

    def require_usable(self, entries: Mapping[int, str | NewTag], message: str) -> None:
        """Refuse new tags, by position, whose metadata are for no key they may be for."""
        found = {at: self.errors(each) for at, each in entries.items() if isinstance(each, NewTag)}
        errors = {at: broken for at, broken in found.items() if broken}
        if errors:
            refusal = refused_each(message, errors)
            inside: Any = refusal.errors or {}
            raise Invalid(message, {"tags": [*inside.values()] if refusal.is_list else inside})

    def tag(self, owner: str, body: NewTag) -> Tag:
        return Tag.new(owner).encrypted(*self.content(body))

    def content(self, body: Described) -> tuple[str, str, str]:
        """What a body says of a tag, with the key that it may leave out."""
        return body.metadata, str(self._with_key(body).metadata_key_id), body.metadata_key_type

    def hold(self, tx: Transaction, tags: Iterable[Tag]) -> None:
        """Hold that the shared keys of new metadata may be used, and that there is one of them."""
        named = {tag.metadata_key_id for tag in tags if tag.metadata_key_type == SHARED_KEY}
        for key_id in sorted(filter(None, named)):
            tx.require(MetadataKey.may_be_used(key_id))
        if named:
            tx.require(key_set.unchanged(self.set_version))

    def _with_key(self, body: Described) -> Described:
        """The same for the actor's own key, where it names none."""
        is_own = body.metadata_key_type == item_metadata.USER_KEY
        if body.metadata_key_id is not None or not is_own:
            return body
        return replace(body, metadata_key_id=self.actor.gpgkey_id)

    def _key(self, body: Described) -> Named | None:
        if body.metadata_key_type == SHARED_KEY:
            return self.shared.get(body.metadata_key_id or "")
        return self.own if self.own and self.own.id == body.metadata_key_id else None


def read(actor: Actor, settings: KeysSettings, entries: Collection[str | Described]) -> Encryption:
    """Read the keys that new tags name: the version of the shared ones before these."""
    described = [each for each in entries if not isinstance(each, str)]
    kinds = {each.metadata_key_type for each in described}
    keys = [Gpgkey.by_id(actor.gpgkey_id)] if described and actor.gpgkey_id else []
    rows = reading.read([*keys, *([key_set.KEY] if SHARED_KEY in kinds else [])])
    shared = MetadataKey.every() if SHARED_KEY in kinds else []
    own = rows.find(Gpgkey, actor.gpgkey_id) if actor.gpgkey_id else None
    before = rows.find(Setting, key_set.KEY.hash_key)
    return Encryption(actor, settings, own, {key.id: key for key in shared}, before)
