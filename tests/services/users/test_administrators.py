"""What only administrators may change, they change as long as they are administrators.

Which changes these are, routes say; of the others it is found out by asking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.actor import Access
from chalicelib.domain.users import roles
from tests.support.faults.hooks import Recorder
from tests.support.faults.meanwhile import Meanwhile
from tests.support.storage import Storage, digest
from tests.support.wire.endpoints import ROUTES
from tests.support.wire.valid_requests import REQUESTS, Request, Tenant, changes
from tests.support.world import groups, make, people
from tests.support.world.make import Somebody

MANY = 105
"""More than a transaction has rows."""
DECLARED = {f"{route.method} {route.path}" for route in ROUTES if route.access is Access.ADMIN}
OF_OTHERS = {
    "POST /users/{user}.json",
    "PUT /users/{user}.json",
    "PUT /users/{user}.json with another role",
    "PUT /groups/{group}.json with a new name",
    "PUT /groups/{group}.json without a member",
    "DELETE /groups/{group}.json",
    "POST /groups.json",
    "DELETE /mfa/setup/{user_id}.json",
}
"""What administrators may change, for themselves or of others, by endpoints for everybody."""
CHANGE_NOTHING = {
    *("DELETE /users/{user}/dry-run.json", "DELETE /groups/{group}/dry-run.json"),
    *(f"{method} /secret-revisions/settings.json" for method in ("POST", "PUT", "DELETE")),
    *(f"{method} /directorysync/settings/test.json" for method in ("POST", "PUT")),
    "POST /smtp/email.json",
}
IN_STEPS = {"POST /directorysync/synchronize.json"}
"""What changes one thing after the other, and tells of each what became of it."""
OF_THEIRS = {name for name in changes() if " ".join(name.split()[:2]) in DECLARED}
ONLY_THEIRS = sorted((OF_THEIRS | OF_OTHERS) - CHANGE_NOTHING)


def demote(who: Somebody) -> None:
    people.change(who.id, role_id=roles.USER.id)


CEASES = pytest.mark.parametrize("ceases", [demote, people.suspend, people.delete])
"""The ways in which somebody stops being an administrator."""


@pytest.fixture
def tenant(tenant: Tenant) -> Tenant:
    """Ada is an administrator, and does not manage the group she changes."""
    return replace(tenant, team=make.group(make.user("frances"), tenant.betty))


@CEASES
@pytest.mark.parametrize("name", [name for name in ONLY_THEIRS if name not in IN_STEPS])
def test_who_stops_being_an_administrator_changes_nothing_more(
    tenant: Tenant, store: Storage, name: str, ceases: Callable[[Somebody], None]
) -> None:
    """W9: before each transaction of the change, up to the one that makes it"""
    request = REQUESTS[name](tenant, name)
    start = store.contents()
    for nth in range(1, transactions(request) + 1):
        require_nothing_changed(store, start, request, lambda: ceases(tenant.ada), nth)


@CEASES
@pytest.mark.parametrize("name", IN_STEPS)
def test_who_stops_being_an_administrator_takes_no_step_more(
    tenant: Tenant, store: Storage, name: str, ceases: Callable[[Somebody], None]
) -> None:
    """W9"""
    request = REQUESTS[name](tenant, name)
    start = store.contents()
    require_nothing_changed(store, start, request, lambda: ceases(tenant.ada), nth=1, status=200)


@CEASES
def test_who_stops_being_an_administrator_founds_no_large_group(
    tenant: Tenant, store: Storage, ceases: Callable[[Somebody], None]
) -> None:
    """W9"""
    sent = groups.body(tenant.betty, *make.crowd(MANY))
    start = store.contents()

    require_nothing_changed(
        store, start, lambda: groups.create(tenant.ada, sent), lambda: ceases(tenant.ada), nth=1
    )


@pytest.mark.parametrize("name", changes())
def test_a_change_that_only_administrators_may_make_is_among_these(
    tenant: Tenant, store: Storage, name: str
) -> None:
    request = REQUESTS[name](tenant, name)
    start = store.contents()
    is_a_change = transactions(request) > 0
    store.put_back(start)
    demote(tenant.ada)

    is_refused = request().status == 403

    assert (is_a_change and is_refused) == (name in ONLY_THEIRS)


def require_nothing_changed(
    store: Storage,
    start: Any,
    ask: Callable[[], Any],
    change: Callable[[], None],
    nth: int,
    status: int = 403,
) -> None:
    """Ask while somebody makes a change; what is stored is as if only that had been made."""
    store.put_back(start)
    change()
    expected = digest(store)
    store.put_back(start)
    with Meanwhile(change, nth=nth) as meanwhile:
        response = ask()
    assert meanwhile.happened
    assert response.status == status
    assert digest(store) == expected


def transactions(request: Request) -> int:
    """How many transactions the request takes when nobody disturbs it."""
    with Recorder() as seen:
        assert request().status < 300
    return seen.operations.count("TransactWriteItems")
