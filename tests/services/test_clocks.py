"""Machines whose clocks differ: what was changed last says so, and never that it was earlier.

FT17, for every change there is: by a machine whose clock is behind, and by one that is
overtaken, between its reads and its write, by another whose clock is ahead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.storage.base import Table, every_table, timestamp_text
from chalicelib.tables.settings import Setting
from tests.services.test_kill_sweep import LARGE
from tests.support.environment import ENGINE
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.trials import Ask
from tests.support.proving import PROVING, tried
from tests.support.storage import Storage
from tests.support.wire.valid_requests import REQUESTS, Tenant, changes
from tests.support.world import groups, make, people
from tests.support.world.items.comments import commented
from tests.support.world.items.resources import path, secrets

BEHIND = {"seconds": -5}
AHEAD = {"seconds": 5}
Moments = dict[tuple[str, ...], str]


def moments(store: Storage) -> Moments:
    """When all there is was changed last, by where that is said."""
    found: Moments = {}
    for table in every_table():
        for row in store.rows(table.stored_as()):
            key = tuple(row[name]["S"] for name in table.key_names() if name)
            said = _said(_plain(row) | _roles(table, row))
            found |= {(table.stored_as(), *key, *at): moment for at, moment in said}
    return found


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(value["M"]) if "M" in value else value.get("S") for name, value in row.items()
    }


def _roles(table: type[Table], row: dict[str, Any]) -> dict[str, Any]:
    """The roles of a document, and what is said of them, by their identifiers."""
    document = json.loads(row["value"]["S"]) if table is Setting and "value" in row else {}
    roles = document.get("roles", ())
    return roles if isinstance(roles, dict) else {role["id"]: role for role in roles}


def _said(row: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from (((name, *at), moment) for at, moment in _said(value))
        elif name.endswith("modified"):
            yield (name,), value


def require_no_step_back(before: Moments, after: Moments) -> None:
    assert {at for at in before.keys() & after.keys() if after[at] < before[at]} == set()


OF_A_MOMENT = "POST /mfa/verify/totp.json"
"""Of one whose code is refused by a clock that is that far behind."""


@pytest.mark.parametrize("name", tried(changes()))
def test_a_clock_that_is_behind_takes_no_moment_back(
    store: Storage, time: Any, tenant: Tenant, name: str
) -> None:
    request = REQUESTS[name](tenant, name)
    before = moments(store)
    time.pass_by(**BEHIND)

    status = request().status
    assert status == 400 if name == OF_A_MOMENT else status < 300

    require_no_step_back(before, moments(store))


@pytest.mark.skipif(ENGINE != "embedded" and not PROVING, reason="takes long on moto")
@pytest.mark.parametrize("prepared", LARGE)
def test_a_clock_that_is_behind_takes_no_moment_back_in_a_large_change(
    store: Storage, time: Any, tenant: Tenant, prepared: Callable[[Tenant], Ask]
) -> None:
    ask = prepared(tenant)
    before = moments(store)
    time.pass_by(**BEHIND)

    assert ask().status == 200

    require_no_step_back(before, moments(store))


def by_the_same(tenant: Tenant, ask: Ask) -> None:
    ask()


def by_edits(tenant: Tenant, ask: Ask) -> None:
    """The people, the resource and the secrets are changed, by whom has to do with them."""
    for who in (tenant.ada, tenant.betty):
        who.client.post("/account/settings/locales.json", {"value": "de-DE"})
        who.client.put(f"/users/{who.id}.json", {"profile": {"last_name": "Byron"}})
    sent = {"name": "other", "secrets": secrets(tenant.ada, tenant.betty)}
    tenant.ada.client.put(path(tenant.resource), sent)


@pytest.mark.parametrize("others", [by_the_same, by_edits])
@pytest.mark.parametrize("name", tried(changes()))
def test_who_is_overtaken_takes_no_moment_back(
    store: Storage, time: Any, tenant: Tenant, name: str, others: Callable[[Tenant, Ask], None]
) -> None:
    request = REQUESTS[name](tenant, name)
    overtaken: list[Moments] = []

    def overtake() -> None:
        time.pass_by(**AHEAD)
        others(tenant, request)
        time.pass_by(**BEHIND)
        overtaken.append(moments(store))

    with Meanwhile(overtake):
        request()

    for each in overtaken:
        require_no_step_back(each, moments(store))


def locale(tenant: Tenant) -> Ask:
    sent = {"value": "fr-FR"}
    return lambda: tenant.betty.client.post("/account/settings/locales.json", sent)


def name_of_user(tenant: Tenant) -> Ask:
    sent = {"profile": {"first_name": "Elizabeth"}}
    return lambda: tenant.ada.client.put(f"/users/{tenant.betty.id}.json", sent)


def name_of_group(tenant: Tenant) -> Ask:
    team = make.group(tenant.ada)
    return lambda: groups.update(tenant.ada, team, name="crew")


def name_of_role(tenant: Tenant) -> Ask:
    role_id = make.role(tenant.ada)
    return lambda: tenant.ada.client.put(f"/roles/{role_id}.json", {"name": "reviewer"})


def words(tenant: Tenant) -> Ask:
    comment_id = commented(tenant.ada, tenant.resource)
    return lambda: tenant.ada.client.put(f"/comments/{comment_id}.json", {"content": "new"})


def resource(tenant: Tenant) -> Ask:
    sent = {"name": "new", "secrets": secrets(tenant.ada, tenant.betty)}
    return lambda: tenant.ada.client.put(path(tenant.resource), sent)


def domains(tenant: Tenant) -> Ask:
    people.let_in(tenant.ada)
    sent = {"provider": "email_domains", "data": {"allowed_domains": ["example.org"]}}
    return lambda: tenant.ada.client.put("/self-registration/settings.json", sent)


@pytest.mark.parametrize(
    "prepared", [locale, name_of_user, name_of_group, name_of_role, words, resource, domains]
)
def test_a_change_is_answered_with_the_moment_that_is_stored(
    store: Storage, time: Any, tenant: Tenant, prepared: Callable[[Tenant], Ask]
) -> None:
    ask = prepared(tenant)
    people.change(tenant.betty.id, modified=time.now)
    latest = timestamp_text(time.now)
    time.pass_by(**BEHIND)

    shown = ask().body

    assert shown["modified"] == latest
    assert all(secret["modified"] == latest for secret in shown.get("secrets", ()))
