"""A process may die before and after each storage call of every request that changes something.

A client that does not ask again finds it done or not done, with nothing left of it; one that asks
again finds what it would find had nobody died: as if its first request was never sent, or was
answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.operator import expiry_notices
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from tests.support.environment import ENGINE
from tests.support.faults.hooks import Killed, Killing, kill_points
from tests.support.faults.trials import Ask, Trial
from tests.support.proving import PROVING, fewer, more
from tests.support.storage import Storage
from tests.support.wire.valid_requests import Tenant, changes_at_once
from tests.support.world import groups, make
from tests.support.world.items import expiry, folders, shares
from tests.support.world.items.resources import path, secrets

READ = PermissionType.READ
MANY = 105
"""More than a transaction has rows."""
LONELY = 150
"""Groups of one member, whose names alone are more than a commit has rows."""
THOUSANDS = more(650, 20_000)
"""Items of one user, which are staged in pages."""
BOTH = ("POST", "PUT")
REPEATED = {
    **{f"{method} /setup/complete/{{user_id}}.json": 400 for method in BOTH},
    **{f"{method} /setup/recover/abort/{{user_id}}.json": 400 for method in BOTH},
    **{f"{method} /setup/recover/complete/{{user_id}}.json": 400 for method in BOTH},
    **{f"{method} /users/validateAccount/{{user_id}}.json": 400 for method in BOTH},
    "POST /mfa/setup/totp.json": 302,
    "POST /mfa/verify/totp.json": 400,
    "POST /directorysync/ignore/{model}/{subject}.json": 400,
    "DELETE /directorysync/ignore/{model}/{subject}.json": 404,
    "DELETE /comments/{comment_id}.json": 404,
    "DELETE /favorites/{favorite_id}.json": 404,
    "DELETE /groups/{group}.json": 404,
    "POST /groups.json": 400,
    "POST /groups.json of a user who is allowed to": 400,
    "PUT /mobile/transfers/{transfer_id}/{auth_token}.json to the end": 403,
    "PUT /groups/{group}.json": 400,
    "PUT /groups/{group}.json without a member": 400,
    **dict.fromkeys(
        (
            "DELETE /metadata/session-keys/{session_key_id}.json",
            "DELETE /metadata/session-keys/{session_key_id}.json of many",
        ),
        404,
    ),
    **{f"{method} /metadata/session-keys/{{session_key_id}}.json": 400 for method in BOTH},
    "PUT /metadata/session-keys/{session_key_id}.json with many": 400,
    "DELETE /resource-types/{resource_type_id}.json": 400,
    "DELETE /resources/{resource_id}.json": 404,
    "DELETE /self-registration/settings/{setting_id}.json": 404,
    "DELETE /password-expiry/settings/{expiry_setting_id}.json": 404,
    "DELETE /users/{user}.json": 404,
    "POST /scim/settings.json": 400,
    "POST /scim/v2/{setting_id}/Users": 409,
    "POST /scim/v2/{setting_id}/Groups": 409,
    "DELETE /scim/v2/{setting_id}/Users/{user}": 404,
    "DELETE /scim/v2/{setting_id}/Groups/{group}": 404,
    "DELETE /scim/settings/{scim_setting_id}.json": 404,
    "POST /auth/jwt/login.json": 400,
    "POST /auth/jwt/logout.json": 403,
    "POST /auth/login.json with the nonce": 400,
    "POST /favorites/resource/{resource_id}.json": 400,
    "POST /roles.json": 400,
    "DELETE /roles/{role_id}.json": 404,
    "DELETE /roles/{role_id}.json of which something is said": 404,
    "POST /users.json": 400,
    "POST /users/register.json": 403,
    "PUT /resource-types/{resource_type_id}.json": 400,
    "PUT /share/resource/{resource_id}.json": 400,
    **dict.fromkeys(
        ("PUT /share/folder/{folder_id}.json", "POST /share/folder/{folder_id}.json"), 400
    ),
    "POST /metadata/keys.json": 400,
    **{f"{method} /metadata/keys/{{metadata_key_id}}.json": 400 for method in BOTH},
    "DELETE /metadata/keys/{metadata_key_id}.json": 404,
    "POST /metadata/keys/privates.json": 400,
    **{f"{method} /metadata/keys/private.json": 400 for method in BOTH},
    "POST /metadata/keys/{metadata_key_id}/private.json": 400,
    **{f"{method} /metadata/keys/private/{{metadata_private_key_id}}.json": 400 for method in BOTH},
    "POST /metadata/rotate-key/resources.json": 400,
    "POST /metadata/rotate-key/folders.json": 400,
    "POST /metadata/rotate-key/tags.json": 404,
    "POST /metadata/upgrade/tags.json": 404,
    "PUT /tags/{tag_or_resource_id}.json": 404,
    "DELETE /tags/{tag_or_resource_id}.json": 404,
    "POST /metadata/upgrade/resources.json": 404,
    "POST /metadata/upgrade/folders.json": 404,
    "DELETE /folders/{folder_id}.json": 404,
    "DELETE /folders/{folder_id}.json?cascade=1": 404,
}
"""What is answered to a request that was done already, where it is not done again."""


def endure(store: Storage, trial: Trial, deaths: Iterator[Killing]) -> None:
    """Let the process that serves the request die in each of these ways."""
    for killing in deaths:
        trial.restart()
        with killing, pytest.raises(Killed):
            trial.sent()
        trial.require_done_or_not(store.contents())


# What is done in steps dies in `directory/test_races.py`.
@pytest.mark.parametrize("name", changes_at_once())
def test_a_process_may_die_at_any_moment(store: Storage, trial: Trial, name: str) -> None:
    """FT01, FT02, FT03"""
    assert trial.repeated == REPEATED.get(name, trial.once.status)
    endure(store, trial, islice(kill_points(len(trial.calls)), 0, None, fewer(6, 1)))


# Large changes


def sharing(tenant: Tenant) -> Ask:
    team = make.group(*make.crowd(MANY))
    sent = secrets(*team.members)
    return lambda: shares.share(tenant.ada, tenant.resource, [shares.add(team)], sent)


def unsharing(tenant: Tenant) -> Ask:
    team = make.group(*make.crowd(MANY))
    resource = make.resource(tenant.ada, {team: READ})
    rows = [shares.remove(resource, team)]
    return lambda: shares.share(tenant.ada, resource, rows)


def adding_users(tenant: Tenant) -> Ask:
    """Their rows are guarded meanwhile."""
    crowd = make.crowd(MANY)
    rows, sent = [shares.add(who) for who in crowd], secrets(*crowd)
    return lambda: shares.share(tenant.ada, tenant.resource, rows, sent)


def renewing(tenant: Tenant) -> Ask:
    team = make.group(*make.crowd(MANY))
    resource = make.resource(tenant.ada, {team: READ})
    sent = {"name": "new", "secrets": secrets(tenant.ada, *team.members)}
    return lambda: tenant.ada.client.put(path(resource), sent)


def deleting(tenant: Tenant) -> Ask:
    resource = make.resource(tenant.ada, dict.fromkeys(make.crowd(MANY), READ))
    return lambda: tenant.ada.client.delete(path(resource))


def founding(tenant: Tenant) -> Ask:
    sent = groups.body(tenant.betty, *make.crowd(MANY))
    return lambda: groups.create(tenant.ada, sent)


def joining(tenant: Tenant) -> Ask:
    """Their rows are guarded meanwhile."""
    crowd, team = make.crowd(MANY), make.group(tenant.betty)
    resource = make.resource(tenant.ada, {team: READ})
    given = [groups.secret(who, resource) for who in crowd]
    changes = [groups.add(who) for who in crowd]
    return lambda: groups.update(tenant.betty, team, *changes, secrets=given)


def leaving(tenant: Tenant) -> Ask:
    crowd = make.crowd(MANY)
    team = make.group(tenant.betty, *crowd)
    make.resource(tenant.ada, {team: READ})
    changes = [groups.remove(team, who) for who in crowd]
    return lambda: groups.update(tenant.betty, team, *changes)


def disbanding(tenant: Tenant) -> Ask:
    team = make.group(tenant.betty, *make.crowd(MANY))
    make.resource(tenant.ada, {team: READ})
    return lambda: tenant.ada.client.delete(groups.path(team))


def departing(tenant: Tenant) -> Ask:
    """Of what they leave, some is theirs alone, and some is another's."""
    [who] = make.crowd(1)
    for number in range(MANY):
        make.resource(who) if number % 10 else make.resource(tenant.ada, {who: READ})
    return lambda: tenant.ada.client.delete(f"/users/{who.id}.json")


def departing_from_lonely_groups(tenant: Tenant) -> Ask:
    """They go with who alone belongs to them, and so do their names."""
    [who] = make.crowd(1)
    teams = make.groups_of(who, LONELY)
    for team in teams[:3]:
        make.resource(team)
    return lambda: tenant.ada.client.delete(f"/users/{who.id}.json")


def departing_from_thousands_of_items(tenant: Tenant) -> Ask:
    """They are more than are held in memory."""
    [who] = make.crowd(1)
    for _ in range(THOUSANDS):
        make.resource(who)
    return lambda: tenant.ada.client.delete(f"/users/{who.id}.json")


def moving(tenant: Tenant) -> Ask:
    """An item of a team goes into a folder of theirs."""
    team = make.group(tenant.ada, *make.crowd(MANY))
    item, work = make.resource(team), make.folder(team)
    return lambda: folders.move(tenant.ada, "resource", item, work)


def moving_a_folder(tenant: Tenant) -> Ask:
    team = make.group(tenant.ada, *make.crowd(MANY))
    drafts, work = make.folder(team), make.folder(team)
    return lambda: folders.move(tenant.ada, "folder", drafts, work)


def giving_a_folder(tenant: Tenant) -> Ask:
    """A team is given a folder with an item of theirs in it."""
    team = make.group(tenant.ada, *make.crowd(MANY))
    item, own = make.resource(team), make.folder(tenant.ada)
    assert folders.move(tenant.ada, "resource", item, own).status == 200
    return lambda: folders.share(tenant.ada, own, shares.add(team))


def deleting_a_folder(tenant: Tenant) -> Ask:
    """It goes with all that a team has in it."""
    team = make.group(tenant.ada, *make.crowd(MANY))
    item, work = make.resource(team), make.folder(team)
    assert folders.move(tenant.ada, "resource", item, work).status == 200
    return lambda: tenant.ada.client.delete(f"/folders/{work}.json?cascade=1")


def suspending(tenant: Tenant) -> Ask:
    """All that they have read expires after it, and nobody is told again that it does today."""
    expiry.turned_on(tenant.ada)
    expiry_notices.sweep(reading.read(expiry_notices.SETTINGS))
    who = make.user("frances")
    for _ in range(MANY):
        make.resource(tenant.ada, {who: READ})
    assert who.client.get("/resources.json?contain[secret]=1").status == 200
    sent = {"disabled": "2026-11-21T12:00:00Z"}
    return lambda: tenant.ada.client.put(f"/users/{who.id}.json", sent)


LARGE = (
    *(moving, moving_a_folder, giving_a_folder, deleting_a_folder),
    *(sharing, unsharing, adding_users, renewing, deleting),
    *(founding, joining, leaving, disbanding, departing),
)


@pytest.mark.skipif(ENGINE != "embedded" and not PROVING, reason="takes long on moto")
@pytest.mark.parametrize("prepared", LARGE)
def test_the_process_of_a_large_change_may_die_at_any_moment(
    store: Storage, time: Any, tenant: Tenant, prepared: Callable[[Tenant], Ask]
) -> None:
    """FT01, FT02, FT03, FT10, FT12"""
    trial = Trial(store, time, prepared(tenant))
    step = more(fewer(72, 18), 1) if ENGINE == "embedded" else 9  # where each takes far longer
    endure(store, trial, islice(kill_points(len(trial.calls)), 0, None, step))


def told_by_the_sweeper(row: str) -> str:
    """The mail about what has expired is of the round that let it expire, ten minutes later."""
    if not row.startswith("outbox") or '"expired-automatically"' not in row:
        return row
    now = clock.now()
    later = now + timedelta(minutes=10)
    moments = row.replace(timestamp_text(now), timestamp_text(later))
    return re.sub(r'(?<="expires", \[\["N", ")\d+', lambda n: str(int(n[0]) + 600), moments)


def test_the_process_of_a_suspension_may_die_at_any_moment(
    store: Storage, time: Any, tenant: Tenant
) -> None:
    """FT01, FT02, FT03: they are suspended or are not, and what expires then does in any case"""
    trial = Trial(store, time, suspending(tenant), later=told_by_the_sweeper)
    endure(store, trial, islice(kill_points(len(trial.calls)), 0, None, fewer(4, 1)))


@pytest.mark.skipif(ENGINE != "embedded", reason="takes long on moto")
@pytest.mark.parametrize(
    "prepared", [departing_from_lonely_groups, departing_from_thousands_of_items]
)
def test_the_process_of_a_change_of_any_size_may_die_at_any_moment(
    store: Storage, time: Any, tenant: Tenant, prepared: Callable[[Tenant], Ask]
) -> None:
    """FT01, FT02, FT10: at some moments of all its steps"""
    trial = Trial(store, time, prepared(tenant))
    deaths = [*kill_points(len(trial.calls))]
    endure(store, trial, iter(deaths[-9 :: -(len(deaths) // more(fewer(2, 4), 12))]))
