"""Who may do what: every route as each of fourteen personas, as `docs/access.md` says (AC02)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.web.route import Route
from infra.describe.docs import DOCS
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.wire.endpoints import CSRF_PAIR, ROUTES, is_change, over
from tests.support.wire.valid_requests import REQUESTS, Request
from tests.support.world.beginning import Beginning
from tests.support.world.personas import NAMES, Persona, World, a_world

UNKNOWN = "Authentication is required to continue"
TABLE = {
    name: [cell.strip() for cell in cells.split("|")]
    for name, cells in re.findall(
        r"^\| `([A-Z].+?)` \| (.+) \|$", (DOCS / "access.md").read_text(), re.MULTILINE
    )
}
"""What each persona gets, in the order of their names, by route."""
SAYS_WHO_ASKS = ("id", "servertime", "url")
"""What differs in the header of two answers that are the same."""


@pytest.fixture
def world(store: Storage, beginning: Beginning) -> World:
    world: World = beginning.followed_by(a_world)
    world.tenant.warm()
    return world


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


def asked(world: World, route: Route) -> Request:
    """The request of who may send it; what is asked about a user is about Betty, the reader."""
    request: Request = REQUESTS[named(route)](world.tenant, named(route))
    about_betty = {"user": world.tenant.betty.id} if "user" in request.ids else {}
    return replace(request, ids={**request.ids, **about_betty})


def asked_by(persona: Persona, request: Request, route: Route) -> Request:
    """The same request of somebody else, by cookie where access tokens do not count."""
    by_token = route.no_bearer is None
    client = persona.client if by_token else persona.browser
    pair = CSRF_PAIR if client.token is None else {}
    return replace(request, client=client, options={**request.options, **pair})


def about_nothing(request: Request) -> Request:
    """The same request about what does not exist."""
    kind = {name: each for name, each in request.ids.items() if name == "model"}
    return replace(request, ids={**dict.fromkeys(request.ids, new_id()), **kind})


def outcome(response: Response, *, has_done: bool) -> str:
    """What a cell of the table says."""
    if response.status == 403 and response.message == UNKNOWN:
        return "who?"
    return str(response.status) if has_done else f"({response.status})"


def shown(response: Response) -> dict[str, Any]:
    """All of a refusal but what says who asked when for what."""
    answer = json.loads(response.content)
    kept = {name: each for name, each in answer["header"].items() if name not in SAYS_WHO_ASKS}
    return {**answer, "header": kept, "type": response.headers["content-type"]}


@over()
def test_each_persona_gets_what_the_table_says(
    world: World, store: Storage, digest: Callable[[], str], route: Route
) -> None:
    """AC02, AC03, AC04, AC05, AC06, AC15, AC16, AC18, AC19

    A refused caller changes nothing, and learns no more of what they cannot see than of
    what does not exist.
    """
    request = asked(world, route)
    contents, before = store.contents(), digest()
    got = []
    for persona in world.personas:
        mine = asked_by(persona, request, route)
        response = mine()
        has_changed = digest() != before
        assert not (has_changed and response.status >= 400), persona.name
        has_done = has_changed or response.status >= 400 or not is_change(route)
        got.append(outcome(response, has_done=has_done))
        if response.status == 404:
            assert shown(response) == shown(about_nothing(mine)()), persona.name
        store.put_back(contents)
    line = f"| `{named(route)}` | {' | '.join(got)} |"
    assert got == TABLE.get(named(route)), line


def test_every_route_has_a_line_and_every_line_a_route() -> None:
    assert TABLE.keys() == {named(route) for route in ROUTES}


def test_the_table_names_the_personas() -> None:
    assert f"| Route | {' | '.join(NAMES)} |" in (DOCS / "access.md").read_text()
