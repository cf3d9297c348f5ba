"""What may change on a versioned row without a new version, and that nothing else does."""

from __future__ import annotations

import pytest
from pynamodb.expressions.operand import Path

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.storage import reading
from chalicelib.storage.base import every_table
from chalicelib.storage.changes import unversioned
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.versioned import Versioned
from chalicelib.tables.claims import Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User

UNVERSIONED = {
    "users": {
        *("role_id", "active", "disabled", "first_name", "last_name", "avatar_id"),
        *("avatar_created", "gpgkey_id", "locale", "last_logged_in", "session_epoch", "modified"),
        *("metadata_keys", "theme", "totp", "totp_verified", "totp_step", "second_factor_epoch"),
        *("scim_name", "scim_created", "external_id"),
    },
    "groups": set(),
    "resources": set(),
    "folders": set(),
    "metadata_keys": set(),
}
PROTOCOL = set(Versioned.get_attributes()) - {"version"}
VERSIONED = [User, Group, Resource, Folder, MetadataKey]
EVERY_ATTRIBUTE = [
    pytest.param(table, name, id=f"{table.__name__}-{name}")
    for table in VERSIONED
    for name, attribute in table.get_attributes().items()
    if not (attribute.is_hash_key or attribute.is_range_key)
]


def _new_group():
    now = clock.now()
    names = {"created_by": "ada", "modified_by": "ada"}
    return Group(new_id(), name="before", created=now, modified=now, **names)


def _group():
    group = _new_group()
    group.save()
    return group


def _stored(group):
    return Group.from_raw(reading.find(group.key))


def _update(table, *actions):
    Transaction().update(table.by_id(new_id()), *actions, provided=table.present())


@pytest.mark.parametrize("table", VERSIONED, ids=lambda table: table.__name__)
def test_the_declared_attributes_are_these(table):
    name = table.stored_as().removeprefix("test-")

    assert set(unversioned.names(table)) == UNVERSIONED[name]


def test_every_versioned_table_is_here():
    shipped = [each for each in every_table() if each.__module__.startswith("chalicelib.")]
    assert {table for table in shipped if issubclass(table, Versioned)} == {*VERSIONED}


@pytest.mark.parametrize(("table", "name"), EVERY_ATTRIBUTE)
def test_an_attribute_changes_without_a_new_version_only_where_it_is_declared(table, name):
    update = Path([name]).remove()

    if name in PROTOCOL | UNVERSIONED[table.stored_as().removeprefix("test-")]:
        _update(table, update)
    else:
        with pytest.raises(AssertionError, match=f"{name} would change without a new version"):
            _update(table, update)


@pytest.mark.parametrize(("table", "name"), EVERY_ATTRIBUTE)
def test_every_attribute_may_change_with_a_new_version(table, name):
    if name != "version":
        _update(table, Path([name]).remove(), table.version.add(1))


@pytest.mark.parametrize("path", [["groups", "some-id"], ["groups", "some-id", "is_admin"]])
def test_a_part_of_an_attribute_counts_as_the_attribute(path):
    with pytest.raises(AssertionError, match="groups would change"):
        _update(User, User.locale.set("de-DE"), Path(path).remove())


def test_what_others_do_not_decide_from_needs_no_version(store):
    Claim("username", "ada", subject="1").save()

    with Transaction() as tx:
        tx.update(Claim("username", "ada"), Claim.subject.set("2"), provided=Claim.present())

    [row] = store.rows("test-claims")
    assert row["subject"] == {"S": "2"}


# Services that forget


def _rename_forgetfully(group):
    with Transaction() as tx:
        tx.update(group, Group.name.set("after"), provided=group.is_unchanged().condition)


def _rename_by_key_forgetfully(group):
    with Transaction() as tx:
        tx.update(group.key, Group.name.set("after"), provided=Group.present())


def _set_version_forgetfully(group):
    """A version that is set, not raised, may be one that the row had before."""
    with Transaction() as tx:
        tx.update(group, Group.version.set(1), Group.name.set("after"), provided=Group.present())


def _rename_beside_forgetfully(group):
    with Change(None, _new_group()) as tx:
        tx.then_update(group, Group.name.set("after"))


def _change_forgetfully(group):
    renamed = group.copy()
    renamed.name = "after"
    with Transaction() as tx:
        tx.change(group, renamed)


@pytest.mark.parametrize(
    "forget",
    [
        _rename_forgetfully,
        _rename_by_key_forgetfully,
        _set_version_forgetfully,
        _rename_beside_forgetfully,
        _change_forgetfully,
    ],
)
def test_a_service_that_forgets_the_version_does_not_run(store, forget):
    group = _group()

    with pytest.raises(AssertionError, match="without a new version"):
        forget(group)

    assert (_stored(group).name, _stored(group).version) == ("before", 1)


def test_a_service_that_raises_the_version_runs(store):
    group = _group()

    with Transaction() as tx:
        tx.update(
            group,
            Group.name.set("after"),
            Group.version.add(1),
            provided=group.is_unchanged().condition,
        )

    assert (_stored(group).name, _stored(group).version) == ("after", 2)


def test_a_row_becomes_another_with_a_later_version(store):
    group = _group()
    renamed = group.copy()
    renamed.name, renamed.version = "after", group.version + 1

    with Transaction() as tx:
        tx.change(group, renamed)

    assert (_stored(group).name, _stored(group).version) == ("after", 2)


def _put(group):
    with Transaction() as tx:
        tx.put(group)


def _put_afterwards(group):
    with Change(None, _new_group()) as tx:
        tx.then_put(group)


@pytest.mark.parametrize("write", [_put, _put_afterwards])
def test_no_versioned_row_is_replaced(store, write):
    group = _group()
    group.name, group.version = "after", group.version + 1

    with pytest.raises(AssertionError, match="created, or changed"):
        write(group)

    assert (_stored(group).name, _stored(group).version) == ("before", 1)


def test_a_new_row_has_no_version_to_raise(store):
    group = _group()
    other = group.copy()
    other.id = new_id()

    with Transaction() as tx:
        tx.create(other)

    assert _stored(other).version == 1


def test_rows_that_are_no_items_are_written_whole_as_ever(store):
    with Transaction() as tx:
        tx.put(GroupItem("team", "item"))

    assert len(store.rows("test-group_items")) == 1
