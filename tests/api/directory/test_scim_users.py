"""People whom a directory provisions by SCIM: found, added, changed, suspended, deleted."""

from __future__ import annotations

import pytest

from chalicelib.domain import clock
from chalicelib.domain.directory.scim import words
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from tests.support.world import make, people, scim
from tests.support.world.items import expiry
from tests.support.world.items.resources import stored
from tests.support.world.scim import add, person, remove, replace

WORK = 'emails[type eq "work"].value'


@pytest.fixture
def directory(ada):
    return scim.directory(ada)


def refusal(response):
    return response.status, response.json.get("scimType")


def names_in(answer):
    return [each["userName"] for each in answer.json["Resources"]]


def mailed(store, address):
    return [mail.template for mail in people.mails(store) if mail.recipient == address]


# Adding


def test_a_person_is_added_and_invited(directory, ada, store):
    answer = directory.post("/Users", person("dora"))
    made = answer.json
    assert answer.status == 201
    assert find_uuid(made["id"])
    location = made["meta"].pop("location")
    assert answer.headers["location"] == location
    assert location.endswith(f"/scim/v2/{scim.SETTING_ID}/Users/{made['id']}")
    assert answer.headers["etag"] == made["meta"].pop("version")
    moment = clock.now().strftime("%Y-%m-%dT%H:%M:%S.000Z")
    assert made == {
        "schemas": [words.USER],
        "id": made["id"],
        "externalId": "x-dora",
        "userName": "dora",
        "name": {"givenName": "Dora", "familyName": "Lovelace"},
        "active": True,
        "emails": [{"value": "dora@example.com", "type": "work", "primary": True}],
        "meta": {"resourceType": "User", "created": moment, "lastModified": moment},
    }
    assert mailed(store, "dora@example.com") == ["invitation"]
    shown = ada.client.get(f"/users/{made['id']}.json").body
    assert (shown["username"], shown["role_id"]) == ("dora@example.com", roles.USER.id)
    assert (shown["active"], shown["disabled"]) == (False, None)
    assert directory.found(made["id"])["userName"] == "dora"


def test_who_is_added_suspended_is_invited_when_they_are_let_in(directory, ada, store):
    made = directory.made("dora", active=False)
    assert made["active"] is False
    assert ada.client.get(f"/users/{made['id']}.json").body["disabled"] is not None
    assert mailed(store, "dora@example.com") == []
    directory.patch(f"/Users/{made['id']}", replace("active", "True"))
    assert mailed(store, "dora@example.com") == ["invitation"]
    assert ada.client.get(f"/users/{made['id']}.json").body["disabled"] is None


def test_who_is_added_suspended_is_invited_when_an_administrator_lets_them_in(
    directory, ada, store
):
    made = directory.made("dora", active=False)
    shown = ada.client.put(f"/users/{made['id']}.json", {"disabled": None}).body
    assert (shown["active"], shown["disabled"]) == (False, None)
    assert mailed(store, "dora@example.com") == ["invitation"]
    ada.client.put(f"/users/{made['id']}.json", {"disabled": None})
    assert mailed(store, "dora@example.com") == ["invitation"]


def test_who_is_added_without_a_word_of_it_is_not_suspended(directory):
    sent = person("dora")
    del sent["active"]
    assert directory.post("/Users", sent).json["active"] is True


WRONG = {
    "nothing": ({}, "invalidSyntax"),
    "another schema": ({**person("dora"), "schemas": [words.GROUP]}, "invalidSyntax"),
    "no address": (person("dora", emails=[]), "invalidValue"),
    "a home address": (
        person("dora", emails=[{"value": "d@example.com", "type": "home"}]),
        "invalidValue",
    ),
    "no address that is one": (
        person("dora", emails=[{"value": "dora", "type": "work"}]),
        "invalidValue",
    ),
    "no names": (person("dora", name={}), "invalidValue"),
    "a name of 300 letters": (
        person("dora", name={"givenName": "a" * 300, "familyName": "b"}),
        "invalidValue",
    ),
    "an emoji for a name": (
        person("dora", name={"givenName": "\U0001f600", "familyName": "b"}),
        "invalidValue",
    ),
    "no userName": (person("dora", userName=None), "invalidValue"),
    "an empty userName": (person("dora", userName=""), "invalidValue"),
    "a userName of 257 letters": (person("a" * 257, emails=person("a")["emails"]), "invalidValue"),
    "an unknown attribute": (person("dora", shoeSize=7), "invalidPath"),
    "a text for a truth": (person("dora", active="perhaps"), "invalidValue"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_who_is_said_wrongly_is_refused_and_nothing_is_written(directory, digest, wrong):
    """NP28"""
    before = digest()
    sent, kind = WRONG[wrong]
    assert refusal(directory.post("/Users", sent)) == (400, kind)
    assert digest() == before


def test_what_a_provisioner_sends_besides_is_passed_over(directory):
    more = {
        "schemas": [words.USER, words.ENTERPRISE],
        "displayName": "Dora L.",
        "title": "Dr",
        "password": "hush",
        "phoneNumbers": [{"value": "1", "type": "work"}],
        words.ENTERPRISE: {"department": "mathematics"},
        "name": {"givenName": "Dora", "familyName": "L", "middleName": "B", "formatted": "D B L"},
    }
    made = directory.made("dora", **more)
    assert made["name"] == {"givenName": "Dora", "familyName": "L"}


@pytest.mark.parametrize("name", ["dora", "DORA", "do\u0301ra"])
def test_a_user_name_is_one_persons_however_it_is_written(directory, digest, name):
    """RA10"""
    directory.made("dora" if name.isascii() else "d\u00f3ra", emails=person("one")["emails"])
    before = digest()
    sent = person(name, emails=person("other")["emails"])
    assert refusal(directory.post("/Users", sent)) == (409, "uniqueness")
    assert digest() == before


def test_an_address_that_is_provisioned_already_is_refused(directory, digest):
    directory.made("dora")
    before = digest()
    sent = person("edith", emails=person("dora")["emails"])
    assert refusal(directory.post("/Users", sent)) == (409, "uniqueness")
    assert digest() == before


def test_an_account_of_the_address_is_taken_over(directory, ada, betty, store):
    sent = person("bet", emails=[{"value": "BETTY@example.com", "type": "work"}])
    answer = directory.post("/Users", sent)
    assert answer.status == 201
    assert answer.json["id"] == betty.id
    assert answer.json["name"]["givenName"] == "Bet"
    assert answer.json["emails"][0]["value"] == "betty@example.com"
    assert mailed(store, "betty@example.com") == []
    assert ada.client.get(f"/users/{betty.id}.json").body["profile"]["first_name"] == "Bet"
    assert names_in(directory.get("/Users")) == ["bet"]


def test_who_was_suspended_by_an_administrator_stays_so_when_taken_over(directory, betty):
    people.change(betty.id, disabled=clock.now())
    assert directory.made("betty")["active"] is False


def test_who_was_deleted_is_added_anew(directory):
    first = directory.made("dora")
    assert directory.delete(f"/Users/{first['id']}").status == 204
    second = directory.made("dora")
    assert second["id"] != first["id"]


# Finding


def test_only_who_is_provisioned_is_listed_in_the_order_of_their_coming(directory, betty, time):
    for name in ("dora", "carl"):
        directory.made(name)
        time.pass_by(seconds=1)
    answer = directory.get("/Users").json
    assert [each["userName"] for each in answer["Resources"]] == ["dora", "carl"]
    assert answer["schemas"] == [words.LIST]
    assert (answer["totalResults"], answer["startIndex"], answer["itemsPerPage"]) == (2, 1, 2)


@pytest.mark.parametrize(
    ("query", "names", "start"),
    [
        ("startIndex=2&count=2", ["b", "c"], 2),
        ("startIndex=0&count=1", ["a"], 1),
        ("startIndex=-5&count=1", ["a"], 1),
        ("count=0", [], 1),
        ("count=-1", [], 1),
        ("startIndex=9", [], 9),
        ("count=1000", ["a", "b", "c", "d"], 1),
        ("STARTINDEX=4", ["d"], 4),
        ('count=1&filter=userName gt "b"', ["c"], 1),
    ],
)
def test_a_list_has_pages(directory, time, query, names, start):
    for name in "abcd":
        directory.made(name)
        time.pass_by(seconds=1)
    answer = directory.get(f"/Users?{query}")
    assert names_in(answer) == names
    assert answer.json["startIndex"] == start
    assert answer.json["totalResults"] == (2 if "filter" in query else 4)


@pytest.mark.parametrize(
    "query",
    [
        "startIndex=x",
        "count=1e9",
        f"count={'9' * 30}",
        "filter=",
        "filter=userName",
        'filter=password eq "x"',
        "attributes=userName&excludedAttributes=name",
        f"attributes={','.join(['a'] * 101)}",
    ],
)
def test_a_wrong_query_is_refused(directory, query):
    """NP20, NP28"""
    assert directory.get(f"/Users?{query}").status == 400


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('userName eq "DORA"', ["dora"]),
        ('userName eq "nobody"', []),
        (f'userName eq "{"x" * 1900}"', []),  # more than DynamoDB has for a key
        ('userName eq "' + "\ufdfa" * 60 + '"', []),  # as much, once it is folded
        ('userName eq "\u200b"', []),  # nothing, once it is folded
        ('externalId eq "x-carl"', ["carl"]),
        ('emails.value eq "carl@example.com"', ["carl"]),
        ('emails[type eq "work" and value sw "dora"]', ["dora"]),
        ("active eq false", ["carl"]),
        ('name.givenName co "r" and not (userName eq "carl")', ["dora"]),
        ('userName eq "dora" or userName eq "carl"', ["dora", "carl"]),
        ('name.formatted eq "dora lovelace"', ["dora"]),
        ('meta.created gt "2020-01-01T00:00:00Z"', ["dora", "carl"]),
    ],
)
def test_a_list_is_filtered(directory, time, text, names):
    directory.made("dora")
    time.pass_by(seconds=1)
    directory.made("carl", active=False)
    assert names_in(directory.get(f"/Users?filter={text}")) == names
    body = {"schemas": [words.SEARCH], "filter": text}
    assert names_in(directory.post("/Users/.search", body)) == names


def test_a_filter_by_identifier_finds_one(directory):
    made = directory.made("dora")
    directory.made("carl")
    assert names_in(directory.get(f'/Users?filter=id eq "{made["id"]}"')) == ["dora"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("attributes=userName", {"schemas", "id", "userName"}),
        (f"attributes={words.USER}:USERNAME,active", {"schemas", "id", "userName", "active"}),
        ("attributes=name.formatted", {"schemas", "id", "name"}),
        (
            "excludedAttributes=emails,meta",
            {"schemas", "id", "externalId", "userName", "name", "active"},
        ),
        ("excludedAttributes=id", None),
    ],
)
def test_of_a_person_is_shown_what_is_asked_for(directory, query, names):
    made = directory.made("dora")
    alone = directory.get(f"/Users/{made['id']}?{query}").json
    [listed] = directory.get(f"/Users?{query}").json["Resources"]
    assert alone == listed
    assert set(alone) == (names or set(made))
    if "formatted" in query:
        assert alone["name"] == {"formatted": "Dora Lovelace"}


def test_who_is_not_provisioned_can_be_read_and_is_called_by_their_address(directory, betty):
    shown = directory.found(betty.id)
    assert (shown["userName"], "externalId" in shown) == ("betty@example.com", False)


@pytest.mark.parametrize("user", ["nothing", "8e3874ae-4b40-590b-968a-418f704b9d9a", "a.b"])
def test_nobody_is_found(directory, digest, user):
    """NP01"""
    before = digest()
    off = replace("active", value=False)
    assert directory.get(f"/Users/{user}").status == 404
    assert directory.put(f"/Users/{user}", person("dora")).status == 404
    assert directory.patch(f"/Users/{user}", off).status == 404
    assert directory.delete(f"/Users/{user}").status == 404
    assert digest() == before


def test_who_is_deleted_is_not_found(directory, betty):
    people.delete(betty)
    assert directory.get(f"/Users/{betty.id}").status == 404


# Changing


def test_a_person_is_replaced(directory):
    made = directory.made("dora")
    sent = person("dory", emails=[{"value": "other@example.com", "type": "work"}])
    del sent["externalId"]
    answer = directory.put(f"/Users/{made['id']}", sent)
    assert answer.status == 200
    shown = answer.json
    assert (shown["userName"], shown["name"]["givenName"]) == ("dory", "Dory")
    assert "externalId" not in shown
    assert shown["emails"] == made["emails"]
    assert directory.found(made["id"]) == shown
    assert directory.made("dora", emails=person("d2")["emails"])["id"] != made["id"]


def test_who_is_replaced_without_a_word_of_it_is_not_suspended(directory):
    made = directory.made("dora")
    sent = person("dora")
    del sent["active"]
    assert directory.put(f"/Users/{made['id']}", sent).json["active"] is True
    assert directory.put(f"/Users/{made['id']}", {**sent, "active": False}).json["active"] is False
    assert directory.put(f"/Users/{made['id']}", sent).json["active"] is False


def test_a_name_of_another_is_refused(directory, digest):
    made = directory.made("dora")
    directory.made("carl")
    before = digest()
    path = f"/Users/{made['id']}"
    sent = person("CARL", emails=person("dora")["emails"])
    assert refusal(directory.put(path, sent)) == (409, "uniqueness")
    assert refusal(directory.patch(path, replace("userName", "carl"))) == (409, "uniqueness")
    assert digest() == before


def test_a_person_is_changed_as_azure_sends_it(directory):
    made = directory.made("dora")
    answer = directory.patch(
        f"/Users/{made['id']}",
        {"op": "Replace", "path": "active", "value": "False"},
        {"op": "Replace", "path": WORK, "value": "other@example.com"},
        {"op": "Add", "path": "name.givenName", "value": "Dory"},
        {"op": "Replace", "path": "displayName", "value": "Dory L."},
        {"op": "Add", "path": f"{words.ENTERPRISE}:department", "value": "IT"},
    )
    assert answer.status == 200
    assert answer.json["active"] is False
    assert answer.json["name"]["givenName"] == "Dory"
    assert answer.json["emails"] == made["emails"]


def test_a_person_is_changed_as_okta_sends_it(directory):
    made = directory.made("dora")
    answer = directory.patch(f"/Users/{made['id']}", replace(None, {"active": False}))
    assert answer.json["active"] is False


def test_what_changes_nothing_writes_nothing(directory, digest):
    made = directory.made("dora")
    before = digest()
    same = directory.patch(f"/Users/{made['id']}", replace("userName", "dora"))
    assert same.json == made
    assert directory.put(f"/Users/{made['id']}", made).json == made
    assert digest() == before


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (remove("userName"), "mutability"),
        (remove("active"), "mutability"),
        (replace("emails", [{"value": "x@example.com", "type": "work"}]), "mutability"),
        (add("shoeSize", 7), "invalidPath"),
        ({"op": "move", "path": "userName", "value": "x"}, "invalidSyntax"),
        (replace("name.givenName", "\U0001f600"), "invalidValue"),
        (replace("name.givenName", "a" * 256), "invalidValue"),
    ],
)
def test_a_wrong_change_is_refused(directory, digest, operation, kind):
    """NP28"""
    made = directory.made("dora")
    before = digest()
    change = directory.patch(f"/Users/{made['id']}", replace("userName", "dory"), operation)
    assert refusal(change) == (400, kind)
    assert digest() == before


def test_a_change_of_who_was_not_provisioned_begins_to(directory, betty):
    directory.patch(f"/Users/{betty.id}", replace("externalId", "x-1"))
    assert names_in(directory.get("/Users")) == ["betty@example.com"]


def test_the_action_log_names_in_whose_name_it_was_done(directory, ada, store):
    made = directory.made("dora")
    directory.patch(f"/Users/{made['id']}", replace("active", value=False))
    rows = [row for row in store.rows("test-action_logs") if row["subject"]["S"] == made["id"]]
    assert {row["action"]["S"] for row in rows} == {"Users.created", "Users.updated"}
    assert {row["actor"]["S"] for row in rows} == {ada.id}


# Versions


def test_a_version_changes_with_what_is_shown_and_is_a_condition(directory, ada):
    made = directory.made("dora")
    path, version = f"/Users/{made['id']}", made["meta"]["version"]
    read = directory.get(path)
    assert read.headers["etag"] == version
    assert directory.get(path, headers={"if-none-match": version}).status == 304
    assert directory.get(path, headers={"if-none-match": 'W/"other"'}).status == 200
    ada.client.put(f"/users/{made['id']}.json", {"profile": {"first_name": "Dory"}})
    assert directory.found(made["id"])["meta"]["version"] != version
    stale = {"if-match": version}
    for response in (
        directory.patch(path, replace("active", value=False), headers=stale),
        directory.put(path, person("dora"), headers=stale),
        directory.delete(path, headers=stale),
    ):
        assert response.status == 412
    current = directory.found(made["id"])["meta"]["version"]
    fresh = {"if-match": f'"other", {current}'}
    assert directory.patch(path, replace("active", value=False), headers=fresh).status == 200
    assert directory.delete(path, headers={"if-match": "*"}).status == 204


# Leaving


def test_who_is_suspended_is_signed_out_at_once(directory, betty):
    """AU11"""
    directory.made("betty")
    assert betty.client.get("/users/me.json").status == 200
    directory.patch(f"/Users/{betty.id}", replace("active", value=False))
    assert betty.client.get("/users/me.json").status == 403
    directory.patch(f"/Users/{betty.id}", replace("active", value=True))
    assert betty.client.get("/users/me.json").status == 403  # what has ended stays so


@pytest.fixture
def namesake(directory, betty):
    """Somebody whom the directory calls by the address of another, whom it does not provision."""
    return directory.made("dora", userName="betty@example.com")


def test_who_leaves_is_out_though_their_address_is_what_another_is_called(
    directory, betty, namesake
):
    """AU11"""
    path = f"/Users/{betty.id}"
    answer = directory.patch(path, replace("active", value=False), replace("name.givenName", "B"))
    assert answer.status == 200
    assert (answer.json["active"], answer.json["name"]["givenName"]) == (False, "B")
    assert betty.client.get("/users/me.json").status == 403
    assert [each["id"] for each in directory.get("/Users").json["Resources"]] == [namesake["id"]]


def test_a_suspension_is_done_with_an_identifier_that_is_not_kept(directory, betty, namesake):
    path, named = f"/Users/{betty.id}", replace("externalId", "x-1")
    answer = directory.patch(path, named, replace("active", value=False))
    assert (answer.status, answer.json["active"]) == (200, False)
    assert "externalId" not in answer.json


@pytest.mark.parametrize("operation", [replace("externalId", "x-1"), add("externalId", "x-1")])
def test_who_would_be_called_as_another_is_not_provisioned(
    directory, betty, namesake, digest, operation
):
    """RA10"""
    before = digest()
    path = f"/Users/{betty.id}"
    assert refusal(directory.patch(path, operation)) == (409, "uniqueness")
    sent = person("x", userName="betty@example.com")
    assert refusal(directory.put(path, sent)) == (409, "uniqueness")
    assert digest() == before


@pytest.mark.parametrize("method", ["put", "patch"])
def test_who_leaves_is_out_though_they_are_to_be_called_as_another(directory, betty, method):
    """AU11, RA10"""
    carl, path = directory.made("carl"), f"/Users/{betty.id}"
    if method == "put":
        answer = directory.put(path, person("betty", userName="carl", active=False))
    else:
        operations = replace("userName", "carl"), replace("active", value=False)
        answer = directory.patch(path, *operations)
    assert (answer.status, answer.json["active"]) == (200, False)
    assert betty.client.get("/users/me.json").status == 403
    assert [each["id"] for each in directory.get("/Users").json["Resources"]] == [carl["id"]]


@pytest.mark.parametrize("method", ["put", "patch"])
def test_who_is_suspended_keeps_their_name_where_the_new_one_is_of_another(directory, method):
    """AU11, RA10"""
    made = directory.made("dora")
    directory.made("carl")
    path = f"/Users/{made['id']}"
    if method == "put":
        answer = directory.put(path, person("dora", userName="CARL", externalId="x", active=False))
    else:
        changes = {"userName": "CARL", "externalId": "x", "active": False}
        answer = directory.patch(path, replace(None, changes))
    assert answer.status == 200
    assert answer.json["active"] is False
    assert (answer.json["userName"], answer.json["externalId"]) == ("dora", "x")
    assert directory.found(made["id"]) == answer.json
    again = directory.patch(path, replace("userName", "carl"))
    assert refusal(again) == (409, "uniqueness")  # who is suspended already waits for it


def test_a_directory_gives_nobody_a_role(directory, ada, betty):
    """DS04: neither who is added, nor who is taken over, changed or replaced"""
    administrator = [{"value": "admin", "primary": True}, {"value": roles.ADMIN.id}]
    made = directory.made("dora", roles=administrator)
    directory.made("betty", roles=administrator)
    path = f"/Users/{betty.id}"
    assert directory.put(path, person("betty", roles=administrator)).status == 200
    for operation in (add("roles", administrator), replace(None, {"roles": administrator})):
        assert directory.patch(path, operation).status == 200
    for user_id in (made["id"], betty.id):
        assert ada.client.get(f"/users/{user_id}.json").body["role_id"] == roles.USER.id


def test_administrators_are_neither_suspended_nor_deleted(directory, ada, digest):
    """DS04, W8"""
    dave = make.user("dave", admin=True)
    directory.made("dave")
    before = digest()
    for name, who in (("dave", dave), ("ada", ada)):
        path = f"/Users/{who.id}"
        for response in (
            directory.patch(path, replace("active", value=False)),
            directory.put(path, person(name, active=False)),
            directory.delete(path),
        ):
            assert response.status == 403
            assert "Administrators" in response.json["detail"]
    assert digest() == before
    assert directory.patch(f"/Users/{dave.id}", replace("name.givenName", "D")).status == 200


def test_administrators_who_are_suspended_stay_so(directory, ada, digest):
    """DS04, W8"""
    dave = make.user("dave", admin=True)
    directory.made("dave")
    ada.client.put(f"/users/{dave.id}.json", {"disabled": "2026-01-01T00:00:00+00:00"})
    before = digest()
    path = f"/Users/{dave.id}"
    for response in (
        directory.patch(path, replace("active", value=True)),
        directory.put(path, person("dave")),
    ):
        assert response.status == 403
        assert "Administrators" in response.json["detail"]
    assert digest() == before


def test_who_is_deleted_leaves_nothing(directory, ada, store):
    """I10"""
    made = directory.made("dora")
    assert directory.delete(f"/Users/{made['id']}").status == 204
    assert directory.get(f"/Users/{made['id']}").status == 404
    assert directory.delete(f"/Users/{made['id']}").status == 404
    assert names_in(directory.get("/Users")) == []
    claims = [row for row in store.rows("test-claims") if row["subject"]["S"] == made["id"]]
    assert [row["kind"]["S"] for row in claims] == ["former user"]


def test_who_is_deleted_by_an_administrator_leaves_no_name_in_the_directory(directory, ada):
    made = directory.made("dora")
    assert ada.client.delete(f"/users/{made['id']}.json").status == 200
    assert names_in(directory.get("/Users")) == []
    assert directory.made("dora")["id"] != made["id"]


def test_what_stands_in_the_way_of_a_deletion_is_said_and_the_person_is_out(
    directory, ada, betty, carol
):
    """DS03, I2, I3"""
    make.resource(betty, {carol: PermissionType.READ})
    make.resource(betty, {carol: PermissionType.READ})
    make.group(betty, carol)
    directory.made("betty")
    answer = directory.delete(f"/Users/{betty.id}")
    assert answer.status == 409
    detail = answer.json["detail"]
    assert "Items without another owner: 2." in detail
    assert "Groups without another manager: " in detail
    assert "suspended" in detail
    assert betty.client.get("/users/me.json").status == 403
    assert directory.found(betty.id)["active"] is False
    again = directory.delete(f"/Users/{betty.id}")
    assert (again.status, again.json["detail"]) == (409, detail)


def test_a_deletion_that_suspends_fits_the_version_that_it_began_with(directory, ada, betty):
    """Also where what they have read expires, which changes their items with them."""
    expiry.turned_on(ada)
    resource_id = make.resource(betty, {ada: PermissionType.READ})
    assert betty.client.get(f"/secrets/resource/{resource_id}.json").status == 200
    current = {"if-match": directory.made("betty")["meta"]["version"]}

    answer = directory.delete(f"/Users/{betty.id}", headers=current)
    assert refusal(answer) == (409, None)
    assert "Items without another owner: 1." in answer.json["detail"]
    assert directory.found(betty.id)["active"] is False
    assert stored(resource_id).expired is not None
    assert directory.delete(f"/Users/{betty.id}", headers=current).status == 412


def test_the_user_in_whose_name_a_directory_acts_may_leave(ada, betty):
    directory = scim.directory(ada, betty)
    directory.made("betty")
    assert directory.patch(f"/Users/{betty.id}", replace("active", value=False)).status == 200
    assert directory.post("/Users", person("dora")).status == 409


# What others see of it


def test_a_directory_sees_no_key_or_secret(directory):
    """I12"""
    directory.made("ada")
    assert "PGP" not in directory.get("/Users").content.decode()


def test_administrators_are_shown_what_a_directory_calls_users(directory, ada, betty):
    made = directory.made("betty")
    contained = "contain[scim_entry]=1"
    entry = ada.client.get(f"/users/{betty.id}.json?{contained}").body["scim_entry"]
    assert entry == {
        "id": entry["id"],
        "scim_name": "betty",
        "external_identifier": "x-betty",
        "foreign_model": "Users",
        "foreign_key": betty.id,
        "deleted": None,
        "created": made["meta"]["created"].replace(".000Z", "+00:00"),
    }
    listed = {each["id"]: each for each in ada.client.get(f"/users.json?{contained}").body}
    assert listed[betty.id]["scim_entry"] == entry
    assert listed[ada.id]["scim_entry"] is None
    assert "scim_entry" not in ada.client.get(f"/users/{betty.id}.json").body
    for path in (f"/users/{betty.id}.json", "/users.json"):
        assert "scim_entry" not in str(betty.client.get(f"{path}?{contained}").body)
