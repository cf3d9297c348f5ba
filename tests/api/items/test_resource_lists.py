"""Lists of resources: which are seen, in which order, with what, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.holdings import Holding
from tests.support.faults.hooks import Around, Recorder, SmallPages
from tests.support.faults.meanwhile import ChangedMeanwhile
from tests.support.wire.client import Response
from tests.support.world import make
from tests.support.world.items import folders
from tests.support.world.items.resources import (
    V5_DEFAULT,
    actions,
    delete_type,
    metadata,
    secret_of,
)
from tests.support.world.items.shares import remove, share
from tests.support.world.items.tags import tag
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
UNKNOWN = "8e3874ae-4b40-590b-968a-418f704b9d9a"
BASE = {
    *("id", "name", "username", "uri", "description", "resource_type_id", "deleted", "expired"),
    *("created", "modified", "created_by", "modified_by", "folder_parent_id", "personal"),
}


def listed(who: Somebody, query: str = "") -> Response:
    response = who.client.get(f"/resources.json?{query}")
    assert response.status == 200, response.json
    return response


def ids(who: Somebody, query: str = "") -> set[str]:
    found = [each["id"] for each in listed(who, query).body]
    assert len(found) == len(set(found))
    return set(found)


def names(who: Somebody, query: str = "") -> list[str | None]:
    return [each.get("name") for each in listed(who, query).body]


def holding(who: Somebody, resource_id: str, **fields: Any) -> None:
    row = Holding.get(who.id, resource_id)
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()


def mark(who: Somebody, resource_id: str) -> None:
    """Make it a favorite of somebody's."""
    holding(who, resource_id, favorite_id=new_id(), favorite_created=clock.now())


def test_a_list_of_nothing_is_empty(ada):
    response = listed(ada)

    assert response.body == []
    assert response.header["pagination"] == {"count": 0, "page": 1, "limit": None}


def test_a_list_has_what_the_caller_may_see_and_no_more(ada, betty, carol):
    team = make.group(betty)
    own = make.resource(ada)
    shared = make.resource(betty, {ada: READ})
    by_group = make.resource(team)
    make.resource(carol)

    assert ids(ada) == {own, shared}
    assert ids(betty) == {shared, by_group}
    assert listed(ada).header["pagination"] == {"count": 2, "page": 1, "limit": None}
    assert [set(each) for each in listed(ada).body] == [BASE] * 2


def test_both_formats_stand_in_one_list(ada):
    in_clear = make.resource(ada)
    encrypted = make.resource(ada, **metadata(ada), resource_type_id=V5_DEFAULT)

    shown = {each["id"]: each for each in listed(ada).body}

    v4, v5 = {"name", "username", "uri", "description"}, set(metadata(ada))
    assert set(shown[in_clear]) == BASE
    assert set(shown[encrypted]) == BASE - v4 | v5


def test_resources_of_deleted_types_are_left_out(ada):
    make.resource(ada, resource_type_id=resource_types.TOTP.id)
    kept = make.resource(ada)
    delete_type(resource_types.TOTP)

    assert ids(ada) == {kept}


def test_folders_are_no_resources(ada):
    resource_id = make.resource(ada)
    Holding(ada.id, new_id(), kind="Folder").save()

    assert ids(ada) == {resource_id}


def test_whoever_lost_their_permission_sees_nothing_though_their_row_is_still_there(ada, betty):
    """FT12"""
    resource_id = make.resource(ada)
    Holding(betty.id, resource_id, **Holding.new_secret("left over", ada.id, "revision")).save()

    assert ids(betty) == set()
    assert betty.client.get(f"/secrets/resource/{resource_id}.json").status == 404


# Filters


def test_favorites_are_those_of_the_caller(ada, betty):
    marked, other = make.resource(ada, {betty: READ}), make.resource(ada, {betty: READ})
    mark(ada, marked)
    mark(betty, other)

    assert ids(ada, "filter[is-favorite]=1") == {marked}
    assert ids(ada, "filter[is-favorite]=0") == {other}
    assert ids(ada, "filter[is-favorite]=false") == {other}
    assert ids(betty, "filter[is-favorite]=TRUE") == {other}


def test_owned_and_shared_are_told_apart_by_the_effective_permission(ada, betty):
    team = make.group(ada)
    own = make.resource(ada, {betty: UPDATE})
    by_group = make.resource(betty, {ada: READ, team: OWNER})
    shared = make.resource(betty, {ada: READ, team: UPDATE})

    assert ids(ada, "filter[is-owned-by-me]=1") == {own, by_group}
    assert ids(ada, "filter[is-shared-with-me]=1") == {shared}
    assert ids(ada, "filter[is-owned-by-me]=1&filter[is-shared-with-me]=1") == set()


@pytest.mark.parametrize("name", ["is-owned-by-me", "is-shared-with-me"])
@pytest.mark.parametrize("nothing", ["0", "false", "False"])
def test_such_a_filter_of_0_is_none(ada, betty, name, nothing):
    everything = {make.resource(ada), make.resource(betty, {ada: READ})}

    assert ids(ada, f"filter[{name}]={nothing}") == everything


def test_resources_shared_with_a_group_have_its_permission(ada, betty):
    team, others = make.group(betty), make.group(ada)
    shared = make.resource(ada, {team: READ})
    make.resource(ada)
    make.resource(ada, {others: READ})

    assert ids(ada, f"filter[is-shared-with-group]={team.id}") == {shared}
    assert ids(betty, f"filter[is-shared-with-group]={team.id.upper()}") == {shared}
    assert ids(betty, f"filter[is-shared-with-group]={others.id}") == set()
    assert ids(ada, f"filter[is-shared-with-group]={ada.id}") == set()


def test_foreign_identifiers_lead_nowhere_and_are_not_counted(ada, betty):
    """AC27"""
    own, foreign = make.resource(ada), make.resource(betty, {make.group(betty): READ})

    for query in (
        f"filter[has-id][]={own}&filter[has-id][]={foreign}&filter[has-id][]={UNKNOWN}",
        f"filter[has-id]={own}",
        f"filter[has-id]={own.upper()}&filter[has-id][]={own}",
    ):
        response = listed(ada, f"{query}&limit=10")
        assert [each["id"] for each in response.body] == [own]
        assert response.header["pagination"] == {"count": 1, "page": 1, "limit": 10}
    assert ids(ada, f"filter[has-id][]={foreign}") == set()
    assert ids(ada, f"filter[has-parent][]={UNKNOWN}") == set()


def test_a_parent_is_a_place_in_the_callers_own_tree(ada, betty):
    folder = folders.folder(ada)
    inside, outside = make.resource(ada, {betty: READ}), make.resource(ada, {betty: READ})
    holding(ada, inside, place=folder)

    assert ids(ada, f"filter[has-parent]={folder}") == {inside}
    for root in ("false", "0", ""):
        assert ids(ada, f"filter[has-parent]={root}") == {outside}
    assert ids(ada, f"filter[has-parent][]={folder}&filter[has-parent][]=0") == {inside, outside}
    assert ids(ada, f"filter[has-parent]={folder}&filter[has-id]={outside}") == set()
    assert ids(ada, f"filter[has-parent]={folder}&contain[secret]=1") == {inside}
    assert ids(betty, "filter[has-parent]=0") == {inside, outside}
    [shown] = listed(ada, f"filter[has-id]={inside}").body
    assert shown["folder_parent_id"] == folder


def test_resources_in_clear_have_no_key_type(ada):
    make.resource(ada)
    encrypted = make.resource(ada, **metadata(ada), resource_type_id=V5_DEFAULT)

    assert ids(ada, "filter[metadata_key_type]=user_key") == {encrypted}
    assert ids(ada, "filter[metadata_key_type]=shared_key") == set()


def test_all_filters_must_hold(ada, betty):
    one, other = make.resource(ada), make.resource(betty, {ada: READ})
    mark(ada, one)
    mark(ada, other)

    assert ids(ada, "filter[is-favorite]=1&filter[is-owned-by-me]=1") == {one}
    assert ids(ada, f"filter[is-favorite]=1&filter[has-id]={other}") == {other}


WRONG = {
    "filter[is-favorite]=2": 'Invalid filter. "2" is not a valid value for filter is-favorite.',
    "filter[is-favorite]=yes": 'Invalid filter. "yes" is not a valid value for filter is-favorite.',
    "filter[is-owned-by-me]=": 'Invalid filter. "" is not a valid value for filter is-owned-by-me.',
    "filter[is-shared-with-me][]=1": (
        'Invalid filter. "array" is not a valid value for filter is-shared-with-me.'
    ),
    "filter[is-shared-with-group]=1": (
        'Invalid filter. "1" is not a valid group id for filter is-shared-with-group.'
    ),
    "filter[has-id]=": 'Invalid filter. "" is not a valid resource id for filter has-id.',
    "filter[has-id]=a,b": 'Invalid filter. "a,b" is not a valid resource id for filter has-id.',
    "filter[has-id][]=x": 'Invalid filter. "x" is not a valid resource id for filter has-id.',
    "filter[has-parent]=true": (
        'Invalid filter. "true" is not a valid parent id for filter has-parent.'
    ),
    "filter[metadata_key_type]=x": (
        'Invalid filter. "x" is not a valid value for filter metadata_key_type.'
    ),
    "filter[metadata_key_type][]=user_key": (
        'Invalid filter. "array" is not a valid value for filter metadata_key_type.'
    ),
    "filter=": "Invalid query string. The filter parameter should be an array.",
    "contain=1": "Invalid query string. The contain parameter should be an array.",
    "contain[]=secret": 'Invalid contain. "secret" is not a valid contain value.',
    "contain[secret]=2": 'Invalid contain. "2" is not a valid contain value.',
    "contain[creator]=yes": 'Invalid contain. "yes" is not a valid contain value.',
    "contain[permission]=": 'Invalid contain. "" is not a valid contain value.',
    "contain[favorite][]=1": 'Invalid contain. "array" is not a valid contain value.',
    "order[]=Resource.secret ASC": (
        'Invalid order. "Resources.secret" is not in the list of allowed order.'
    ),
    "order[]=Resource.name;x": (
        'Invalid order. "Resources.name;x" is not in the list of allowed order.'
    ),
    "order[]=Resource.modified SIDEWAYS": (
        'Invalid order. "Resource.modified SIDEWAYS" is not a valid order.'
    ),
    "order=modified": 'Invalid order. "modified" is not a valid field.',
    "sort=name": 'Invalid order. "name" is not in the list of allowed order.',
    "sort=Resource.name": 'Invalid order. "Resource.name" is not in the list of allowed order.',
    "sort=Resources.name&direction=DESC": 'Invalid order. "DESC" is not a valid order.',
    "api-version=v1": "API v1 support is deprecated in this version.",
}


@pytest.mark.parametrize("query", WRONG)
def test_a_wrong_option_is_refused(ada, query):
    """NP20, NP21, NP22"""
    response = ada.client.get(f"/resources.json?{query}")

    assert (response.status, response.message, response.body) == (400, WRONG[query], "")


def test_too_many_options_are_refused(ada):
    """NP20, NP22"""
    many_ids = "&".join(f"filter[has-id][]={new_id()}" for _ in range(10_000))
    many_orders = "&".join(["order[]=Resource.name"] * 100)

    for query in (many_ids, many_orders):
        assert ada.client.get(f"/resources.json?{query}").status == 400


def test_of_a_contain_option_sent_twice_the_last_counts(ada):
    """NP20"""
    make.resource(ada)

    assert "creator" not in listed(ada, "contain[creator]=1&contain[creator]=0").body[0]
    assert "creator" in listed(ada, "contain[creator]=0&contain[creator]=1").body[0]


def test_unknown_options_are_passed_over(ada):
    make.resource(ada)

    query = "filter[has-tags]=x&filter[a]=b&contain[tags]=1&contain[a]=7&x=y&api-version=v2"
    [shown] = listed(ada, query).body
    assert set(shown) == BASE


# What a resource contains


@pytest.fixture(params=["list", "view"])
def shown(request, ada, betty):
    """Asks for Ada's one resource, in a list or alone."""
    resource_id = make.resource(betty, {ada: READ, make.group(ada): UPDATE})
    mark(ada, resource_id)
    where = "/resources.json" if request.param == "list" else f"/resources/{resource_id}.json"

    def ask(query: str) -> Any:
        body = ada.client.get(f"{where}?{query}").body
        return body[0] if request.param == "list" else body

    return ask


@pytest.mark.parametrize(
    ("query", "members"),
    [
        ("", set()),
        ("contain[creator]=1", {"creator"}),
        ("contain[modifier]=1", {"modifier"}),
        ("contain[favorite]=1", {"favorite"}),
        ("contain[secret]=1", {"secrets"}),
        ("contain[resource-type]=1", {"resource_type"}),
        ("contain[permission]=1", {"permission"}),
        ("contain[permissions]=true", {"permissions"}),
        ("contain[permissions.user.profile]=1", {"permissions"}),
        ("contain[permissions.group]=1", {"permissions"}),
        ("contain[tag]=1", {"tags"}),
        ("contain[tag]=0", {"tags"}),
        ("contain[secret]=0&contain[permission]=false", set()),
        ("contain[permissions.user.gpgkey]=1", set()),
    ],
)
def test_a_resource_contains_what_is_asked_for(shown, query, members):
    """AC26"""
    assert set(shown(query)) == BASE | members


def test_creator_and_modifier_are_users_without_profile(shown, betty):
    body = shown("contain[creator]=1&contain[modifier]=1")

    assert body["creator"] == body["modifier"]
    assert set(body["creator"]) == {
        *("id", "role_id", "username", "active", "deleted", "disabled"),
        *("last_logged_in", "created", "modified"),
    }
    assert body["creator"]["id"] == betty.id


def test_there_are_no_tags_yet(shown):
    assert shown("contain[tag]=1")["tags"] == []


def test_the_favorite_is_the_callers(shown, ada, betty):
    body = shown("contain[favorite]=1")

    favorite = body["favorite"]
    assert set(favorite) == {
        *("id", "user_id", "foreign_key", "foreign_model", "created", "modified")
    }
    assert (favorite["user_id"], favorite["foreign_key"]) == (ada.id, body["id"])
    assert favorite["foreign_model"] == "Resource"
    assert [each["favorite"] for each in listed(betty, "contain[favorite]=1").body] == [None]


def test_the_one_secret_is_the_callers(shown, ada):
    body = shown("contain[secret]=1")

    [secret] = body["secrets"]
    assert secret["user_id"] == ada.id
    assert secret["data"] == secret_of(ada, body["id"])


def test_reading_contained_secrets_is_on_record(ada, betty, store):
    own, other = make.resource(ada), make.resource(ada)
    foreign = make.resource(betty)

    listed(ada, "contain[secret]=1")
    listed(ada, f"contain[secret]=1&filter[has-id]={own}")
    ada.client.get(f"/resources/{own}.json?contain[secret]=1")
    ada.client.get(f"/resources/{foreign}.json?contain[secret]=1")
    listed(ada, "contain[secret]=0")

    assert actions(store, own) == ["Resource.Secrets.read"] * 3
    assert actions(store, other) == ["Resource.Secrets.read"]
    assert actions(store, foreign) == []


def test_only_the_secrets_of_the_page_are_on_record(ada, store):
    all_ids = [make.resource(ada, name=name) for name in "abc"]

    listed(ada, "contain[secret]=1&limit=1&page=2")

    assert [len(actions(store, each)) for each in all_ids] == [0, 1, 0]


def test_the_permission_is_the_strongest_whoever_holds_it(shown, ada):
    permission = shown("contain[permission]=1")["permission"]

    assert set(permission) == {
        *("id", "aco", "aco_foreign_key", "aro", "aro_foreign_key", "type"),
        *("created", "modified"),
    }
    assert (permission["aro"], permission["type"]) == ("Group", 7)


def test_of_equal_permissions_the_callers_own_is_shown(ada, betty):
    make.resource(betty, {make.group(ada): READ, ada: READ})

    [body] = listed(ada, "contain[permission]=1").body
    assert (body["permission"]["aro"], body["permission"]["aro_foreign_key"]) == ("User", ada.id)


def test_permissions_are_those_of_everybody(shown, ada, betty):
    body = shown("contain[permissions]=1")

    assert {(each["aro"], each["type"]) for each in body["permissions"]} == {
        ("User", 15),
        ("User", 1),
        ("Group", 7),
    }
    assert all("user" not in each and "group" not in each for each in body["permissions"])


def test_permissions_are_shown_with_the_users_who_hold_them(shown, ada, betty):
    body = shown("contain[permissions.user.profile]=1")

    users = {each["aro_foreign_key"]: each["user"] for each in body["permissions"]}
    assert users[ada.id]["profile"]["first_name"] == "Ada"
    assert "avatar" in users[betty.id]["profile"]
    assert [each["user"] for each in body["permissions"] if each["aro"] == "Group"] == [None]


def test_the_type_is_an_object_with_its_definition(shown):
    kind = shown("contain[resource-type]=1")["resource_type"]

    assert kind["slug"] == "password-string"
    assert kind["definition"]["secret"] == {"type": "string", "maxLength": 4096}


# Order and pages


@pytest.fixture
def alphabet(ada):
    """Four resources of Ada's, whose order is another for each field."""
    made = [("b", "X", "1"), ("A", "y", "3"), ("c", None, "2"), ("B", "", None)]
    return [make.resource(ada, name=n, username=u, uri=w) for n, u, w in made]


def test_a_list_is_ordered_by_name_without_regard_to_case(ada, alphabet):
    found = names(ada)
    assert [str(name).lower() for name in found] == ["a", "b", "b", "c"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("order[]=Resource.uri ASC", ["B", "b", "c", "A"]),
        ("order=Resources.uri desc", ["A", "c", "b", "B"]),
        ("order[]=Resource.uri", ["B", "b", "c", "A"]),
        ("sort=Resources.uri&direction=desc", ["A", "c", "b", "B"]),
        ("sort=Resources.uri", ["B", "b", "c", "A"]),
        ("sort[Resources.uri]=desc", ["A", "c", "b", "B"]),
        ("sort[Resources.uri]=", ["B", "b", "c", "A"]),
        ("sort=Resources.uri&order=Resource.uri DESC", ["B", "b", "c", "A"]),
        ("sort[Resources.name]=desc&sort[Resources.uri]=asc", ["c", "B", "b", "A"]),
        ("order[]=Resource.name DESC&order[]=Resource.uri DESC", ["c", "b", "B", "A"]),
    ],
)
def test_a_list_is_ordered_as_asked(ada, alphabet, query, expected):
    assert names(ada, query) == expected


def test_a_list_is_ordered_by_time(time, ada):
    time.pass_by(seconds=1)
    late = make.resource(ada)
    time.pass_by(seconds=-1)
    early = make.resource(ada)

    query = "sort=Resources.modified&direction="
    assert [each["id"] for each in listed(ada, f"{query}desc").body] == [late, early]
    assert [each["id"] for each in listed(ada, f"{query}asc").body] == [early, late]


def test_what_has_no_name_comes_first(ada):
    named = make.resource(ada)
    encrypted = make.resource(ada, **metadata(ada), resource_type_id=V5_DEFAULT)

    assert [each["id"] for each in listed(ada).body] == [encrypted, named]


def test_pages_together_are_the_list(ada):
    everything = {make.resource(ada, name="same") for _ in range(7)}
    query = "sort=Resources.modified&direction=desc&limit=3&page="

    pages = [listed(ada, f"{query}{page}") for page in (1, 2, 3)]

    assert [len(page.body) for page in pages] == [3, 3, 1]
    assert [each["id"] for page in pages for each in page.body] == sorted(everything)
    assert [page.header["pagination"] for page in pages] == [
        {"count": 7, "page": page, "limit": 3} for page in (1, 2, 3)
    ]


def test_there_is_nothing_after_the_last_page(ada):
    make.resource(ada)

    for query in ("limit=1&page=2", "page=2", "limit=10&page=99999999999999999999"):
        response = ada.client.get(f"/resources.json?{query}")
        assert (response.status, response.message) == (404, "Not Found")


@pytest.mark.parametrize("limit", ["0", "-1", "x", ""])
def test_a_limit_that_is_none_is_1(ada, limit):
    make.resource(ada)
    make.resource(ada)

    response = listed(ada, f"limit={limit}&page=0")

    assert len(response.body) == 1
    assert response.header["pagination"] == {"count": 2, "page": 1, "limit": 1}


def test_a_long_list_is_complete(ada):
    """FT08"""
    many = {make.resource(ada) for _ in range(120)}

    with SmallPages(7, empty=True):
        assert ids(ada) == many
        assert ids(ada, "contain[secret]=1") == many


def test_a_list_costs_as_many_steps_as_its_pages_and_batches(ada, betty):
    for _ in range(3):
        make.resource(betty, {ada: READ})
    query = "contain[permission]=1&contain[permissions]=1&contain[favorite]=1"
    listed(ada)  # reads the signing keys, which are then kept

    with Recorder() as seen:
        listed(ada, query)
    assert seen.operations == ["BatchGetItem", "Query", "BatchGetItem"]
    with Recorder() as seen:
        listed(ada, f"{query}&contain[creator]=1&contain[permissions.user.profile]=1")
    assert seen.steps == 4


def test_a_list_never_mixes_new_metadata_with_an_old_secret(betty):
    """I13, FT11"""
    resource_id = make.resource(betty)
    body = {
        "name": "new",
        "secrets": [{"user_id": betty.id, "data": message("new", betty.key.public)}],
    }

    with ChangedMeanwhile(lambda: betty.client.put(f"/resources/{resource_id}.json", body)):
        [shown] = listed(betty, "contain[secret]=1").body

    assert shown["name"] == "new"
    assert shown["secrets"][0]["data"] == body["secrets"][0]["data"]


def test_many_folders_are_not_asked_for_one_by_one(betty):
    """N6"""
    resource_id = make.resource(betty)
    wanted = "&".join(f"filter[has-parent][]={new_id()}" for _ in range(500))

    with Recorder() as recorder:
        assert ids(betty, f"{wanted}&filter[has-parent][]=0") == {resource_id}
    assert len(recorder.calls) <= 4


@pytest.mark.parametrize("contains", ["", "&contain[secret]=1"])
def test_a_list_of_the_root_reads_what_is_held_once(betty, contains):
    """N6: and each folder that something lies in, as that may count as the root"""
    many = 10
    for number in range(many):
        folders.resource(betty, folders.folder(betty, f"folder {number}"))
    resource_id = make.resource(betty)

    with Recorder() as seen:
        assert ids(betty, f"filter[has-parent]=0{contains}") == {resource_id}
    assert seen.rows_read < (2 * many + 1) + many + many


@pytest.mark.parametrize("contains", ["", "&contain[secret]=1"])
def test_a_list_of_one_folder_reads_no_other(betty, contains):
    """N6"""
    many = 10
    made = [folders.folder(betty, f"folder {number}") for number in range(many)]
    inside = [folders.resource(betty, each) for each in made]

    with Recorder() as seen:
        assert ids(betty, f"filter[has-parent]={made[0]}{contains}") == {inside[0]}
    assert seen.rows_read < (2 * many if contains else 2) + many


class Queries(Around):
    """The indexes by which holdings are queried; `None` is the table itself, with all they have."""

    def __init__(self) -> None:
        self.indexes: list[str | None] = []

    def __call__(self, operation: str, parameters: Any, send: Any) -> Any:
        if operation == "Query" and parameters["TableName"].endswith("holdings"):
            self.indexes.append(parameters.get("IndexName"))
        return send()


@pytest.mark.parametrize("member", ["secret", "tag"])
def test_a_page_reads_secrets_and_tags_of_what_stands_on_it(ada, member):
    made = [make.resource(ada, name=f"r{number:02}") for number in range(30)]
    tag(ada, made[7], "seven")

    with Queries() as queries, Recorder() as seen:
        response = listed(ada, f"contain[{member}]=1&limit=5&page=2")

    assert [each["id"] for each in response.body] == made[5:10]
    assert response.header["pagination"] == {"count": 30, "page": 2, "limit": 5}
    assert queries.indexes == ["by-place"]
    assert seen.rows_read < 30 + 30 + 5 + 5 + 10
    whole = {each["id"]: each for each in listed(ada, f"contain[{member}]=1").body}
    assert response.body == [whole[each] for each in made[5:10]]


def test_a_page_of_nothing_with_secrets_is_empty(ada):
    response = listed(ada, "contain[secret]=1&limit=5")

    assert response.body == []
    assert response.header["pagination"] == {"count": 0, "page": 1, "limit": 5}


def test_a_page_is_read_anew_if_it_has_changed_meanwhile(ada, betty):
    """I13: what is taken away between finding the page and reading it is not on it."""
    lost = make.resource(betty, {ada: READ}, name="a")
    kept = make.resource(ada, name="b")

    with ChangedMeanwhile(
        lambda: share(betty, lost, [remove(lost, ada)]), table="resources"
    ) as change:
        response = listed(ada, "contain[secret]=1&limit=5")

    assert change.happened
    assert [each["id"] for each in response.body] == [kept]
    assert response.header["pagination"]["count"] == 1
