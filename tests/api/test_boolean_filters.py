"""Boolean filters: one rule for all of them, wherever they are offered."""

from __future__ import annotations

import pytest

from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from tests.support.wire.endpoints import ROUTES
from tests.support.world import make, people, second_factors
from tests.support.world.items import folders, metadata, tags

FILTERS = {
    f"{route.path}: {name}": (route.path, name)
    for route in ROUTES
    for name, kind in route.query.filters.items()
    if kind.kind == "boolean" and route.path != "/actionlog/logs.json"
}
"""But for the log's, which holds nothing that was refused: 1 finds all of it, and 0 nothing."""
TELLS_BOTH_APART = {
    *("/resources.json: is-favorite", "/users.json: is-active", "/users.json: is-mfa-enabled"),
    *("/metadata/keys.json: deleted", "/metadata/keys.json: expired"),
    *("/metadata/upgrade/resources.json: is-shared", "/metadata/upgrade/folders.json: is-shared"),
    "/metadata/upgrade/tags.json: is-shared",
}
"""Where 0 asks for the others; everywhere else it counts as absent."""
ONE = pytest.mark.parametrize("name", FILTERS)


def tenant_of_all_kinds(store):
    """Ada, in a tenant where each filter finds something, and not everything."""
    ada, betty, carol = make.user("ada", admin=True), make.user("betty"), make.user("carol")
    people.invite(store, ada)
    own = make.resource(ada)
    make.resource(betty, {ada: PermissionType.READ})
    assert ada.client.post(f"/favorites/resource/{own}.json").status == 200
    for path in (
        f"/users/{carol.id}.json",
        f"/roles/{make.role(ada)}.json",
        f"/resource-types/{resource_types.V5_TOTP_STANDALONE.id}.json",
    ):
        assert ada.client.delete(path).status == 200

    key = metadata.shared(ada)
    metadata.shared(ada, number=2)
    assert metadata.expire(ada, key).status == 200
    assert ada.client.delete(key.path).status == 200
    folders.folder(ada)
    folders.shared(ada, betty)
    tags.tagged(ada, own, "work", "#team")
    second_factors.turn_on(ada)
    second_factors.set_up(betty.client)
    return ada


@pytest.fixture
def found(store, beginning):
    """Asks Ada."""
    ada = beginning.followed_by(tenant_of_all_kinds)

    def ask(name, value=None):
        path, option = FILTERS[name]
        query = "" if value is None else f"?filter[{option}]={value}"
        response = ada.client.get(f"{path}{query}")
        assert response.status == 200, response.json
        return {each["id"] for each in response.body}

    return ask


def test_the_filters_are_found():
    assert FILTERS.keys() > TELLS_BOTH_APART
    assert len(FILTERS) >= 8


@ONE
def test_1_is_asked_in_any_of_its_forms(found, name):
    kept = found(name, "1")

    assert kept
    assert kept != found(name)
    assert kept == found(name, "true") == found(name, "TRUE")


@ONE
def test_0_counts_as_absent_or_asks_for_the_others(found, name):
    everything = found(name)
    expected = everything - found(name, "1") if name in TELLS_BOTH_APART else everything

    assert expected
    for value in ("0", "false", "False"):
        assert found(name, value) == expected


@ONE
@pytest.mark.parametrize("value", ["", "2", "yes", "null"])
def test_what_is_neither_is_refused(ada, name, value):
    """NP21"""
    path, option = FILTERS[name]

    response = ada.client.get(f"{path}?filter[{option}]={value}")

    expected = f'Invalid filter. "{value}" is not a valid value for filter {option}.'
    assert (response.status, response.message) == (400, expected)
