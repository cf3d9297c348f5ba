"""People and groups of SCIM as requests say them, whole or in part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.directory.scim import patches, states, words
from chalicelib.domain.directory.scim.states import PersonState, TeamState
from chalicelib.domain.directory.scim.words import Unfit
from chalicelib.domain.ids import new_id
from tests.support.world import scim
from tests.support.world.scim import add, remove, replace

ADA = PersonState("ada", "x-ada", "Ada", "Lovelace", active=True, address="ada@example.com")
MEMBERS = [new_id() for _ in range(4)]
TEAM = TeamState("team", "x-team", frozenset(MEMBERS[:2]))
WORK = 'emails[type eq "work"].value'


def patched(*operations, before=ADA):
    sent = {"schemas": [words.PATCH], "Operations": list(operations)}
    change = patches.person if isinstance(before, PersonState) else patches.team
    return change(before, sent)


def changed(**fields):
    values = {name: getattr(ADA, name) for name in ADA.__slots__}
    return PersonState(**{**values, **fields})


CHANGES = {
    "a name": ([replace("name.givenName", "Ida")], {"given_name": "Ida"}),
    "names at once": (
        [replace("name", {"givenName": "Ida", "familyName": "Byron"})],
        {"given_name": "Ida", "family_name": "Byron"},
    ),
    "a name by its schema": ([add(f"{words.USER}:userName", "ida")], {"user_name": "ida"}),
    "an object": (
        [replace(None, {"userName": "ida", "name": {"familyName": "Byron"}, "id": "x"})],
        {"user_name": "ida", "family_name": "Byron"},
    ),
    "an object with paths for names": (
        [add(None, {"name.givenName": "Ida", "active": False})],
        {"given_name": "Ida", "active": False},
    ),
    "suspension as a text": ([{**replace("active", "False"), "op": "Replace"}], {"active": False}),
    "an external id": ([add("externalId", "y")], {"external_id": "y"}),
    "no external id": ([remove("externalId")], {"external_id": None}),
    "an empty external id": ([replace("externalId", "")], {"external_id": None}),
    "null for an external id": ([replace("externalId", None)], {"external_id": None}),
    "null for an external id, beside a suspension": (
        [replace(None, {"externalId": None, "active": False, "emails": None, "title": None})],
        {"external_id": None, "active": False},
    ),
    "nothing added": (
        [add("externalId", None), add(None, {"userName": None, "active": None, "name": None})],
        {},
    ),
    "the address as it is": ([replace(WORK, "ADA@example.com")], {}),
    "another address beside a suspension": (
        [replace(WORK, "ida@example.com"), replace("active", False)],
        {"active": False},
    ),
    "the addresses as they are": (
        [replace("emails", [{"value": "ada@example.com", "type": "work"}])],
        {},
    ),
    "what is not kept": (
        [
            replace("displayName", "Ada L."),
            add("name.middleName", "B."),
            add('phoneNumbers[type eq "work"].value', "1"),
            add(f"{words.ENTERPRISE}:department", "mathematics"),
            add('addresses[type eq "work"].country', "UK"),
            remove("title"),
        ],
        {},
    ),
    "what an address is shown as": (
        [remove('emails[type eq "work"].display'), add('emails[type eq "work"].display', "Ada")],
        {},
    ),
    "a part of another address": ([remove('emails[type eq "home"].value')], {}),
    "several after each other": (
        [replace("userName", "a"), replace("userName", "b")],
        {"user_name": "b"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_person_is_changed(name):
    operations, fields = CHANGES[name]
    assert patched(*operations) == changed(**fields)


REFUSED = {
    "an unknown attribute": (replace("shoeSize", 7), "invalidPath"),
    "an unknown attribute with a filter": (replace('shoes[type eq "a"]', 7), "invalidPath"),
    "no path": (replace("!", 7), "invalidPath"),
    "a wrong filter": (replace("emails[type is 7].value", "a"), "invalidFilter"),
    "removal without a path": ({"op": "remove"}, "noTarget"),
    "an unknown op": ({"op": "move", "path": "userName", "value": "a"}, "invalidSyntax"),
    "no value": ({"op": "add", "path": "userName"}, "invalidValue"),
    "an empty name": (replace("userName", ""), "invalidValue"),
    "a long name": (replace("userName", "a" * 257), "invalidValue"),
    "a name that cannot be told": (replace("userName", "\u200b"), "invalidValue"),
    "a name whose folded form is too long": (replace("userName", "\ufdfa" * 256), "invalidValue"),
    "a number": (replace("name.givenName", 7), "invalidValue"),
    "no truth": (replace("active", "perhaps"), "invalidValue"),
    "no truth by a number": (replace("active", 2), "invalidValue"),
    "null for a name": (replace("userName", None), "invalidValue"),
    "null for a state": (replace(None, {"active": None}), "invalidValue"),
    "null for an object": (add(None, None), "invalidValue"),
    "names that are no object": (replace("name", "Ada"), "invalidValue"),
    "an object that is none": (replace(None, "x"), "invalidValue"),
    "another address": (
        replace("emails", [{"value": "ida@example.com", "type": "work"}]),
        "mutability",
    ),
    "no address": (remove("emails"), "mutability"),
    "no address of this type": (remove('emails[type eq "work"]'), "mutability"),
    "no type of this address": (remove('emails[type eq "work"].type'), "mutability"),
    "an unknown part of an address": (replace('emails[type eq "work"].size', 7), "invalidPath"),
    "no unknown part of an address": (remove('emails[type eq "work"].size'), "invalidPath"),
    "no user name": (remove("userName"), "mutability"),
    "no names": (remove("name"), "mutability"),
    "no state": (remove("active"), "mutability"),
    "no identifier": (remove("id"), "mutability"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_change_of_a_person_is_refused(name):
    operation, kind = REFUSED[name]
    with pytest.raises(Unfit) as refused:
        patched(operation)
    assert refused.value.kind == kind


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"Operations": [replace("active", True)]},
        {"schemas": [words.PATCH]},
        {"schemas": [words.PATCH], "Operations": []},
        {"schemas": [words.PATCH], "Operations": {"op": "add"}},
        {"schemas": [words.PATCH], "Operations": ["add"]},
        {"schemas": [words.USER], "Operations": [replace("active", True)]},
        {"schemas": [words.PATCH], "Operations": [replace("active", True)] * 1_001},
    ],
)
def test_what_is_no_patch_is_refused(body):
    with pytest.raises(Unfit):
        patches.person(ADA, body)


a, b, c, d = MEMBERS
OF_TEAMS = {
    "added": ([add("members", [{"value": c}])], {a, b, c}),
    "added again": ([add("members", [{"value": a}])], {a, b}),
    "added alone": ([add("members", {"value": c, "type": "User"})], {a, b, c}),
    "added without a path": ([add(None, {"members": [{"value": c}]})], {a, b, c}),
    "replaced": ([replace("members", [{"value": c}])], {c}),
    "replaced without a path": ([replace(None, {"members": [{"value": c}], "id": "x"})], {c}),
    "replaced by null": ([replace("members", None)], set()),
    "replaced by null without a path": ([replace(None, {"members": None})], set()),
    "added with null": ([add("members", None), add(None, {"members": None})], {a, b}),
    "removed by a filter": ([remove(f'members[value eq "{a}"]')], {b}),
    "removed by several of a filter": (
        [remove(f'members[value eq "{a}" or (value eq "{d}")]')],
        {b},
    ),
    "removed by a filter in capitals": ([remove(f'members[value eq "{a.upper()}"]')], {b}),
    "removed by a search in capitals": (
        [remove(f'members[value eq "{a.upper()}" and type eq "User"]')],
        {b},
    ),
    "not removed by what is no identifier": ([remove('members[value eq "A"]')], {a, b}),
    "removed by what they are not": ([remove(f'members[not (value eq "{a}")]')], {a}),
    "removed by a kind": ([remove('members[type eq "User"]')], set()),
    "removed by a value": ([{**remove("members"), "value": [{"value": b}]}], {a}),
    "removed all": ([remove("members")], set()),
    "not removed with what they are shown as": (
        [remove(f'members[value eq "{a}"].display'), remove('members[type eq "User"].DISPLAY')],
        {a, b},
    ),
    "nobody removed": ([remove(f'members[value eq "{d}"]')], {a, b}),
    "added and removed": (
        [add("members", [{"value": d}]), remove(f'members[value eq "{a}"]')],
        {b, d},
    ),
}


@pytest.mark.parametrize("name", OF_TEAMS)
def test_members_are(name):
    operations, members = OF_TEAMS[name]
    assert patched(*operations, before=TEAM) == TeamState("team", "x-team", frozenset(members))


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (add("members", [{"value": "ada"}]), "invalidValue"),
        (add("members", [{"value": a, "type": "Group"}]), "invalidValue"),
        (add("members", [{"display": "Ada"}]), "invalidValue"),
        (replace(f'members[value eq "{a}"].display', "Ada"), "invalidValue"),
        (remove(f'members[value eq "{a}"].value'), "mutability"),
        (remove(f'members[value eq "{a}"].type'), "mutability"),
        (remove('members[type eq "User"].$ref'), "mutability"),
        (remove(f'members[value eq "{a}"].shoeSize'), "invalidPath"),
        (replace(f'members[value eq "{a}"].shoeSize', 7), "invalidPath"),
        (add("members", [{"value": a}] * 5_001), "tooMany"),
        (remove("displayName"), "mutability"),
        (add("owner", "ada"), "invalidPath"),
    ],
)
def test_a_change_of_a_group_is_refused(operation, kind):
    with pytest.raises(Unfit) as refused:
        patched(operation, before=TEAM)
    assert refused.value.kind == kind


def test_members_are_removed_one_by_one_as_often_as_one_likes_and_searched_ten_times():
    """What a request costs is bounded."""
    named = remove(f'members[value eq "{a}"]')
    searched = remove(f'members[value eq "{a}" and type eq "User"]')
    assert patched(*[named] * 1_000, before=TEAM).members == {b}
    assert patched(*[searched] * 10, before=TEAM).members == {b}
    with pytest.raises(Unfit) as refused:
        patched(*[searched] * 11, before=TEAM)
    assert refused.value.kind == "tooMany"


def test_a_group_has_no_external_id_by_null():
    """As a whole group that is sent with null."""
    assert patched(replace("externalId", None), before=TEAM).external_id is None
    assert patched(replace(None, {"externalId": None}), before=TEAM).external_id is None
    assert patched(add("externalId", None), before=TEAM) == TEAM


def test_a_group_is_renamed():
    assert patched(replace("displayName", "crew"), before=TEAM).name == "crew"


NAMES = st.sampled_from(
    [
        *("schemas", "Operations", "op", "path", "value", "userName", "name", "givenName"),
        *("active", "emails", "type", "members", "displayName", "externalId"),
        *(WORK, "members[value pr]"),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(MEMBERS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OPERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["add", "Replace", "remove", 7, None]),
        "path": NAMES | st.text(max_size=20) | st.none() | st.integers(),
        "value": ANYTHING,
    },
)


@given(st.lists(OPERATIONS, max_size=3))
def test_any_operations_are_done_or_refused(operations):
    """NP28"""
    for before in (ADA, TEAM):
        try:
            done = patched(*operations, before=before)
        except Unfit:
            continue
        assert isinstance(done, type(before))


@given(st.sets(st.sampled_from(MEMBERS)), st.sets(st.sampled_from(MEMBERS)))
def test_members_that_are_added_and_removed_are_sets(first, second):
    before = TeamState("team", None, frozenset(first))
    named = [{"value": each} for each in second]
    added = patched(add("members", named), before=before)
    assert added.members == first | second
    if second:
        gone = patched({**remove("members"), "value": named}, before=before)
        assert gone.members == first - second


# What is sent as a whole


def test_a_person_is_read():
    assert states.person(scim.person("ada")) == ADA
    bare = {name: each for name, each in scim.person("ada").items() if name != "active"}
    assert states.person(bare).active


def test_names_of_attributes_are_compared_without_case():
    shouted = {name.upper(): value for name, value in scim.person("ada").items()}
    assert states.person(shouted) == ADA


@pytest.mark.parametrize("name", ["schemas", "userName", "emails", "name"])
def test_a_person_lacks_nothing(name):
    sent = {key: value for key, value in scim.person("ada").items() if key != name}
    with pytest.raises(Unfit):
        states.person(sent)


@pytest.mark.parametrize(
    "emails", [[], "ada@example.com", [{"value": "a@b.cc"}], [{"value": 7, "type": "work"}]]
)
def test_a_new_person_has_a_work_address(emails):
    with pytest.raises(Unfit) as refused:
        states.person(scim.person("ada", emails=emails))
    assert refused.value.kind == "invalidValue"


def test_who_is_replaced_keeps_the_address_and_the_state_that_is_not_sent():
    sent = scim.person("ada", emails=[{"value": "ida@example.com", "type": "work"}])
    del sent["active"], sent["externalId"]
    assert states.person(sent, changed(active=False)) == changed(active=False, external_id=None)


def test_a_group_is_read():
    assert states.team(scim.team("team", a, b, externalId="x-team")) == TEAM
    with pytest.raises(Unfit):
        states.team({"schemas": [words.GROUP]})
    with pytest.raises(Unfit):
        states.team({"displayName": "team"})
