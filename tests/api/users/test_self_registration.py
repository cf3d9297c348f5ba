"""Self-registration: who may, who tries, who does, and what a recovery then tells."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.users import roles
from chalicelib.tables.settings import SELF_REGISTRATION, Setting
from tests.conftest import START, Time
from tests.support.faults.hooks import Recorder
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import make, people
from tests.support.world.keys import KEYS
from tests.support.world.make import Somebody
from tests.support.world.people import change, let_in, recover, register

SETTINGS = "/self-registration/settings.json"
DRY_RUN = "/self-registration/dry-run.json"
INVALID_SETTINGS = "Could not validate the self registration settings."
INVALID_ADDRESS = "The self registration data could not be validated."
INVALID_USER = "Could not validate user data."
REGISTERED = "The email is already registered."
CLOSED = "Registration is not opened to public. Please contact your administrator."
UNKNOWN = (
    "This user does not exist or has been deleted. Please register and complete the setup first."
)
ODD = (None, "", " ", 0, -1, 1.5, True, [], {}, [[]], "x" * 102_400, "\x00", "\ud800")

pytestmark = pytest.mark.usefixtures("time")


def domains(*names: Any) -> dict[str, Any]:
    return {"provider": "email_domains", "data": {"allowed_domains": list(names)}}


def try_out(client: Client, body: Any) -> Response:
    return client.post(DRY_RUN, body, **CSRF_PAIR)


def rules(errors: Any) -> Any:
    """What is wrong, by field, without the words."""
    if not isinstance(next(iter(errors.values())), dict):
        return set(errors)
    return {name: rules(below) for name, below in errors.items()}


def answer(response: Response) -> tuple[int, str, Any]:
    return response.status, response.message, response.body


# Settings


def test_nobody_may_register_until_somebody_says_so(ada):
    response = ada.client.get(SETTINGS)

    assert (response.status, response.body) == (200, {"provider": None, "data": None})


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_an_administrator_names_domains(ada, method):
    response = ada.client.request(method, SETTINGS, json=domains("Example.com", "keyhaven.test"))

    assert response.status == 200
    setting_id = response.body["id"]
    assert response.body == {
        "id": setting_id,
        "provider": "email_domains",
        "data": {"allowed_domains": ["example.com", "keyhaven.test"]},
        "created": "2026-11-21T12:00:00+00:00",
        "modified": "2026-11-21T12:00:00+00:00",
        "created_by": ada.id,
        "modified_by": ada.id,
    }
    assert ada.client.get(SETTINGS).body == response.body


def test_there_is_one_row_which_is_replaced(ada, store, time: Time):
    carol = make.user("carol", admin=True)
    first = ada.client.put(SETTINGS, domains("example.com")).body
    before = people.counts(store)["settings"]
    time.pass_by(hours=1)
    carol.client.token = make.access_token(carol.user)

    second = carol.client.post(SETTINGS, domains("example.org")).body

    assert second == first | {
        "data": {"allowed_domains": ["example.org"]},
        "modified": "2026-11-21T13:00:00+00:00",
        "modified_by": carol.id,
    }
    assert people.counts(store)["settings"] == before


def test_an_administrator_lets_nobody_register_any_more(ada, api):
    setting_id = let_in(ada)

    response = ada.client.delete(f"/self-registration/settings/{setting_id}.json")

    assert (response.status, response.body) == (200, None)
    assert ada.client.get(SETTINGS).body == {"provider": None, "data": None}
    assert answer(register(api)) == (404, CLOSED, "")
    gone = ada.client.delete(f"/self-registration/settings/{setting_id}.json")
    assert answer(gone) == (404, "The self registration setting does not exist.", "")


@pytest.mark.parametrize("is_open", [True, False])
def test_only_the_setting_there_is_can_be_deleted(ada, digest, is_open):
    if is_open:
        let_in(ada)
    before = digest()

    unknown = ada.client.delete(f"/self-registration/settings/{new_id()}.json")
    malformed = ada.client.delete("/self-registration/settings/x.json")

    assert answer(unknown) == (404, "The self registration setting does not exist.", "")
    assert answer(malformed) == (
        *(400, "The self registration setting id should be a valid UUID."),
        "",
    )
    assert digest() == before


@pytest.mark.parametrize(
    ("sent", "broken"),
    [
        ({}, {"provider": {"_empty"}, "data": {"_empty"}}),
        (None, {"provider": {"_empty"}, "data": {"_empty"}}),
        (domains("example.com") | {"provider": None}, {"provider": {"_empty"}}),
        (domains("example.com") | {"provider": ""}, {"provider": {"_empty"}}),
        (domains("example.com") | {"provider": "ldap"}, {"provider": {"inList"}}),
        (domains("example.com") | {"provider": 5}, {"provider": {"inList"}}),
        (domains("example.com") | {"data": None}, {"data": {"_empty"}}),
        (domains("example.com") | {"data": []}, {"data": {"_empty"}}),
        (domains("example.com") | {"data": {}}, {"data": {"_empty"}}),
        (domains("example.com") | {"data": {"x": 1}}, {"data": {"allowed_domains": {"_empty"}}}),
        (domains(), {"data": {"allowed_domains": {"_empty"}}}),
    ],
)
def test_settings_name_a_provider_and_domains(ada, digest, sent, broken):
    """NP06"""
    before = digest()

    response = ada.client.put(SETTINGS, sent)

    assert (response.status, response.message) == (400, INVALID_SETTINGS)
    assert rules(response.body) == broken
    assert digest() == before


@pytest.mark.parametrize(
    "names",
    [
        ["com"],
        ["example.com", "localhost"],
        ["@example.com"],
        ["ada@example.com"],
        ["*.example.com"],
        [".example.com"],
        ["example..com"],
        ["example.com."],
        ["-example.com"],
        ["exa mple.com"],
        ["exam_ple.com"],
        ["127.0.0.1"],
        ["example.c"],
        ["example.com\n"],
        ["a" * 64 + ".com"],
        ["a.b" * 100 + ".com"],
        ["example.com", "EXAMPLE.com"],
        ["m\u00fcller.example", "mu\u0308ller.example"],
        [""],
        [None],
        [5],
        [["example.com"]],
        [{}],
    ],
)
def test_domains_are_what_stands_behind_the_sign_of_an_address(ada, digest, names):
    """NP07"""
    before = digest()

    response = ada.client.post(SETTINGS, domains(*names))

    assert (response.status, response.message) == (400, INVALID_SETTINGS)
    assert rules(response.body) == {"data": {"allowed_domains": {"areEmailDomainsValid"}}}
    assert digest() == before


def test_there_are_at_most_a_hundred_domains(ada):
    names = [f"{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]}.example.com" for n in range(100)]

    response = ada.client.put(SETTINGS, domains(*names, "example.com"))

    assert rules(response.body) == {"data": {"allowed_domains": {"hasAtMost"}}}
    assert ada.client.put(SETTINGS, domains(*names)).body["data"]["allowed_domains"] == names


@pytest.mark.parametrize("value", [each for each in ODD if each not in (None, "", [])])
def test_what_is_no_list_of_domains_is_refused(ada, digest, value):
    """NP07, NP10, NP11"""
    before = digest()

    for sent in (
        domains("example.com") | {"provider": value},
        domains("example.com") | {"data": value},
        {"provider": "email_domains", "data": {"allowed_domains": value}},
    ):
        assert ada.client.put(SETTINGS, sent).status == 400
    assert digest() == before


def test_other_members_are_passed_over(ada):
    """NP08"""
    sent = domains("example.com") | {"id": new_id(), "created_by": "x", "__proto__": {}}

    response = ada.client.put(SETTINGS, sent)

    assert response.status == 200
    assert (response.body["created_by"], response.body["id"]) != ("x", sent["id"])


def test_all_administrators_are_told_of_new_settings_by_one_mail(ada, store):
    setting_id = let_in(ada, "example.com", "example.org")
    ada.client.delete(f"/self-registration/settings/{setting_id}.json")

    told = [(mail.recipient, mail.template, mail.params["domains"]) for mail in people.mails(store)]
    assert sorted(told) == [
        ("administrators", "self-registration", ""),
        ("administrators", "self-registration", "example.com, example.org"),
    ]


def test_settings_are_for_administrators(betty, ada, digest):
    """AC01"""
    setting_id = let_in(ada)
    before = digest()

    for response in (
        betty.client.get(SETTINGS),
        betty.client.post(SETTINGS, {}),
        betty.client.put(SETTINGS, domains("example.org")),
        betty.client.delete(f"/self-registration/settings/{setting_id}.json"),
    ):
        assert answer(response) == (403, "Access restricted to administrators.", "")
    assert digest() == before


# Trying out


@pytest.mark.parametrize("address", ["dave@example.com", "DAVE@Example.COM"])
def test_an_address_of_an_allowed_domain_may_register(api, ada, digest, address):
    let_in(ada)
    before = digest()

    response = try_out(api, {"email": address})

    assert (response.status, response.body) == (200, None)
    assert digest() == before


def test_who_is_signed_in_does_not_try_out(ada):
    response = try_out(ada.client, {"email": "dave@example.com"})

    assert answer(response) == (403, "Access restricted to unauthenticated users.", "")


def test_nothing_is_tried_out_while_nobody_may_register(api, ada):
    response = try_out(api, {"email": "ada"})

    assert answer(response) == (403, "The self registration is disabled.", "")


@pytest.mark.parametrize(
    ("sent", "rule"),
    [
        (None, "_required"),
        ([], "_required"),
        ({}, "_required"),
        ({"email": None}, "_empty"),
        ({"email": ""}, "_empty"),
        ({"email": "dave"}, "email"),
        ({"email": "dave@example.com "}, "email"),
        ({"email": 5}, "email"),
        ({"email": ["dave@example.com"]}, "email"),
        ({"email": "dave@example.org"}, "checkEmailDomainIsAllowed"),
        ({"email": "dave@sub.example.com"}, "checkEmailDomainIsAllowed"),
        ({"email": "dave@notexample.com"}, "checkEmailDomainIsAllowed"),
        ({"email": "dave@example.com.org"}, "checkEmailDomainIsAllowed"),
        ({"email": "dave@\uff45xample.com"}, "checkEmailDomainIsAllowed"),
    ],
)
def test_an_address_to_try_out_is_one_of_an_allowed_domain(api, ada, digest, sent, rule):
    """NP06, NP07"""
    let_in(ada)
    before = digest()

    response = try_out(api, sent)

    assert (response.status, response.message) == (400, INVALID_ADDRESS)
    assert rules(response.body) == {"email": {rule}}
    assert digest() == before


def test_domains_that_only_fold_to_the_same_are_different_ones(api, ada):
    let_in(ada, "strasse.de")

    response = try_out(api, {"email": "dave@straße.de"})

    assert rules(response.body) == {"email": {"checkEmailDomainIsAllowed"}}


@pytest.mark.parametrize("name", ["betty", "BETTY", "carol", "dave"])
def test_an_address_of_a_user_is_registered(api, ada, betty, carol, name, digest):
    """A user of any state: active, suspended, or yet to set up."""
    people.suspend(carol)
    people.waiting("dave")
    let_in(ada)
    before = digest()

    assert answer(try_out(api, {"email": f"{name}@example.com"})) == (403, REGISTERED, "")
    assert answer(register(api, name)) == (403, REGISTERED, "")
    assert digest() == before


def test_an_address_is_registered_however_its_letters_are_composed(api, ada, digest):
    let_in(ada)
    register(api, "andr\u00e9")
    before = digest()

    assert answer(try_out(api, {"email": "Andre\u0301@example.com"})) == (403, REGISTERED, "")
    assert answer(register(api, "Andre\u0301")) == (403, REGISTERED, "")
    assert digest() == before


@pytest.mark.parametrize("named", ["m\u00fcller.example", "Mu\u0308ller.example"])
@pytest.mark.parametrize("asked", ["m\u00fcller.example", "MU\u0308LLER.example"])
def test_a_domain_lets_in_however_its_letters_are_composed(api, ada, named, asked):
    let_in(ada, named)

    assert try_out(api, {"email": f"dave@{asked}"}).status == 200


def test_a_domain_that_is_stored_in_decomposed_letters_lets_in(api, ada):
    """As it was before there was one form."""
    let_in(ada)
    row = Setting.get(SELF_REGISTRATION)
    row.value = {**row.value, "allowed_domains": ["mu\u0308ller.example"]}
    row.save()

    assert try_out(api, {"email": "dave@m\u00fcller.example"}).status == 200


def test_the_address_of_a_deleted_user_is_free(api, ada, betty):
    let_in(ada)
    people.delete(betty)

    assert try_out(api, {"email": "betty@example.com"}).status == 200
    assert register(api, "betty").status == 200


def test_users_of_other_domains_are_not_told_of(api, ada, betty):
    """AU39"""
    let_in(ada, "example.org")

    known = try_out(api, {"email": "betty@example.com"})
    unknown = try_out(api, {"email": "nobody@example.com"})
    assert answer(known) == answer(unknown)
    assert answer(register(api, "betty")) == answer(register(api, "nobody"))


# Registering


def test_a_person_registers_and_sets_up(api, ada, store):
    let_in(ada)

    response = register(api, "Dave")

    assert response.status == 200
    body = response.body
    moment = "2026-11-21T12:00:00+00:00"
    assert body == {
        "username": "Dave@example.com",
        "profile": {
            "first_name": "Dave",
            "last_name": "Lovelace",
            "user_id": body["id"],
            "created": moment,
            "modified": moment,
            "id": body["profile"]["id"],
        },
        "role_id": roles.USER.id,
        "deleted": False,
        "created": moment,
        "modified": moment,
        "id": body["id"],
    }
    assert set_up(api, store, body["id"]).status == 200
    dave = Client(make.access_token(people.stored(body["id"])))
    assert dave.get("/users/me.json").body["role"]["name"] == "user"


def set_up(api: Client, store: Any, user_id: str) -> Response:
    [mail] = [mail for mail in people.mails(store) if mail.template == "registration"]
    assert mail.recipient == "Dave@example.com"
    assert people.link_of(mail).startswith(f"https://keyhaven.test/setup/start/{user_id}/")
    proof = {
        "authentication_token": {"token": people.token_of(mail)},
        "gpgkey": {"armored_key": KEYS["dave"].public},
    }
    return api.post(f"/setup/complete/{user_id}.json", proof)


def test_all_administrators_are_told_by_one_mail(api, ada, store):
    let_in(ada)

    user_id = register(api).body["id"]

    [mail] = [mail for mail in people.mails(store) if mail.template == "registered"]
    assert (mail.recipient, mail.params["first_name"]) == ("administrators", "Dave")
    assert people.link_of(mail) == f"https://keyhaven.test/app/users/view/{user_id}"


@pytest.mark.parametrize(
    "members",
    [
        {"role_id": roles.ADMIN.id, "role": {"name": "admin"}},
        {"role_id": "admin"},
        {"id": "8a3f8f6e-6c0b-4f57-9d5a-3f9f1e0a7c21", "active": True, "deleted": True},
        {"disabled": "2026-01-01 00:00:00", "gpgkey": {}, "groups_users": [{}], "locale": "x"},
        {"__class__": "x", "a.b": 1, "": None},
    ],
)
def test_who_registers_is_a_user_whatever_they_send(api, ada, members):
    """NP08"""
    let_in(ada)

    response = register(api, **members)

    assert response.status == 200
    row = people.stored(response.body["id"])
    assert (row.role_id, row.active, row.deleted) == (roles.USER.id, False, False)
    assert (row.disabled, row.gpgkey_id, row.locale, dict(row.groups)) == (None, None, None, {})
    assert row.id != members.get("id")


def test_a_registration_is_told_of_in_the_log_of_the_user_by_nobody(api, ada, store):
    let_in(ada)

    user_id = register(api).body["id"]

    [log] = [row for row in store.rows("test-action_logs") if row["subject"]["S"] == user_id]
    assert log["action"]["S"] == "Users.created"
    assert "actor" not in log


@pytest.mark.parametrize("who", ["guest", "user", "administrator"])
def test_while_nobody_may_register_all_are_told_so(api, ada, betty, digest, who):
    client = {"guest": api, "user": betty.client, "administrator": ada.client}[who]
    before = digest()

    for body in (people.invitation(), {}, None, people.invitation("betty")):
        response = client.post("/users/register.json", body, **CSRF_PAIR)
        assert answer(response) == (404, CLOSED, "")
    assert digest() == before


def test_who_is_signed_in_does_not_register(ada, betty, digest):
    let_in(ada)
    before = digest()

    for who in (ada, betty):
        response = who.client.post("/users/register.json", {})
        assert answer(response) == (403, "Only guests are allowed to register.", "")
    assert digest() == before


@pytest.mark.parametrize(
    ("username", "rule"),
    [
        (None, "_empty"),
        ("", "_empty"),
        ("dave", "email"),
        (" dave@example.com", "email"),
        (5, "email"),
        (True, "email"),
        ([], "email"),
        ({}, "email"),
        ("a\x00@example.com", "email"),
        ("x" * 9999, "email"),
        ("dave@example.org", "checkEmailDomainIsAllowed"),
        ("dave@example.org@example.com", "email"),
    ],
)
def test_a_registration_begins_with_the_address(api, ada, digest, username, rule):
    """NP07, NP11"""
    let_in(ada)
    before = digest()

    response = api.post("/users/register.json", {"username": username}, **CSRF_PAIR)

    assert (response.status, response.message) == (400, INVALID_ADDRESS)
    assert rules(response.body) == {"email": {rule}}
    assert digest() == before


@pytest.mark.parametrize("payload", [None, [], "x", 5, {}])
def test_a_registration_that_is_no_object_has_no_address(api, ada, payload):
    """NP06"""
    let_in(ada)

    response = api.post("/users/register.json", payload, **CSRF_PAIR)

    assert rules(response.body) == {"email": {"_empty"}}


@pytest.mark.parametrize(
    ("profile", "broken"),
    [
        (None, {"_empty"}),
        ("", {"_empty"}),
        ("Dave", {"_required"}),
        ({}, {"first_name": {"_required"}, "last_name": {"_required"}}),
        (
            {"first_name": "", "last_name": "😀"},
            {"first_name": {"_empty"}, "last_name": {"utf8"}},
        ),
        (
            {"first_name": "x" * 256, "last_name": 5},
            {"first_name": {"maxLength"}, "last_name": {"utf8"}},
        ),
    ],
)
def test_then_come_the_rules_of_users(api, ada, digest, profile, broken):
    """NP07"""
    let_in(ada)
    before = digest()

    response = register(api, profile=profile)

    assert (response.status, response.message) == (400, INVALID_USER)
    assert rules(response.body) == {"profile": broken}
    assert digest() == before


def test_an_address_may_be_valid_and_too_long(api, ada):
    """NP09"""
    let_in(ada)

    assert register(api, "d" * (255 - len("@example.com"))).status == 200
    response = register(api, "d" * (256 - len("@example.com")))

    assert (response.status, response.message) == (400, INVALID_USER)
    assert rules(response.body) == {"username": {"maxLength"}}


def test_who_is_registered_is_so_before_their_names_are_looked_at(api, ada, betty):
    let_in(ada)

    assert answer(register(api, "betty", profile=None)) == (403, REGISTERED, "")


@pytest.mark.parametrize("name", ["<script>", "{{7*7}}", "=cmd()", "a\r\nBcc: eve@example.com"])
def test_a_name_is_stored_as_it_is(api, ada, name):
    """NP12"""
    let_in(ada)

    response = register(api, profile={"first_name": name, "last_name": name})

    assert response.body["profile"]["first_name"] == name
    assert people.stored(response.body["id"]).first_name == name


def test_a_guest_needs_the_csrf_pair(api, ada, digest):
    """HD03"""
    let_in(ada)
    before = digest()

    assert api.post("/users/register.json", people.invitation()).status == 403
    assert api.post(DRY_RUN, {"email": "dave@example.com"}).status == 403
    assert digest() == before


def test_an_address_that_is_too_long_for_a_user_may_not_register(api, ada):
    let_in(ada)
    assert try_out(api, {"email": "a" * 243 + "@example.com"}).status == 200

    tried = try_out(api, {"email": "a" * 244 + "@example.com"})
    registered = register(api, "a" * 244)

    assert rules(tried.body) == {"email": {"maxLength"}}
    assert rules(registered.body) == {"username": {"maxLength"}}


def test_what_a_registration_costs_does_not_depend_on_who_administers(api, ada):
    let_in(ada)
    register(api, "warm")
    with Recorder() as alone:
        register(api, "dave")
    make.user("carol", admin=True)
    make.crowd(5)
    with Recorder() as among_others:
        register(api, "edith")

    assert among_others.operations == alone.operations
    assert among_others.rows_read == alone.rows_read
    assert among_others.rows_written == alone.rows_written


# Recovering, where people of the domain may register


@pytest.fixture
def open_to_all(ada: Somebody) -> Somebody:
    let_in(ada)
    return ada


@pytest.mark.usefixtures("open_to_all")
def test_a_recovery_tells_who_may_register_to_do_so(api, betty, digest):
    people.delete(betty)
    before = digest()

    for name in ("nobody", "betty"):
        assert answer(recover(api, username=f"{name}@EXAMPLE.com")) == (404, UNKNOWN, "")
    assert digest() == before


@pytest.mark.usefixtures("open_to_all")
def test_a_recovery_tells_who_is_suspended_that_they_are_registered(api, betty, digest):
    people.suspend(betty)
    people.waiting("dave")
    change(people.waiting("edith").id, disabled=START)
    before = digest()

    for name in ("betty", "edith"):
        assert answer(recover(api, username=f"{name}@example.com")) == (403, REGISTERED, "")
    assert digest() == before


def test_a_recovery_sends_others_their_link_all_the_same(api, open_to_all, betty, store):
    people.waiting("dave")
    before = len(people.mails(store))

    for name in ("betty", "dave"):
        assert recover(api, username=f"{name}@example.com").status == 200
    assert recover(open_to_all.client, username="betty@example.com").status == 200
    assert len(people.mails(store)) == before + 3


def test_a_recovery_hides_who_there_is_in_other_domains(api, ada, betty, carol, store):
    """AU39: the same answer, calls and rows, where the domain may not register."""
    let_in(ada, "example.org", "sub.example.com")
    people.suspend(carol)
    recover(api, username="warm@example.com")
    told = []
    for name in ("betty", "carol", "nobody"):
        with Recorder() as seen:
            response = recover(api, username=f"{name}@example.com")
        told.append((answer(response), seen.operations, seen.rows_written))

    assert all(each == told[0] for each in told)
    assert told[0][0][0] == 200
