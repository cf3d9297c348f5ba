"""Why the service refuses a request. The HTTP edge decides how each one looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, Union

FieldErrors = Mapping[str, Union[str, list[str], list["FieldErrors"], "FieldErrors"]]
"""`{field: {rule: message}}`, nested as deeply as the body is; list items by index.

Of one rule the API has a list of messages.
"""


class Refusal(Exception):  # noqa: N818 - an answer, not an accident
    """The request is understood and will not be carried out."""

    def __init__(self, message: str, errors: FieldErrors | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.errors = errors
        self.is_list = False
        """Whether the positions in `errors` are those of a list from its beginning."""

    def forget(self) -> Self:
        """Let go of the request that raised it: modules keep refusals, and raise them again."""
        self.__context__ = self.__cause__ = None
        return self.with_traceback(None)


class Invalid(Refusal):
    """The data does not validate; `errors` says which field breaks which rule."""


class InvalidAsAWhole(Invalid):
    """No field is to blame; clients get null for details."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class SecretsMissing(Invalid):
    """Somebody would be given what has secrets, and none were brought for them."""


class Blocked(Invalid):
    """Something else has to be done first; the endpoint shows what stands in the way."""

    def __init__(self, message: str, obstacles: object) -> None:
        super().__init__(message)
        self.obstacles = obstacles


class Unauthenticated(Refusal):
    """Nobody is known to be asking."""

    def __init__(self, message: str = "Authentication is required to continue") -> None:
        super().__init__(message)


class SecondFactorMissing(Refusal):
    """The actor is known and has to give their second factor first."""

    def __init__(self) -> None:
        super().__init__("MFA authentication is required.")


class Forbidden(Refusal):
    """The actor is known and may not do this."""


class NotFound(Refusal):
    """There is no such thing, or not for this actor: the two look the same."""


IN_THE_WAY = "The data is being changed by others; try again."


class Conflict(Refusal):
    """Someone else changed the same data first."""


class Stale(Conflict):
    """What the decision was based on changed before the write; worth deciding again."""

    def __init__(self, message: str = "The data changed meanwhile; try again.") -> None:
        super().__init__(message)


class TooMany(Refusal):
    """The source asks too often; `seconds` says how long it should wait."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class TooLarge(Refusal):
    """The body is larger than the service reads."""


class TargetTooLong(Refusal):
    """The request's address is longer than is read; only the front of one machine says so."""


class Unavailable(Refusal):
    """Something the answer needs cannot be reached now; the same request may pass later."""

    def __init__(self, message: str = "The service is busy; try again.", seconds: int = 1) -> None:
        super().__init__(message)
        self.seconds = seconds


class Overloaded(Unavailable):
    """Storage takes no transaction of this size now; a smaller one may pass."""
