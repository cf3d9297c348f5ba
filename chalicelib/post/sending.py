"""What whoever carries mails says of one that it has not taken."""

from __future__ import annotations

from typing import Protocol


class NotSent(Exception):  # noqa: N818  it says what is so
    """A mail was not taken. `reason` is a word of its own for why; it names nobody."""

    def __init__(
        self,
        reason: str,
        *,
        may_pass_later: bool,
        may_have_left: bool = False,
        is_of_recipient: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_pass_later = may_pass_later
        self.may_have_left = may_have_left
        """Whether it may have been taken all the same, and only the answer was lost."""
        self.is_of_recipient = is_of_recipient
        """Whether it may pass later for this recipient, while mails to others may be taken now."""


class Carrier(Protocol):
    def send(self, address: str, subject: str, text: str, html: str) -> None:
        """Hand a mail over, or raise `NotSent`."""
