"""NP25: what is no object, in a list of objects, is refused; over every such list of every body."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import is_dataclass, replace
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from tests.support.wire.endpoints import ROUTES
from tests.support.wire.valid_requests import REQUESTS
from tests.support.world import groups, make

ODD = (None, "", "x", 7, 1.5, True, [], [[]], [{}], ["x"])


def lists_in(kind: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """Where a body may hold lists of objects, as the names that lead there."""
    if is_dataclass(kind):
        for name, inside in get_type_hints(kind).items():
            yield from lists_in(inside, *path, name)
    elif get_origin(kind) is list:
        if is_dataclass(get_args(kind)[0]):
            yield path
    else:
        for each in get_args(kind):
            yield from lists_in(each, *path)


PASSED_OVER = {"PUT /groups/{group}/dry-run.json: secrets"}
"""What is not looked at: a dry run tells which secrets are needed, whichever are sent."""
LISTS = {
    name: (f"{route.method} {route.path}", path)
    for route in ROUTES
    for path in lists_in(route.body)
    if (name := f"{route.method} {route.path}: {'.'.join(path)}") not in PASSED_OVER
}
OLD_NAMES = {"groups_users": ("GroupUsers", "GroupUser"), "secrets": ("Secrets", "Secret")}


def test_the_lists_are_found():
    assert "PUT /share/resource/{resource_id}.json: secrets" in LISTS
    assert "DELETE /groups/{group}.json: transfer.owners" in LISTS


def with_list(body, path, rows):
    """The body with these rows where the path leads."""
    if not path:
        return rows
    made = deepcopy(body) or {}
    *above, last = path
    inner = made
    for name in above:
        inner = inner.setdefault(name, {})
    inner[last] = rows
    return made


@pytest.mark.parametrize("where", LISTS)
def test_what_is_no_object_is_refused_in_a_list_of_objects(tenant, digest, where):
    name, path = LISTS[where]
    request = REQUESTS[name](tenant, name)
    valid = (request.body or {}).get(path[0], []) if len(path) == 1 else []
    valid = valid if path else request.body
    before = digest()

    for odd in ODD:
        for body in (
            with_list(request.body, path, [odd]),
            with_list(request.body, path, [*valid, odd]),
            with_list({}, path, [odd]),
        ):
            response = replace(request, body=body)()
            assert response.status == 400, (body, response.json)
    assert digest() == before


@pytest.mark.parametrize("name", OLD_NAMES)
def test_it_is_so_in_the_older_form_of_a_group_too(tenant, digest, name):
    update = "PUT /groups/{group}.json"
    request = REQUESTS[update](tenant, update)
    rows, row = OLD_NAMES[name]
    before = digest()

    for odd in ODD:
        for sent in ([odd], [{row: odd}]):
            assert replace(request, body={rows: sent})().status == 400
    assert digest() == before


@pytest.mark.parametrize("who", ["ada", "betty"])
@pytest.mark.parametrize("name", ["groups_users", "secrets"])
def test_the_refusal_says_which_it_is(request, ada, betty, name, who):
    """Whoever asks: an administrator, too, whose secrets would be passed over."""
    team, caller = make.group(betty), request.getfixturevalue(who)

    response = caller.client.put(groups.path(team), {name: [{}, "x"]})

    assert (response.status, response.message) == (400, groups.INVALID)
    assert response.body == {name: {"1": {"object": "The row should be an object."}}}
