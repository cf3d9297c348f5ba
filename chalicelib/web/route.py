"""What an endpoint declares: who may call it, what it reads and what it answers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from http import HTTPStatus
from typing import Any

from chalicelib.domain.actor import Access
from chalicelib.domain.errors import Refusal
from chalicelib.domain.light import dataclass
from chalicelib.web.envelope import ENVELOPE, Form
from chalicelib.web.query import Options
from chalicelib.web.request import SUFFIX

View = Callable[..., Any]
NO_OPTIONS = Options()
_PARAMETER = re.compile(r"\{(\w+)\}")


def as_is(value: Any) -> Any:
    """The view of what is JSON already."""
    return value


def text(value: str) -> str:
    """The view of a plain text."""
    return value


def nothing(_: Any) -> None:
    """The view of an action that answers with its message alone."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """What an endpoint declares.

    The OpenAPI description is made from the same values: the summary is the handler's
    docstring, the body's schema the type its view returns (the handler, without a view).
    """

    method: str
    path: str
    action: str
    access: Access
    handler: Callable[..., Any]
    view: View = as_is
    shape: Any = None
    """The type of the body, where neither the view nor the handler says it."""
    body: type[Any] | None = None
    needs_object: bool = False
    """Whether JSON that is neither an object nor null is refused where a body is due. Elsewhere
    it counts as a body without members, and is refused for what it lacks: here it would pass."""
    query: Options = NO_OPTIONS
    again: Callable[..., Any] | None = None
    """Of an endpoint that makes something: returns what a request made, for whom repeats it with
    its idempotency key. It gets what it names, as the route function does, and `made`."""
    blocked: View | None = None
    """Shows what stands in the way, where that is what the request is refused for."""
    status: int = HTTPStatus.OK
    """The status of an answer that is no refusal."""
    message: str | None = None
    """Said on success; the usual sentence where none is given."""
    denied: str | None = None
    """Message for an actor who may not call this."""
    unauthenticated: Refusal | None = None
    """The refusal of an unknown caller, where it is not the usual one."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Said of an identifier in the path that is none, by its name."""
    csrf: bool = True
    """Whether a change by cookie or by a guest needs the CSRF pair."""
    before_second_factor: bool = False
    """Whether an actor may call it who has yet to give their second factor."""
    extends_session: bool = True
    refuses_dead_tokens: bool = False
    """Whether a caller with a dead access token is refused instead of counting as a guest: a client
    renews its token when it is refused."""
    no_bearer: str | None = None
    """Message for a caller with an access token where only cookies count."""
    form: Form = ENVELOPE
    """How refusals and accidents are answered."""
    page: Route | None = None
    """The page at the path without its suffix, for a client that does not ask for JSON; where there
    is none, such a client is refused."""
    is_page: bool = False
    is_known_bare: bool = True
    """Whether the path is known without its suffix too, to refuse it in the same words: each
    place of the tree of paths counts against what the gateway bounds."""
    refused: Callable[[Refusal, Mapping[str, str]], Any] | None = None
    """How a page tells why what was sent is refused; it gets the cookies."""

    @cached_property
    def wants(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.handler).parameters)

    @cached_property
    def wants_again(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.again).parameters) if self.again else frozenset()

    @cached_property
    def path_names(self) -> tuple[str, ...]:
        return tuple(_PARAMETER.findall(self.path))

    @property
    def module(self) -> str:
        """The routes module with its wing, as `endpoint_groups.py` names it: `items.folders`."""
        return self.handler.__module__.removeprefix("chalicelib.routes.")

    @property
    def noun(self) -> str:
        """What the routes module is about, as its name says."""
        return self.module.rpartition(".")[2]

    @property
    def ends_in_parameter(self) -> bool:
        return self.path.removesuffix(SUFFIX).endswith("}")

    def gateway_paths(self) -> tuple[str, ...]:
        """The paths as API Gateway takes them: a parameter fills a whole segment.

        A path that ends in a word is known with and, mostly, without its suffix.
        """
        bare = self.path.removesuffix(SUFFIX)
        if self.ends_in_parameter or not self.path.endswith(SUFFIX):
            return (bare,)
        return (self.path, bare) if self.is_known_bare else (self.path,)


def page_of(handler: Callable[..., Any], **declared: Any) -> Route:
    """A page as a route: nobody's session is extended by it, and it takes no identifiers."""
    return Route(handler=handler, extends_session=False, is_page=True, **declared)
