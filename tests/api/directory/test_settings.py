"""How a directory is asked: saved, shown, tried out and forgotten, by administrators alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.services.directory import directory_settings
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.settings import DIRECTORY_SYNC, Setting
from chalicelib.views.logs import log_events
from tests.support import storage
from tests.support.company.certificates import Authority
from tests.support.company.company import READER_PASSWORD, Company, founded
from tests.support.company.fixtures import require_slapd
from tests.support.company.settings import SETTINGS, TEST, form, saved
from tests.support.world.make import Somebody

MASK = "__PASSBOLT_OBFUSCATE_FIELDS_COMPONENT_PLACEHOLDER__"
NOBODY = "8d2f4a34-6f5a-4d6c-9d3b-0a1b2c3d4e5f"


def domain_errors(**broken: str) -> dict[str, Any]:
    return {"domains": {"domain": {name: {rule: ...} for name, rule in broken.items()}}}


def rules(errors: Any) -> Any:
    """Errors without their messages."""
    return {k: rules(v) if isinstance(v, dict) else ... for k, v in errors.items()}


def test_settings_are_shown_as_they_were_saved(ada: Somebody, company: Company) -> None:
    shown = saved(ada, company, delete_user_behavior="disable", user_path="", email_prefix=None)
    domain = {**company.domain(), "password": MASK}
    assert shown["domains"] == {"domain": domain}
    assert (shown["default_user"], shown["default_group_admin_user"]) == (ada.id, ada.id)
    assert (shown["source"], shown["enabled"]) == ("db", True)
    assert shown["delete_user_behavior"] == "disable"
    assert {name: value for name, value in shown.items() if name.startswith("sync_")} == {
        f"sync_{kind}_{job}": True
        for kind in ("users", "groups")
        for job in ("create", "update", "delete")
    }
    assert shown["field_fallbacks"] == []
    assert shown["fields_mapping"]["ad"]["user"]["enabled"] == "userAccountControl"
    assert shown["fields_mapping"]["openldap"]["group"]["users"] == "member"
    assert not {"user_path", "email_prefix"} & set(shown)


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_saving_answers_with_nothing(ada: Somebody, company: Company, method: str) -> None:
    response = ada.client.request(method, SETTINGS, json=form(ada, company))
    assert (response.status, response.body) == (200, None)


def test_there_are_none_before_and_after(ada: Somebody, company: Company) -> None:
    assert ada.client.get(SETTINGS).body == []
    assert ada.client.delete(SETTINGS).status == 200
    saved(ada, company)
    assert directory_settings.find() is not None
    response = ada.client.delete(SETTINGS)
    assert (response.status, response.body) == (200, None)
    assert ada.client.get(SETTINGS).body == []
    assert directory_settings.find() is None


@pytest.mark.parametrize(
    ("method", "path"),
    [(m, SETTINGS) for m in ("GET", "POST", "PUT", "DELETE")] + [("POST", TEST), ("PUT", TEST)],
)
def test_they_are_for_administrators(betty: Somebody, method: str, path: str) -> None:
    assert betty.client.request(method, path, json={}).status == 403


def test_the_password_rests_sealed_and_is_shown_to_nobody(
    ada: Somebody, company: Company, store: storage.Storage
) -> None:
    saved(ada, company)
    stored = str(store.rows("test-settings"))
    assert READER_PASSWORD not in stored
    assert "BEGIN PGP MESSAGE" in stored
    assert READER_PASSWORD not in str(ada.client.get(SETTINGS).json)
    settings = directory_settings.find()
    assert settings is not None
    assert settings.connections[0].password == READER_PASSWORD
    assert READER_PASSWORD not in repr(settings)


@pytest.mark.parametrize("password", [MASK, "", None, ...])
def test_a_password_that_is_not_given_stays(ada: Somebody, company: Company, password: Any) -> None:
    saved(ada, company)
    again = form(ada, company, users_parent_group="Staff")
    again["domains"]["domain"]["password"] = password
    if password is ...:
        del again["domains"]["domain"]["password"]
    assert ada.client.put(SETTINGS, json=again).status == 200
    settings = directory_settings.find()
    assert settings is not None
    assert settings.connections[0].password == READER_PASSWORD
    assert settings.people.parent_group == "Staff"


@pytest.mark.parametrize(
    ("password", "changed"),
    [(MASK, []), ("", []), (None, []), (READER_PASSWORD, [{"name": "password"}])],
)
def test_the_log_names_a_password_as_changed_where_one_is_given(
    ada: Somebody, company: Company, store: storage.Storage, password: Any, changed: Any
) -> None:
    saved(ada, company)
    again = form(ada, company)
    again["domains"]["domain"]["password"] = password
    response = ada.client.put(SETTINGS, json=again)
    assert response.status == 200

    lines = map(log_events.of_row, store.rows(ActionLog.stored_as()))
    told = {each["request_id"]: each["changes"] for each in lines if "changes" in each}
    assert told.pop(response.header["id"]) == changed
    [at_first] = told.values()
    assert {"name": "password"} in at_first


@pytest.mark.parametrize(
    "other",
    [{"hosts": ["evil.example"]}, {"hosts": ["127.0.0.1", "evil.example"]}, {"port": 1}],
)
@pytest.mark.parametrize("path", [SETTINGS, TEST])
def test_a_password_goes_to_no_other_server_than_it_was_given_for(
    ada: Somebody, company: Company, path: str, other: dict[str, Any]
) -> None:
    """Else whoever may change the settings would have it sent to a server of their own."""
    saved(ada, company)
    again = form(ada, company)
    again["domains"]["domain"] |= {"password": MASK, **other}
    response = ada.client.put(path, json=again)
    assert response.status == 400
    assert rules(response.body) == domain_errors(password="_required")


def test_a_sealed_password_opens_at_its_own_place_alone(ada: Somebody, company: Company) -> None:
    saved(ada, company)
    row = Setting.get(DIRECTORY_SYNC)
    row.value["form"]["domains"]["other"] = row.value["form"]["domains"].pop("domain")
    row.value["passwords"]["other"] = row.value["passwords"].pop("domain")
    row.save()
    again = form(ada, company)
    again["domains"] = {"other": {**company.domain(), "password": MASK}}
    assert ada.client.put(SETTINGS, json=again).status == 503


# --- Rules.


@pytest.mark.parametrize(
    ("broken", "errors"),
    [
        ({"domains": None}, {"domains": {"_required": ...}}),
        ({"domains": {}}, {"domains": {"hasAtLeast": ...}}),
        ({"domains": []}, {"domains": {"hasAtLeast": ...}}),
        ({"domains": "main"}, {"domains": {"array": ...}}),
        ({"domains": {"a.b": {}}}, {"domains": {"connection_names": ...}}),
        ({"domains": {"": {}}}, {"domains": {"connection_names": ...}}),
        ({"domains": {str(n): {} for n in range(11)}}, {"domains": {"hasAtMost": ...}}),
        ({"domains": {"main": "x"}}, {"domains": {"main": {"array": ...}}}),
        ({"default_user": None}, {"default_user": {"_empty": ...}}),
        ({"default_user": "ada"}, {"default_user": {"uuid": ..., "isValidAdmin": ...}}),
        ({"default_user": NOBODY}, {"default_user": {"isValidAdmin": ...}}),
        (
            {"default_group_admin_user": "ada"},
            {"default_group_admin_user": {"uuid": ..., "isValidUser": ...}},
        ),
        ({"user_object_class": "x" * 129}, {"user_object_class": {"maxLength": ...}}),
        ({"group_object_class": "userpassword"}, {"group_object_class": {"forbiddenField": ...}}),
        ({"user_custom_filters": "(cn=a"}, {"user_custom_filters": {"filter": ...}}),
        ({"group_custom_filters": "cn=a"}, {"group_custom_filters": {"filter": ...}}),
        (
            {"user_custom_filters": "(USERPASSWORD=*)"},
            {"user_custom_filters": {"containsForbiddenField": ...}},
        ),
        (
            {"user_custom_filters": "(userPassword=*"},
            {"user_custom_filters": {"containsForbiddenField": ..., "filter": ...}},
        ),
        (
            {"user_custom_filters": f"(cn={'a' * 10_000})"},
            {"user_custom_filters": {"maxLength": ...}},
        ),
        ({"user_path": "people"}, {"user_path": {"dn": ...}}),
        ({"sync_users_create": "perhaps"}, {"sync_users_create": {"boolean": ...}}),
        ({"enabled_users_only": 2}, {"enabled_users_only": {"boolean": ...}}),
        ({"delete_user_behavior": "keep"}, {"delete_user_behavior": {"inList": ...}}),
        ({"removal_limit": 101}, {"removal_limit": {"range": ...}}),
        ({"email_prefix": "unicodePwd"}, {"email_prefix": {"forbiddenField": ...}}),
        ({"email_prefix": "*"}, {"email_prefix": {"attribute": ...}}),
        ({"users_parent_group": "\x01"}, {"users_parent_group": {"utf8": ...}}),
        ({"fields_mapping": "x"}, {"fields_mapping": {"object": ...}}),
        (
            {"fields_mapping": {"openldap": {"group": {"id": "UserPassword", "name": ""}}}},
            {
                "fields_mapping": {
                    "openldap": {
                        "group": {
                            "id": {"forbiddenField": ...},
                            "name": {"_empty": ...},
                            "created": {"_required": ...},
                            "modified": {"_required": ...},
                            "users": {"_required": ...},
                        }
                    }
                }
            },
        ),
        (
            {"field_fallbacks": {"freeipa": {"username": "uid"}}},
            {"field_fallbacks": {"freeipa": {"invalidDirectoryType": ...}}},
        ),
        ({"field_fallbacks": {"ad": {}}}, {"field_fallbacks": {"ad": {"notEmptyArray": ...}}}),
        ({"field_fallbacks": {"ad": "uid"}}, {"field_fallbacks": {"ad": {"array": ...}}}),
        (
            {"field_fallbacks": {"ad": {"username": "unicodepwd"}}},
            {"field_fallbacks": {"ad": {"username": {"forbiddenField": ...}}}},
        ),
    ],
)
def test_each_field_has_its_rules(
    ada: Somebody, company: Company, broken: dict[str, Any], errors: dict[str, Any]
) -> None:
    response = ada.client.put(SETTINGS, json=form(ada, company, **broken))
    assert response.status == 400
    assert rules(response.body) == errors
    assert ada.client.get(SETTINGS).body == []


def test_what_is_to_be_an_object_is_called_one(ada: Somebody, company: Company) -> None:
    sent = form(ada, company, domains={"main": "x"}, field_fallbacks="x")
    errors = ada.client.put(SETTINGS, json=sent).body
    assert errors["domains"]["main"]["array"] == "The domain should be an object."
    assert errors["field_fallbacks"]["array"] == "The field fallbacks should be an object."


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ({"directory_type": "freeipa"}, "inList"),
        ({"directory_type": ""}, "_empty"),
        ({"domain_name": None}, "_empty"),
        ({"hosts": []}, "hasAtLeast"),
        ({"port": ""}, "_empty"),
        ({"port": 65536}, "range"),
        ({"port": -1}, "range"),
        ({"connection_type": "ssh"}, "inList"),
        ({"authentication_type": "none"}, "inList"),
        ({"base_dn": "example"}, "dn"),
        ({"username": "\x01"}, "utf8"),
        ({"ca_certificate": "-----BEGIN CERTIFICATE-----\n"}, "certificate"),
    ],
)
def test_each_field_of_a_domain_has_its_rules(
    ada: Somebody, company: Company, broken: dict[str, Any], rule: str
) -> None:
    sent = form(ada, company)
    sent["domains"]["domain"] |= broken
    [name] = broken
    response = ada.client.put(SETTINGS, json=sent)
    assert (response.status, rules(response.body)) == (400, domain_errors(**{name: rule}))


@pytest.mark.parametrize(
    "host",
    ["ldap://directory", "ldapi://%2ftmp", "directory:389", "a/b", "user@host", "", 5, "a b", "-a"],
)
def test_a_host_is_a_name_or_an_address(ada: Somebody, company: Company, host: Any) -> None:
    sent = form(ada, company)
    sent["domains"]["domain"]["hosts"] = [host]
    response = ada.client.put(SETTINGS, json=sent)
    assert rules(response.body) == {"domains": {"domain": {"hosts": {"0": {"host": ...}}}}}


@pytest.mark.parametrize("sent", ["localhost", None, {"0": "localhost"}])
def test_hosts_are_a_list(ada: Somebody, company: Company, sent: Any) -> None:
    body = form(ada, company)
    body["domains"]["domain"]["hosts"] = sent
    response = ada.client.put(SETTINGS, json=body)
    broken = {"array": ..., "hasAtLeast": ...}
    assert rules(response.body) == {"domains": {"domain": {"hosts": broken}}}


def test_what_is_missing_of_a_domain_is_told(ada: Somebody, company: Company) -> None:
    response = ada.client.put(SETTINGS, json=form(ada, company, domains={"domain": {}}))
    needed = ("directory_type", "domain_name", "hosts", "port")
    kinds = ("connection_type", "authentication_type")
    assert rules(response.body) == domain_errors(**dict.fromkeys((*needed, *kinds), "_required"))


@pytest.mark.parametrize("port", ["abc", "-1", 1.5])
def test_a_port_is_a_number(ada: Somebody, company: Company, port: Any) -> None:
    sent = form(ada, company)
    sent["domains"]["domain"]["port"] = port
    response = ada.client.put(SETTINGS, json=sent)
    broken = {"numeric": ..., "range": ...}
    assert rules(response.body) == {"domains": {"domain": {"port": broken}}}


def test_the_default_user_is_an_administrator_and_the_other_active(
    ada: Somebody, betty: Somebody, company: Company
) -> None:
    response = ada.client.put(SETTINGS, json=form(ada, company, default_user=betty.id))
    assert rules(response.body) == {"default_user": {"isValidAdmin": ...}}
    assert saved(ada, company, default_group_admin_user=betty.id)
    body = {"username": "dora@example.com", "profile": {"first_name": "D", "last_name": "D"}}
    invited = ada.client.post("/users.json", json=body).body["id"]
    sent = form(ada, company, default_group_admin_user=invited)
    response = ada.client.put(SETTINGS, json=sent)
    assert rules(response.body) == {"default_group_admin_user": {"isValidUser": ...}}


@pytest.mark.parametrize("path", [SETTINGS, TEST])
@pytest.mark.parametrize("enabled", [False, None, "", 0])
def test_settings_that_are_switched_off_are_not_saved(
    ada: Somebody, company: Company, path: str, enabled: Any
) -> None:
    response = ada.client.put(path, json=form(ada, company, enabled=enabled))
    assert response.status == 400
    assert response.message.endswith("directory synchronisation is switched off.")


# --- What is saved has worked.


@pytest.mark.parametrize(
    ("other", "cause"),
    [
        ({"password": "wrong"}, "refuses the name and password"),
        ({"password": None}, "A name without a password"),
        ({"port": 1}, "cannot be reached"),
        ({"hosts": ["127.0.0.1", "directory.invalid"]}, "No host is known"),
        ({"connection_type": "tls"}, "does not offer TLS"),
        ({"connection_type": "ssl"}, "does not speak TLS"),
    ],
)
@pytest.mark.parametrize(
    ("path", "failed"),
    [(SETTINGS, "The settings were not saved: "), (TEST, "The settings do not work: ")],
)
def test_settings_by_which_nobody_gets_in_are_not_saved(
    ada: Somebody,
    company: Company,
    digest: Callable[[], str],
    path: str,
    failed: str,
    other: dict[str, Any],
    cause: str,
) -> None:
    sent = form(ada, company)
    sent["domains"]["domain"] |= other
    before = digest()
    response = ada.client.put(path, json=sent)
    assert response.status == 400
    assert response.message.startswith(failed)
    assert cause in response.message
    assert READER_PASSWORD not in str(response.json)
    assert digest() == before


def test_sasl_is_refused_with_the_reason(ada: Somebody, company: Company) -> None:
    sent = form(ada, company)
    sent["domains"]["domain"]["authentication_type"] = "sasl"
    response = ada.client.put(SETTINGS, json=sent)
    assert rules(response.body) == domain_errors(authentication_type="mechanism")


@pytest.mark.parametrize("path", [SETTINGS, TEST])
def test_a_base_or_path_that_does_not_exist_is_not_saved(
    ada: Somebody, company: Company, path: str
) -> None:
    """In the reference, the next run after such a mistake would remove everybody."""
    sent = form(ada, company)
    sent["domains"]["domain"]["base_dn"] = "dc=exampel,dc=org"
    response = ada.client.put(path, json=sent)
    assert (response.status, rules(response.body)) == (400, domain_errors(base_dn="exists"))
    for name in ("user_path", "group_path"):
        response = ada.client.put(path, json=form(ada, company, **{name: "ou=peopel"}))
        assert (response.status, rules(response.body)) == (400, {name: {"exists": ...}})
    assert ada.client.get(SETTINGS).body == []


def test_a_parent_group_may_come_later_and_fails_the_trial(ada: Somebody, company: Company) -> None:
    saved(ada, company, users_parent_group="Staff")
    response = ada.client.post(TEST, json=form(ada, company, users_parent_group="Staff"))
    assert response.status == 400
    assert response.message == (
        "Reading users and groups failed: The directory has no group Staff to be the parent group."
    )


def test_a_certificate_of_ones_own_authority_is_kept(ada: Somebody) -> None:
    """Clients that do not know of the field leave it out when they save again."""
    require_slapd()
    authority = Authority()
    with founded(certificate=authority.signs()) as company:
        sent = form(ada, company)
        domain = sent["domains"]["domain"]
        domain |= {"connection_type": "ssl", "port": company.server.ldaps_port}
        assert "certificate" in ada.client.put(SETTINGS, json=sent).message
        domain["ca_certificate"] = authority.pem
        assert ada.client.put(SETTINGS, json=sent).status == 200
        domain |= {"password": MASK}
        del domain["ca_certificate"]
        assert ada.client.put(SETTINGS, json=sent).status == 200
        shown = ada.client.get(SETTINGS).body["domains"]["domain"]
        assert shown["ca_certificate"] == authority.pem


def test_of_two_who_save_at_once_the_later_one_decides_again(
    ada: Somebody, company: Company
) -> None:
    first = saved(ada, company)
    second = saved(ada, company, users_parent_group="Staff")
    assert (first.get("users_parent_group"), second["users_parent_group"]) == (None, "Staff")


# --- The trial.


def test_the_trial_shows_everybody_and_who_is_in_what(ada: Somebody, company: Company) -> None:
    anna, bob = company.person("anna"), company.person("bob")
    carol = company.person("carol", mail=None)
    inner = company.group("Inner", anna)
    outer = company.group("Outer", bob, inner)
    body = ada.client.post(TEST, json=form(ada, company)).body
    assert {entry["directory_name"] for entry in body["users"]} == {anna, bob, carol}
    [user] = [entry for entry in body["users"] if entry["directory_name"] == anna]
    assert user == {
        "type": "user",
        "id": company.id_of(anna),
        "directory_name": anna,
        "directory_created": "2026-01-05T09:30:00+00:00",
        "directory_modified": "2026-01-05T09:30:00+00:00",
        "user": {
            "username": "anna@example.org",
            "profile": {"first_name": "Anna", "last_name": "Example"},
        },
    }
    [group] = [entry for entry in body["groups"] if entry["directory_name"] == outer]
    assert group["group"] == {
        "name": "Outer",
        "members": [bob, inner],
        "groups": [inner],
        "users": [bob],
    }
    assert set(body["tree"]) == {outer, carol}
    [below] = body["tree"][outer]["group"]["groups"]
    assert below["directory_name"] == inner
    assert below["group"]["users"][anna]["user"]["username"] == "anna@example.org"
    [broken] = body["errors"]
    assert (broken["directory_name"], broken["errors"]) == (
        carol,
        {"email": ["The e-mail address is required."]},
    )
    assert ada.client.get(SETTINGS).body == []


def test_the_trial_of_an_empty_directory_has_empty_lists(ada: Somebody, company: Company) -> None:
    response = ada.client.put(TEST, json=form(ada, company))
    assert response.body == {"users": [], "groups": [], "tree": [], "errors": []}
