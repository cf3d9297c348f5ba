"""What becomes of items when holders go, compared with the rules of the catalogue as they stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.items.ownership import (
    AccessList,
    Managing,
    fates,
    is_only_manager,
    is_only_member,
    with_owners,
)
from chalicelib.domain.items.permissions import PermissionType

READ, UPDATE, OWNER = PermissionType
HE = "he"
USERS = (HE, "she", "they")
GROUPS = ("red", "green", "blue")

memberships = st.dictionaries(st.sampled_from(USERS), st.booleans(), min_size=1).filter(
    lambda members: any(members.values())
)
teams = st.fixed_dictionaries(dict.fromkeys(GROUPS, memberships))
lists = st.dictionaries(
    st.sampled_from(USERS + GROUPS), st.sampled_from(PermissionType), min_size=1
).filter(lambda access: OWNER in access.values())
items = st.dictionaries(st.sampled_from("abcd"), lists, max_size=4)


class Naive:
    """A user who goes, in the words of the catalogue."""

    def __init__(self, teams: dict[str, Managing]) -> None:
        self.only_member = {g for g, members in teams.items() if list(members) == [HE]}
        self.only_manager = {
            g
            for g, members in teams.items()
            if members.get(HE) and not any(members[m] for m in members if m != HE)
        }
        self.blocking_groups = {g for g in self.only_manager if len(teams[g]) > 1}
        self.aros = {HE} | self.only_manager

    def deletes(self, access: AccessList) -> bool:
        return all(holder == HE or holder in self.only_member for holder in access)

    def blocks(self, access: AccessList) -> bool:
        owners = [holder for holder in access if access[holder] == OWNER]
        is_candidate = any(o in self.aros for o in owners) and all(o in self.aros for o in owners)
        kept_by_group = any(owner in self.blocking_groups for owner in owners)
        return is_candidate and not kept_by_group and not self.deletes(access)


@given(teams, items)
def test_items_of_a_user_have_the_fates_of_the_catalogue(teams, items):
    naive = Naive(teams)
    gone = {HE, *(g for g, members in teams.items() if is_only_member(HE, members))}

    found = fates(items, gone)

    assert found.deleted == {item for item, access in items.items() if naive.deletes(access)}
    assert found.blocking == {item for item, access in items.items() if naive.blocks(access)}


@given(teams, items, st.sampled_from(GROUPS))
def test_a_manager_more_changes_no_fate(teams, items, promoted):
    """So it does not matter that managers of a transfer are named before its owners."""
    after = {**teams, promoted: dict.fromkeys(teams[promoted], True)}
    before, later = (
        {item for item, access in items.items() if Naive(each).blocks(access)}
        for each in (teams, after)
    )
    assert before == later


@given(items, st.sampled_from(GROUPS))
def test_items_of_a_group_have_the_fates_of_the_catalogue(items, group):
    found = fates(items, {group})

    for item, access in items.items():
        owners = [holder for holder in access if access[holder] == OWNER]
        assert (item in found.deleted) == (list(access) == [group])
        assert (item in found.blocking) == (owners == [group] and len(access) > 1)


@given(items, st.sets(st.sampled_from(USERS + GROUPS)))
def test_each_item_has_one_fate(items, gone):
    found = fates(items, gone)
    assert sorted([*found.deleted, *found.blocking, *found.kept]) == sorted(items)


@given(items, st.sets(st.sampled_from(USERS + GROUPS)))
def test_what_is_kept_has_an_owner_who_stays(items, gone):
    for item in fates(items, gone).kept:
        assert any(t is OWNER for h, t in items[item].items() if h not in gone)


@given(items, st.sets(st.sampled_from(USERS + GROUPS)))
def test_what_blocks_is_kept_once_somebody_who_stays_owns_it(items, gone):
    found = fates(items, gone)
    handed_over = {
        item: with_owners(access, [next(h for h in access if h not in gone)])
        for item, access in items.items()
        if item in found.blocking
    }
    assert fates(handed_over, gone).kept == found.blocking


@given(teams)
def test_groups_have_the_fates_of_the_catalogue(teams):
    naive = Naive(teams)
    assert {g for g in GROUPS if is_only_member(HE, teams[g])} == naive.only_member
    assert {g for g in GROUPS if is_only_manager(HE, teams[g])} == naive.blocking_groups
