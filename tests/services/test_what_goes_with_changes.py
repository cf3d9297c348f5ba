"""Changes without a body, and what is written with them: a link of a directory, for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chalicelib.bodies.users.users import read_person
from chalicelib.domain import clock
from chalicelib.domain.changes import Addition, GroupChange, NewGroup, Transfer
from chalicelib.domain.errors import Invalid, Stale
from chalicelib.services.deletion import group_deletion, user_deletion
from chalicelib.services.groups import group_updates, groups
from chalicelib.services.users.people import user_edits, users
from chalicelib.storage import reading
from chalicelib.storage.base import Grant
from chalicelib.storage.changes.transaction import Besides, Transaction
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User
from tests.support.world import make, people

Apply = Callable[[make.Somebody, make.Somebody, Group, Besides], object]


def _invite(ada: make.Somebody, betty: make.Somebody, group: Group, besides: Besides) -> object:
    return users.apply(ada.actor, read_person("dave@example.com", "Dave", "L"), besides)


def _rename(ada: make.Somebody, betty: make.Somebody, group: Group, besides: Besides) -> object:
    user = people.stored(betty.id)
    return user_edits.apply(ada.actor, user, {"first_name": "Else"}, besides=besides)


def _suspend(ada: make.Somebody, betty: make.Somebody, group: Group, besides: Besides) -> object:
    user = people.stored(betty.id)
    return user_edits.apply(ada.actor, user, {"disabled": clock.now()}, besides=besides)


def _delete(ada: make.Somebody, betty: make.Somebody, group: Group, besides: Besides) -> object:
    return user_deletion.apply(ada.actor, people.stored(betty.id), Transfer(), besides)


def _found(ada: make.Somebody, betty: make.Somebody, group: Group, besides: Besides) -> object:
    new = NewGroup("founded", [Addition(ada.id, is_admin=True)])
    grant = Grant((User.is_administrator(ada.id, clock.now()),))
    return groups.apply(ada.actor, grant, new, besides)


def _name(ada: make.Somebody, betty: make.Somebody, group: Group, besides: Besides) -> object:
    return group_updates.apply(ada.actor, group, GroupChange(name="renamed"), besides)


def _end(ada: make.Somebody, betty: make.Somebody, group: Group, besides: Besides) -> object:
    return group_deletion.apply(ada.actor, group, Transfer(), besides)


CHANGES = (_invite, _rename, _suspend, _delete, _found, _name, _end)


@pytest.mark.parametrize("apply", CHANGES)
def test_what_goes_with_a_change_is_written_with_it_or_nothing_is(ada, betty, digest, apply: Apply):
    team = make.group(betty, make.user("carol"))
    team_row = reading.read([Group.by_id(team.id)]).find(Group, team.id)
    Setting("there", value={}).save()
    subjects: list[str] = []

    def beside(name: str) -> Besides:
        def besides(tx: Transaction, subject: str) -> None:
            subjects.append(subject)
            tx.create(Setting(name, value={"subject": subject}))

        return besides

    if apply is _delete:
        group_deletion.apply(ada.actor, team_row, Transfer())
    before = digest()
    with pytest.raises(Stale):
        apply(ada, betty, team_row, beside("there"))
    refused = digest()
    apply(ada, betty, team_row, beside("new"))

    assert refused == before
    written = Setting.get("new").value
    assert written == {"subject": subjects[-1]}


def test_a_change_that_changes_nothing_writes_nothing(ada, betty, digest):
    before = digest()

    user_edits.apply(ada.actor, people.stored(betty.id), {"first_name": "Betty"})

    assert digest() == before


@pytest.mark.parametrize(
    ("told", "broken"),
    [
        ((None, "A", "B"), ["username"]),
        (("no address", "A", "B"), ["username"]),
        (("a@example.com", "", None), ["first_name", "last_name"]),
        (("a@example.com", "A" * 256, "B"), ["first_name"]),
    ],
)
def test_a_person_is_read_by_the_rules_of_an_invitation(told, broken):
    with pytest.raises(Invalid) as refused:
        read_person(*told)

    assert list(refused.value.errors) == broken
