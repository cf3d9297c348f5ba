"""The keys of a set, ready for use: the one in use, and those for what others encrypted."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.crypto.openpgp import ServerKey
from chalicelib.domain import clock
from chalicelib.domain.armor import BadArmor, read_message
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.server_key_sets import ServerKeySet


@dataclass(frozen=True, slots=True)
class ServerKeys:
    key_set: ServerKeySet
    keys: tuple[ServerKey, ...]
    """In the order of the set."""

    @classmethod
    def load(cls, text: str) -> ServerKeys:
        """Read what the secret holds; raises ValueError where one of the keys is none."""
        key_set = ServerKeySet.read(text)
        return cls(key_set, tuple(map(ServerKey.load, key_set.keys)))

    @property
    def in_use(self) -> ServerKey:
        """What is shown to clients, encrypts what rests, and signs."""
        return self.keys[self._place]

    @property
    def earlier(self) -> tuple[ServerKey, ...]:
        """Those that were in use before it, the oldest first."""
        return self.keys[: self._place]

    @property
    def coming(self) -> ServerKey | None:
        """The one that will be in use."""
        return next(iter(self.keys[self._place + 1 :]), None)

    @property
    def answering(self) -> tuple[ServerKey, ...]:
        """Those that clients may use: all, until the earlier ones are retired."""
        is_retired = self.key_set.retired is not None
        return self.keys[self._place :] if is_retired else self.keys

    @property
    def _place(self) -> int:
        return self.key_set.place_in_use(clock.now())


def addressed(keys: Iterable[ServerKey], recipients: frozenset[str]) -> ServerKey | None:
    """The one of these keys that a message is encrypted to."""
    return next((key for key in keys if key.encryption_key_ids & recipients), None)


def recipients_of(armored: object, most: int) -> frozenset[str]:
    """Whom a message of at most so many characters names; nobody where it is none."""
    if not isinstance(armored, str) or len(armored) > most:
        return frozenset()
    try:
        return frozenset(read_message(armored).recipients)
    except BadArmor:
        return frozenset()
