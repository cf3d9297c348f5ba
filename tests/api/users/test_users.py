"""Users: the list, one user, and invitations."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.services.users.people.users import new_user
from chalicelib.tables.claims import Claim
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import Belonging
from tests.conftest import Time
from tests.support.faults.hooks import Once, PartialBatch, Recorder
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import make, people
from tests.support.world.keys import KEYS
from tests.support.world.make import Somebody
from tests.support.world.people import change, invitation, waiting

ADDED = "The user was successfully added. This user now need to complete the setup."
NO_USER = "The user does not exist."
MFA = "is_mfa_enabled"
MISSING_KEYS = "contain[missing_metadata_key_ids]"

pytestmark = pytest.mark.usefixtures("time")


def names(response: Response) -> list[str]:
    """The first part of the addresses of a list."""
    assert response.status == 200, response.json
    return [user["username"].partition("@")[0] for user in response.body]


def list_of(who: Somebody, query: str = "") -> list[str]:
    return names(who.client.get(f"/users.json?{query}"))


def join(who: Somebody, *groups: str) -> None:
    now = clock.now()
    change(who.id, groups={group: Belonging(new_id(), False, now) for group in groups})


def resource(*, deleted: bool = False, **holders: str) -> str:
    """A resource shared with these holders: `{id: "User" or "Group"}`."""
    now = clock.now()
    row = Resource(
        new_id(),
        resource_type_id=new_id(),
        name="mail",
        deleted=deleted,
        permissions={
            holder: Permission(new_id(), aro, holder, PermissionType.READ, now, now)
            for holder, aro in holders.items()
        },
        created=now,
        modified=now,
        created_by=new_id(),
        modified_by=new_id(),
    )
    row.save()
    return str(row.id)


# The list


def test_users_are_listed_by_username_with_all_that_is_shown(ada, betty, carol):
    response = betty.client.get("/users.json")

    assert names(response) == ["ada", "betty", "carol"]
    assert response.header["pagination"] == {"count": 3, "page": 1, "limit": None}
    first = response.body[0]
    assert first["gpgkey"]["fingerprint"] == ada.key.fingerprint
    assert first["gpgkey"]["user_id"] == ada.id
    assert first["role"]["name"] == "admin"
    assert first["profile"]["first_name"] == "Ada"
    assert first["profile"]["avatar"]["url"]["small"].startswith("https://keyhaven.test/img/")
    assert (first["groups_users"], first["last_logged_in"], first["disabled"]) == ([], None, None)


def test_only_administrators_see_who_has_yet_to_set_up(ada, betty):
    """AC22"""
    waiting("dave")

    assert list_of(ada) == ["ada", "betty", "dave"]
    assert list_of(betty) == ["ada", "betty"]
    assert list_of(betty, "filter[is-active]=0") == ["ada", "betty"]


def test_suspended_users_are_listed_and_deleted_ones_are_not(ada, betty, carol, time):
    """AC22"""
    people.suspend(carol)
    people.delete(make.user("edith"))

    [shown] = [u for u in betty.client.get("/users.json").body if u["id"] == carol.id]
    assert shown["disabled"] == "2026-11-21T12:00:00+00:00"
    assert list_of(ada) == list_of(betty) == ["ada", "betty", "carol"]


def test_plain_users_see_the_same_members_as_administrators(ada, betty):
    """AC22"""
    assert ada.client.get("/users.json").body == betty.client.get("/users.json").body


def test_the_list_shows_each_user_as_their_own_page_does(ada, betty):
    join(betty, new_id(), new_id())
    people.suspend(betty)

    for shown in ada.client.get(f"/users.json?contain[{MFA}]=1").body:
        assert ada.client.get(f"/users/{shown['id']}.json").body == shown


def test_a_long_list_is_whole_and_in_order(ada):
    crowd = make.crowd(120)

    with PartialBatch(40):
        response = ada.client.get("/users.json")

    shown = [user["username"] for user in response.body]
    assert shown == sorted(who.user.username for who in (ada, *crowd))
    keys = {who.id: who.gpgkey_id for who in (ada, *crowd)}
    assert {user["id"]: user["gpgkey"]["id"] for user in response.body} == keys


def test_users_and_their_keys_are_read_in_one_step(ada, betty, carol):
    ada.client.get("/users/me.json")  # reads what verifies sessions

    with Recorder() as seen:
        ada.client.get("/users.json")

    assert seen.calls[-1].tables == ("users", "gpgkeys")
    assert seen.steps == 3


def test_the_key_of_a_user_is_the_one_their_row_names(ada, betty, carol):
    """Claims of fingerprints stay forever: they lead to keys that are nobody's any more."""
    for gpgkey_id, name in ((carol.gpgkey_id, "dave"), (new_id(), "edith")):
        Claim.fingerprint(KEYS[name].fingerprint, gpgkey_id, betty.id).save()
    change(carol.id, gpgkey_id=None)

    shown = {user["id"]: user["gpgkey"] for user in ada.client.get("/users.json").body}

    assert shown[ada.id]["id"] == ada.gpgkey_id
    assert shown[betty.id]["id"] == betty.gpgkey_id
    assert shown[carol.id] is None


def test_keys_of_deleted_users_are_not_read(ada, betty, carol):
    people.delete(carol)

    with Recorder() as seen:
        assert list_of(ada) == ["ada", "betty"]

    assert seen.calls[-1].rows == 4


def test_who_sets_up_while_the_list_is_read_has_their_key(ada, betty):
    """Betty's claim comes too late for the list, and her row does not."""
    claim = Claim.fingerprint(betty.key.fingerprint, betty.gpgkey_id, betty.id)
    claim.delete()
    ada.client.get("/users/me.json")  # reads what verifies sessions

    with Once(3, claim.save), Recorder() as seen:
        shown = ada.client.get("/users.json").body

    assert [user["gpgkey"]["id"] for user in shown] == [ada.gpgkey_id, betty.gpgkey_id]
    assert seen.steps == 4


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("BETTY@", ["betty"]),
        ("example.com", ["ada", "betty", "carol"]),
        ("carOL", ["carol"]),
        ("lOVE", ["ada", "betty"]),
        ("nobody", []),
        ("STRASSE", ["carol"]),
        *(("%25", []), ("_", []), ("a%25a", []), ("b_tty", []), (".*", []), ("\\", [])),
    ],
)
def test_the_search_finds_a_part_of_username_first_or_last_name(ada, betty, carol, search, found):
    change(carol.id, last_name="Straße")

    assert list_of(betty, f"filter[search]={search}") == found
    assert list_of(betty, f"filter[search][]={search}&filter[search][]=else") == found
    assert list_of(betty, f"keywords={search}") == found


def test_a_search_takes_signs_of_patterns_as_they_are(ada, betty):
    change(betty.id, first_name="100%_sure\\")

    for text in ("100%25", "%25_s", "E\\"):
        assert list_of(ada, f"filter[search]={text}") == ["betty"]


def test_a_search_reads_the_keys_of_whom_it_finds(ada, betty, carol):
    with Recorder() as seen:
        assert list_of(ada, "filter[search]=carol") == ["carol"]

    assert [call.rows for call in seen.calls if "gpgkeys" in call.tables] == [1]


@pytest.mark.parametrize("value", ["", "x" * 65, "%F0%9F%98%80"])
def test_a_search_is_1_to_64_plain_characters(betty, value):
    """NP11"""
    assert betty.client.get(f"/users.json?filter[search]={value}").status == 400


def test_has_groups_keeps_members_of_all_groups(ada, betty, carol):
    one, other = str(uuid4()), str(uuid4())
    join(betty, one)
    join(carol, one, other)

    assert list_of(ada, f"filter[has-groups]={one}") == ["betty", "carol"]
    assert list_of(ada, f"filter[has-groups][]={one}&filter[has-groups][]={other}") == ["carol"]
    assert list_of(ada, f"filter[has-groups]={one},{other}") == ["carol"]
    assert list_of(ada, f"filter[has-groups]={uuid4()}") == []


@pytest.mark.parametrize("value", ["1", "true"])
def test_is_admin_keeps_administrators(ada, betty, value):
    assert list_of(betty, f"filter[is-admin]={value}") == ["ada"]


def test_is_active_tells_who_has_set_up_for_administrators(ada, betty):
    waiting("dave")

    assert list_of(ada, "filter[is-active]=1") == ["ada", "betty"]
    assert list_of(ada, "filter[is-active]=0") == ["dave"]


def test_has_access_keeps_who_holds_the_resource(ada, betty, carol):
    shared = resource(**{carol.id: "User", betty.id: "User"})

    assert list_of(betty, f"filter[has-access]={shared}") == ["betty", "carol"]
    assert list_of(betty, f"filter[has-access][]={shared.upper()}") == ["betty", "carol"]
    assert list_of(betty, f"filter[has-access]={shared}&filter[search]=carol") == ["carol"]


def test_has_access_counts_who_holds_it_through_a_group(ada, betty, carol):
    group = str(uuid4())
    join(carol, group)
    shared = resource(**{betty.id: "User", group: "Group"})

    assert list_of(betty, f"filter[has-access]={shared}") == ["betty", "carol"]
    assert list_of(carol, f"filter[has-access]={shared}") == ["betty", "carol"]


def test_has_access_reads_nobody_but_the_holders(ada, betty, carol):
    shared = resource(**{betty.id: "User"})
    betty.client.get("/users/me.json")  # reads what verifies sessions

    with Recorder() as seen:
        assert list_of(betty, f"filter[has-access]={shared}&contain[gpgkey]=0") == ["betty"]

    assert "claims" not in seen.tables
    assert seen.steps == 3


@pytest.mark.parametrize("kind", ["foreign", "deleted", "unknown"])
def test_who_has_no_access_is_not_told_who_has(ada, betty, carol, kind):
    """AC27"""
    held = {(carol if kind == "foreign" else betty).id: "User"}
    wanted = new_id() if kind == "unknown" else resource(deleted=kind == "deleted", **held)

    for who in (ada, betty):
        response = who.client.get(f"/users.json?filter[has-access]={wanted}")
        assert (response.status, response.body) == (403, "")
        assert response.message == "This operation is not allowed for this user."


@pytest.mark.parametrize(
    "query",
    [
        f"filter[has-access][]={uuid4()}&filter[has-access][]={uuid4()}",
        f"filter[has-access]={uuid4()},{uuid4()}",
    ],
    ids=["a list", "with a comma"],
)
def test_has_access_takes_one_resource(betty, query):

    response = betty.client.get(f"/users.json?{query}")

    assert response.status == 400
    assert response.message == "Multiple has-access filters are not supported."


@pytest.mark.parametrize(
    "query",
    [
        *(
            f"filter[{name}]={value}"
            for name in ("is-admin", "is-active")
            for value in ("2", "yes")
        ),
        *(f"filter[{name}]=x" for name in ("has-groups", "has-access")),
        *("contain[gpgkey]=2", "contain[role]=", "contain[LastLoggedIn]=yes", "contain=x"),
        *("filter=x", "filter[0]=x", "filter[is-admin][]=1", "filter[has-groups][a][b]=1"),
        "filter[has-groups]=" + ",".join([str(uuid4())] * 1001),
        *("sort=Users.secret", "order[]=Users.username;x", "order[]=Users.username SIDEWAYS"),
        *("sort=Users.username&direction=down", "order=username", "order=Gpgkey.key_id ASC"),
        "&".join(["order[]=Users.username"] * 100),
        *("filter[search]=a%00b", "contain[a%01]=1", "api-version=1"),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused(betty, query):
    """NP11, NP20, NP21, NP22"""
    response = betty.client.get(f"/users.json?{query}")

    assert (response.status, response.body) == (400, "")


def test_unknown_options_are_passed_over(ada, betty):
    query = "filter[has-id]=x&filter[has_users]=1&contain[secret]=1&contain[groups_users.user]=1"

    assert list_of(betty, f"{query}&foo[bar]=x&filter=[]") == ["ada", "betty"]


@pytest.mark.parametrize("member", ["gpgkey", "profile", "role", "groups_users"])
def test_contain_0_leaves_a_member_out(ada, member):
    whole = ada.client.get("/users.json").body[0]

    [user] = ada.client.get(f"/users.json?contain[{member}]=0").body

    assert user == {name: value for name, value in whole.items() if name != member}
    assert ada.client.get(f"/users.json?contain[{member}]=1").body == [whole]


def test_administrators_are_told_which_metadata_keys_users_lack(ada, betty):
    waiting("dave")

    shown = ada.client.get(f"/users.json?{MISSING_KEYS}=1").body

    assert [user["missing_metadata_key_ids"] for user in shown] == [[], [], []]
    for query in ("", f"{MISSING_KEYS}=0"):
        assert "missing_metadata_key_ids" not in ada.client.get(f"/users.json?{query}").body[0]


def test_users_are_not_told_which_metadata_keys_others_lack(ada, betty):
    for path in ("/users.json", f"/users/{ada.id}.json"):
        response = betty.client.get(f"{path}?{MISSING_KEYS}=1")
        assert (response.status, response.body) == (403, "")
        assert response.message == (
            "The missing_metadata_key_ids contain is only allowed for administrators."
        )
        assert betty.client.get(f"{path}?{MISSING_KEYS}=0").status == 200
        assert betty.client.get(f"{path}?{MISSING_KEYS}=2").status == 400


def test_a_user_is_told_which_metadata_keys_they_lack(ada, betty):
    for who, user in ((betty, "me"), (betty, betty.id), (betty, betty.id.upper()), (ada, betty.id)):
        shown = who.client.get(f"/users/{user}.json?{MISSING_KEYS}=1").body
        assert (shown["id"], shown["missing_metadata_key_ids"]) == (betty.id, [])
    assert "missing_metadata_key_ids" not in betty.client.get("/users/me.json").body


def test_oneself_and_administrators_are_told_that_there_is_no_second_factor(ada, betty):
    for who, user in ((betty, "me"), (betty, betty.id), (ada, "me"), (ada, betty.id)):
        assert who.client.get(f"/users/{user}.json").body[MFA] is False
    for user in (ada.id, make.user("carol").id):
        assert MFA not in betty.client.get(f"/users/{user}.json").body


def test_a_list_tells_administrators_of_second_factors_where_they_ask(ada, betty):
    asked = f"/users.json?contain[{MFA}]"

    assert [user[MFA] for user in ada.client.get(f"{asked}=1").body] == [False, False]
    for who, path in ((ada, "/users.json"), (ada, f"{asked}=0"), (betty, f"{asked}=1")):
        assert not any(MFA in user for user in who.client.get(path).body)
    assert {who.client.get(f"{asked}=2").status for who in (ada, betty)} == {400}


@pytest.mark.parametrize("name", ["last_logged_in", "LastLoggedIn"])
def test_the_last_sign_in_is_always_shown(ada, name):
    [user] = ada.client.get(f"/users.json?contain[{name}]=0").body

    assert "last_logged_in" in user


def test_of_two_contains_the_last_decides(ada):
    """NP20"""
    [user] = ada.client.get("/users.json?contain[role]=1&contain[role]=0").body

    assert "role" not in user


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("sort=Users.username&direction=desc", ["carol", "betty", "ada"]),
        ("order=User.username DESC", ["carol", "betty", "ada"]),
        ("sort=Users.created", ["betty", "carol", "ada"]),
        ("sort[Users.modified]=desc", ["ada", "carol", "betty"]),
        ("sort=Profiles.first_name", ["carol", "betty", "ada"]),
        ("sort[Profiles.last_name]=asc&sort[Users.username]=desc", ["carol", "betty", "ada"]),
        ("sort=Users.last_logged_in", ["ada", "carol", "betty"]),
        ("order[]=Profiles.created&order[]=Users.username", ["betty", "carol", "ada"]),
        ("order[]=Profile.modified desc", ["ada", "carol", "betty"]),
    ],
)
def test_the_list_is_sorted_without_regard_to_letter_case(ada, betty, carol, time, query, order):
    start = time.now
    days = {betty: 1, carol: 2, ada: 3}
    first = {ada: "Zora", betty: "mary", carol: "Ada"}
    last = {ada: "Smith", betty: "jones", carol: "Jones"}
    for who, day in days.items():
        moment = start + timedelta(days=day)
        change(who.id, created=moment, modified=moment, first_name=first[who], last_name=last[who])
    change(betty.id, last_logged_in=start)
    change(carol.id, last_logged_in=start - timedelta(days=1))

    assert list_of(ada, query) == order


def test_the_list_is_paged_where_asked_for(ada, betty, carol):
    response = ada.client.get("/users.json?limit=2&page=2&sort=Users.username")

    assert names(response) == ["carol"]
    assert response.header["pagination"] == {"count": 3, "page": 2, "limit": 2}
    assert ada.client.get("/users.json?limit=2&page=3").status == 404
    assert ada.client.get("/users.json?page=2").status == 404
    assert names(ada.client.get("/users.json?limit=0")) == ["ada"]


def test_users_that_are_equal_stand_by_username_on_every_page(ada, betty, carol):
    pages = [list_of(ada, f"sort=Users.created&limit=1&page={n}") for n in (1, 2, 3)]

    assert pages == [["ada"], ["betty"], ["carol"]]
    assert list_of(ada, "sort[Users.created]=desc") == ["ada", "betty", "carol"]


def test_only_keys_of_the_page_are_read(ada, betty, carol):
    ada.client.get("/users/me.json")  # reads what verifies sessions

    with Recorder() as seen:
        ada.client.get("/users.json?limit=1")

    assert [call.rows for call in seen.calls if call.tables == ("gpgkeys",)] == [1]
    assert seen.steps == 4


# One user


def test_a_user_is_shown_by_identifier_in_any_letter_case(ada, betty):
    """NP02"""
    one = betty.client.get(f"/users/{ada.id}.json")

    assert one.body["username"] == "ada@example.com"
    assert one.body["gpgkey"]["armored_key"] == ada.key.public
    assert betty.client.get(f"/users/{ada.id.upper()}.json").body == one.body
    assert betty.client.get(f"/users/{ada.id}.json?contain[gpgkey]=0").body == one.body


def test_me_is_the_caller(ada, betty):
    response = betty.client.get("/users/me.json")

    assert response.body["id"] == betty.id
    assert response.body["gpgkey"]["fingerprint"] == betty.key.fingerprint
    assert any(cookie.startswith("csrfToken=") for cookie in response.set_cookies)


def test_the_caller_is_read_in_one_step_and_others_in_two(ada, betty):
    betty.client.get("/users/me.json")  # reads what verifies sessions

    with Recorder() as seen:
        betty.client.get("/users/me.json")
    assert seen.steps == 2
    with Recorder() as seen:
        betty.client.get(f"/users/{ada.id}.json")
    assert seen.steps == 3


@pytest.mark.parametrize(
    "text",
    [
        *(
            "abc",
            "ME",
            "12345678-1234-1234-1234-12345678901",
            "{}",
            "12345678123412341234123456789012",
        ),
        *(
            "urn:uuid:12345678-1234-1234-1234-123456789012",
            "12345678-1234-1234-1234-123456789012%0A",
        ),
        "%EF%BC%91%EF%BC%912345678-1234-1234-1234-1234567890",
        "a" * 100_000,
    ],
    ids=range(9),
)
def test_what_is_no_identifier_is_refused(ada, text):
    """NP01"""
    response = ada.client.get(f"/users/{text}.json")

    assert response.status == 400
    assert response.message == 'The user identifier should be a valid UUID or "me".'


def test_unknown_deleted_and_invited_users_do_not_exist_for_users(ada, betty, carol):
    """NP02, AC30"""
    people.delete(carol)
    invited = waiting("dave")

    for user in (new_id(), "00000000-0000-0000-0000-000000000000", carol.id, invited.id):
        response = betty.client.get(f"/users/{user}.json")
        assert (response.status, response.message, response.body) == (404, NO_USER, "")
    assert ada.client.get(f"/users/{carol.id}.json").status == 404
    assert ada.client.get(f"/users/{invited.id}.json").body["gpgkey"] is None


def test_the_csrf_token_is_told_and_kept(api):
    first = api.get("/users/csrf-token.json")
    [cookie] = first.set_cookies
    again = api.get("/users/csrf-token.json", cookies={"csrfToken": first.body})

    assert cookie.startswith(f"csrfToken={first.body}; path=/")
    assert again.body == first.body
    assert again.set_cookies == []


# Invitations


def test_an_administrator_invites_a_person_by_mail(ada, store, time: Time):
    response = ada.client.post("/users.json", invitation("Dave"))

    assert (response.status, response.message) == (200, ADDED)
    user = response.body
    assert (user["username"], user["active"], user["gpgkey"]) == ("Dave@example.com", False, None)
    assert (user["role"]["name"], user["profile"]["first_name"]) == ("user", "Dave")
    assert ada.client.get(f"/users/{user['id']}.json").body == {**user, MFA: False}
    [mail] = people.mails(store)
    assert (mail.recipient, mail.template) == ("Dave@example.com", "invitation")
    assert people.link_of(mail).startswith(f"https://keyhaven.test/setup/start/{user['id']}/")


def test_an_invitation_writes_user_address_link_mail_and_log(ada, store):
    before = people.counts(store)

    people.invite(store, ada)

    after = people.counts(store)
    added = {table: after[table] - before.get(table, 0) for table in after}
    assert {table for table, count in added.items() if count == 1} == {
        *("users", "claims", "tokens", "outbox", "action_logs")
    }
    assert set(added.values()) == {0, 1}


def test_a_link_is_stored_by_its_hash_alone(ada, store):
    invited = people.invite(store, ada)

    [row] = [row for row in store.rows("test-tokens") if row["kind"]["S"] == "register"]
    assert invited.token not in str(row)


@pytest.mark.parametrize(
    ("members", "role"),
    [
        ({"role_id": roles.ADMIN.id}, "admin"),
        ({"role_id": roles.ADMIN.id.upper()}, "admin"),
        ({"role_id": None}, "user"),
        ({"disabled": "2026-01-01 10:00"}, "user"),
    ],
)
def test_the_role_is_chosen_and_a_suspension_is_not_stored(ada, members, role):
    response = ada.client.post("/users.json", invitation(**members))

    assert response.body["role"]["name"] == role
    assert response.body["disabled"] is None


def test_members_an_inviter_may_not_set_are_passed_over(ada):
    """AC28, NP08"""
    foreign = {"id": new_id(), "active": True, "deleted": True, "gpgkey": {}, "created": "x"}
    odd = {"__proto__": {"role_id": roles.ADMIN.id}, "__class__": 1, "a.b": 2, "": 3, "$where": 4}

    user = ada.client.post("/users.json", invitation(**foreign, **odd)).body

    assert user["id"] != foreign["id"]
    assert (user["active"], user["deleted"], user["role"]["name"]) == (False, False, "user")


@pytest.mark.parametrize("kind", ["inactive", "active", "suspended"])
def test_an_address_belongs_to_one_user_whatever_its_letter_case(ada, betty, digest, kind):
    if kind == "suspended":
        people.suspend(betty)
    if kind == "inactive":
        waiting("dave")
    name = "DAVE" if kind == "inactive" else "bETTY"
    before = digest()

    response = ada.client.post("/users.json", invitation(name))

    assert (response.status, response.message) == (400, "Could not validate user data.")
    assert list(response.body["username"]) == ["uniqueUsername"]
    assert digest() == before


COMPOSED, DECOMPOSED = "andr\u00e9", "Andre\u0301"


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        (COMPOSED, DECOMPOSED),
        (DECOMPOSED, COMPOSED),
        ("andre", "\uff41ndre"),
        ("andre", "andre\ufe0f"),
        ("\ud55c", "\u1112\u1161\u11ab"),
    ],
    ids=["decomposed", "composed", "full width", "with what is not seen", "Hangul"],
)
def test_an_address_belongs_to_one_user_however_its_letters_are_composed(ada, digest, stored, sent):
    first = ada.client.post("/users.json", invitation(stored))
    before = digest()

    response = ada.client.post("/users.json", invitation(sent))

    assert first.body["username"] == f"{stored}@example.com"
    assert list(response.body["username"]) == ["uniqueUsername"]
    assert digest() == before


@pytest.mark.parametrize("search", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("stored", [COMPOSED, DECOMPOSED])
def test_a_search_finds_letters_however_they_are_composed(ada, betty, search, stored):
    change(betty.id, last_name=stored)

    assert list_of(ada, f"filter[search]={quote(search)}") == ["betty"]


def test_users_are_sorted_however_their_letters_are_composed(ada, betty, carol):
    change(ada.id, first_name="Ze\u0301")
    change(betty.id, first_name="Zf")
    change(carol.id, first_name="Z\u00e9")

    assert list_of(ada, "sort=Profiles.first_name") == ["betty", "ada", "carol"]


def test_the_address_of_a_deleted_user_is_free(ada, betty):
    people.delete(betty)

    assert ada.client.post("/users.json", invitation("betty")).status == 200


@pytest.mark.parametrize(
    ("role_id", "rules"),
    [
        (roles.GUEST.id, {"validRole"}),
        ("8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21", {"_existsIn", "roleIsNotSoftDeleted"}),
    ],
)
def test_a_role_is_one_a_user_may_have(ada, digest, role_id, rules):
    before = digest()

    response = ada.client.post("/users.json", invitation(role_id=role_id))

    assert response.status == 400
    assert set(response.body["role_id"]) == rules
    assert digest() == before


def test_a_taken_address_and_a_wrong_role_are_said_together(ada, betty, digest):
    before = digest()

    sent = invitation(username="Betty@example.com", role_id=roles.GUEST.id)
    response = ada.client.post("/users.json", sent)

    assert response.status == 400
    assert {field: list(response.body[field]) for field in response.body} == {
        "username": ["uniqueUsername"],
        "role_id": ["validRole"],
    }
    assert digest() == before


def test_only_administrators_invite(api, betty, digest):
    before = digest()

    refused = betty.client.post("/users.json", invitation())

    assert (refused.status, refused.message) == (403, "Only administrators can add new users.")
    assert api.post("/users.json", invitation(), **CSRF_PAIR).status == 403
    assert digest() == before


@pytest.mark.parametrize("payload", [None, [], [invitation()], "x", 5, {}, {"username": None}])
def test_an_invitation_that_is_no_object_lacks_its_members(ada, digest, payload):
    """NP06, NP25"""
    before = digest()

    response = ada.client.post("/users.json", payload)

    assert (response.status, response.message) == (400, "Could not validate user data.")
    assert set(response.body) == {"username", "profile"}
    assert digest() == before


STRANGE: list[Any] = [
    *(None, "", " ", 0, -1, 1.5, True, [], {}, [[]], [None], ["a", ["b"]], {"1": 1}, "x" * 100_000),
    *("\x00", "a\x07b"),
]
TAKEN: dict[str, list[Any]] = {
    "username": [],
    "profile": [],
    "role_id": [None],
    "disabled": [None, ""],
    "first_name": [" "],
    "last_name": [" "],
}
"""Which of them a field takes: text is not trimmed, and what is optional may be null."""


@pytest.mark.parametrize("value", STRANGE, ids=range(len(STRANGE)))
@pytest.mark.parametrize(
    "field", ["username", "role_id", "disabled", "profile", "first_name", "last_name"]
)
def test_a_strange_value_is_refused_by_the_name_of_its_field(ada, digest, field, value):
    """NP07, NP11, NP25"""
    body = invitation()
    (body["profile"] if field.endswith("_name") else body)[field] = value
    before = digest()

    response = ada.client.post("/users.json", body)

    if any(value is taken for taken in TAKEN[field]):
        assert response.status == 200
        return
    assert response.status == 400, response.json
    told = response.body["profile"] if field.endswith("_name") else response.body
    assert field in told
    assert digest() == before


@pytest.mark.parametrize("sign", ["a", "é", "漢", "e\u0301"])
def test_names_have_at_most_255_code_points(ada, sign):
    """NP09"""
    fitting = (sign * 255)[:255]
    for name, status in ((fitting, 200), (fitting + "a", 400)):
        body = invitation() | {"profile": {"first_name": name, "last_name": "x"}}
        assert ada.client.post("/users.json", body).status == status


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "'; DROP TABLE users; --", "{{7*7}}", "${x}", "a\r\nb", "=cmd()"],
)
def test_names_are_returned_as_they_came(ada, name):
    """NP12"""
    body = invitation() | {"profile": {"first_name": name, "last_name": f" {name} "}}

    profile = ada.client.post("/users.json", body).body["profile"]

    assert (profile["first_name"], profile["last_name"]) == (name, f" {name} ")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"username": "\\ud800"}',
        b'{"username": "a@example.com", "profile": {"first_name": "\\ud800", "last_name": "b"}}',
        b'{"\\ud800": 1}',
    ],
)
def test_a_lone_surrogate_is_refused(ada, digest, raw):
    """NP10"""
    before = digest()

    headers = {"content-type": "application/json"}
    assert ada.client.request("POST", "/users.json", raw=raw, headers=headers).status == 400
    assert digest() == before


def test_an_address_longer_than_a_key_of_the_directory_is_refused(ada, api):
    """NP07: a letter that stands for eighteen."""
    address = "\ufdfa" * 32 + "@example.com"

    response = ada.client.post("/users.json", invitation() | {"username": address})

    assert (response.status, list(response.body["username"])) == (400, ["email"])
    assert people.recover(api, username=address).status == 400


def test_an_address_of_255_characters_is_fine(ada):
    address = "a" * 243 + "@example.com"

    assert ada.client.post("/users.json", invitation() | {"username": address}).status == 200
    response = ada.client.post("/users.json", invitation() | {"username": "a" + address})
    assert list(response.body["username"]) == ["maxLength"]


def test_a_directory_of_many_users_is_listed_whole(ada):
    """FT07, FT08: more than a batch."""
    for number in range(120):
        row = new_user(f"user{number:03}@example.com", "Many", "Lovelace")
        row.active = True
        row.save()
        Claim.username(row.username, row.id).save()

    assert len(list_of(ada)) == 121
    assert list_of(ada, "limit=50&page=3")[-1] == "user119"


def test_a_guest_sees_nobody(api: Client, ada):
    for path in ("/users.json", "/users/me.json", f"/users/{ada.id}.json"):
        assert api.get(path).status == 403
