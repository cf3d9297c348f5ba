"""What administrators are told of the service's health, and that nobody else is."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from chalicelib.crypto import private_keys
from chalicelib.services.operator import server_key
from chalicelib.settings import settings
from chalicelib.tables.settings import SIGNING_KEYS, Setting
from infra.template.tables import our_tables
from tests.support import relays
from tests.support.faults import hooks
from tests.support.faults.hooks import ALWAYS, Failing
from tests.support.wire.client import Client, Response
from tests.support.wire.served import Served, administrator, newcomer, serving
from tests.support.world import people
from tests.support.world.make import Somebody

PATH = "/healthcheck.json"
ADMINISTRATORS_ONLY = "Access restricted to administrators."
NO_SENDER = "No address is configured that mails come from."
REQUIRED: Mapping[str, set[str]] = {
    "environment": {
        *("gnupg", "phpVersion", "nextMinPhpVersion", "pcre", "mbstring", "intl", "image"),
        *("tmpWritable", "logWritable"),
    },
    "configFile": {"app", "passbolt"},
    "core": {
        *("cache", "debugDisabled", "salt", "fullBaseUrl", "validFullBaseUrl"),
        "fullBaseUrlReachable",
    },
    "ssl": {"peerValid", "hostValid", "notSelfSigned"},
    "smtpSettings": {"isEnabled", "areEndpointsDisabled", "isInDb"},
    "gpg": {
        *("lib", "gpgHome", "gpgHomeWritable", "gpgKeyNotDefault"),
        *("gpgKey", "gpgKeyPublic", "gpgKeyPrivate"),
        *("gpgKeyPublicReadable", "gpgKeyPrivateReadable"),
        *("gpgKeyPublicBlock", "gpgKeyPrivateBlock"),
        *("gpgKeyPublicFingerprint", "gpgKeyPrivateFingerprint"),
        *("gpgKeyPublicInKeyring", "gpgKeyPublicEmail"),
        *("canEncrypt", "canDecrypt", "canSign", "canEncryptSign", "canDecryptVerify", "canVerify"),
        *("isPublicServerKeyGopengpgCompatible", "isPrivateServerKeyGopengpgCompatible"),
    },
    "application": {
        *("schema", "sslForce", "sslFullBaseUrl", "seleniumDisabled", "robotsIndexDisabled"),
        *("hostAvailabilityCheckEnabled", "jsProd", "emailNotificationEnabled"),
    },
    "database": {"supportedBackend", "connect", "defaultContent", "tablesCount"},
}
"""Booleans without which the page of the web client fails."""
OTHERS: Mapping[str, set[str]] = {
    "environment": {"info"},
    "configFile": set(),
    "core": {"info"},
    "ssl": set(),
    "smtpSettings": {"source", "errorMessage"},
    "gpg": {"info"},
    "application": {"info", "latestVersion", "registrationClosed", "configPath"},
    "database": {"info"},
}
"""Members that are no boolean."""


@pytest.fixture
def key_file() -> Iterator[Path]:
    """Where the server's key lies; what it held is put back."""
    assert settings.key_folder is not None
    path = settings.key_folder / private_keys.OPENPGP
    before = path.read_bytes()
    yield path
    path.write_bytes(before)


def found(who: Somebody) -> Any:
    response = who.client.get(PATH)
    assert response.status == 200, response.content
    return response.body


def failed(checks: Mapping[str, Any]) -> set[str]:
    """The checks of a part that are not passed."""
    return {name for name, value in checks.items() if value is False}


def assert_refused(response: Response, message: str) -> None:
    assert (response.status, response.message, response.body) == (403, message, "")


# Who is told


def test_ac23_users_are_refused(betty: Somebody, digest: Callable[[], str]) -> None:
    """AC23: of the details"""
    before = digest()

    assert_refused(betty.client.get(PATH), ADMINISTRATORS_ONLY)

    assert digest() == before


def test_who_is_not_signed_in_is_refused_like_a_user(api: Client, betty: Somebody) -> None:
    assert_refused(api.get(PATH), ADMINISTRATORS_ONLY)
    assert_refused(Client(cookies={"passbolt_session": "garbage"}).get(PATH), ADMINISTRATORS_ONLY)


def test_an_administrator_is_told_and_nothing_changes(
    ada: Somebody, digest: Callable[[], str]
) -> None:
    before = digest()

    response = ada.client.get(PATH)

    assert (response.status, response.message) == (200, "The operation was successful.")
    assert response.header["action"] == "08903e2d-1cb6-5908-8dbc-25b7a54e6bc4"
    assert digest() == before


# What is told


def test_each_part_has_the_members_that_clients_ask_for(ada: Somebody) -> None:
    body = found(ada)

    assert next(iter(body)) == "environment"
    assert body.keys() == REQUIRED.keys()
    for name, part in body.items():
        assert part.keys() == REQUIRED[name] | OTHERS[name]
        assert all(isinstance(part[check], bool) for check in REQUIRED[name]), name
    assert isinstance(body["smtpSettings"]["source"], str)
    assert isinstance(body["smtpSettings"]["errorMessage"], str)
    assert body["core"]["info"] == {"fullBaseUrl": "https://keyhaven.test"}
    assert body["environment"]["info"]["phpVersion"].startswith("Python 3.")
    own = {server_key.in_use().fingerprint: "in use"}
    assert body["gpg"]["info"] == {"gpgHome": "", "gpgKeyPrivate": "", "keys": own}
    assert body["application"]["configPath"] == ""


def test_where_all_is_well_what_is_not_set_up_is_told_alone(ada: Somebody) -> None:
    faults = {name: failed(part) for name, part in found(ada).items() if failed(part)}

    assert faults == {
        "smtpSettings": {"isEnabled", "areEndpointsDisabled", "isInDb"},
        "application": {"hostAvailabilityCheckEnabled", "emailNotificationEnabled"},
    }


def test_there_is_no_sender_of_mails(ada: Somebody) -> None:
    assert found(ada)["smtpSettings"] == {
        "isEnabled": False,
        "areEndpointsDisabled": False,
        "isInDb": False,
        "source": "env",
        "errorMessage": NO_SENDER,
    }


def test_a_mail_server_of_the_organisation_s_own_is_told_of(ada: Somebody) -> None:
    ada.client.post("/smtp/settings.json", relays.shared().form())

    assert found(ada)["smtpSettings"] == {
        "isEnabled": True,
        "areEndpointsDisabled": False,
        "isInDb": True,
        "source": "database",
        "errorMessage": False,
    }


def test_nobody_is_asked_for_a_newer_version(ada: Somebody) -> None:
    application = found(ada)["application"]

    assert application["latestVersion"] is None
    version = ada.client.get("/settings.json").body["app"]["version"]["number"]
    assert application["info"] == {"remoteVersion": None, "currentVersion": version}


def test_nothing_of_the_machine_is_told(ada: Somebody, key_file: Path) -> None:
    told = json.dumps(found(ada))

    unsaid = [
        str(key_file.parent),
        key_file.name,
        settings.table_prefix,
        settings.region,
        socket.gethostname(),
        "BEGIN PGP",
        "/home/",
        "/tmp/",
    ]
    assert [each for each in unsaid if each in told] == []


# The key


def test_a_key_that_cannot_be_read_fails_each_check_that_needs_it(
    ada: Somebody, key_file: Path
) -> None:
    key_file.unlink()

    assert failed(found(ada)["gpg"]) == REQUIRED["gpg"] - {
        *("lib", "gpgHome", "gpgHomeWritable", "gpgKeyNotDefault"),
        *("gpgKey", "gpgKeyPublic", "gpgKeyPrivate"),
    }


def test_what_lies_there_and_is_no_key_is_told_of_as_that(ada: Somebody, key_file: Path) -> None:
    key_file.write_text("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nhunter2\n")

    response = ada.client.get(PATH)

    gpg = response.body["gpg"]
    assert gpg["gpgKeyPrivateReadable"]
    assert not gpg["gpgKeyPrivateBlock"]
    assert not gpg["canDecrypt"]
    assert b"hunter2" not in response.content


# The storage


@pytest.mark.parametrize("fault", [hooks.unreachable, hooks.throttled, hooks.internal_error])
def test_a_storage_that_stops_answering_is_told_of(ada: Somebody, fault: hooks.Fault) -> None:
    """The caller is known by then."""
    found(ada)  # what a process reads once and keeps
    with Failing(fault, at=1, times=ALWAYS):
        database = found(ada)["database"]

    assert failed(database) == {"connect", "defaultContent", "tablesCount"}


def test_a_storage_without_the_tenants_own_keys_is_told_of(ada: Somebody) -> None:
    assert found(ada)["database"]["defaultContent"]
    Setting(SIGNING_KEYS).delete()

    assert failed(found(ada)["database"]) == {"defaultContent"}


def test_all_tables_are_counted_also_those_the_function_does_not_use(ada: Somebody) -> None:
    assert found(ada)["database"]["info"] == {"tablesCount": len(our_tables())}
    assert len(our_tables()) > len({"users", "tokens", "settings", "operations"})


# Self-registration


def test_it_tells_whether_people_may_register(ada: Somebody) -> None:
    closed = found(ada)["application"]["registrationClosed"]
    people.let_in(ada, "example.com")
    opened = found(ada)["application"]["registrationClosed"]

    assert closed == {
        "isSelfRegistrationPluginEnabled": True,
        "selfRegistrationProvider": None,
        "isRegistrationPublicRemovedFromPassbolt": True,
    }
    assert opened == {**closed, "selfRegistrationProvider": "email_domains"}


# Other configurations


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service of deployed clients without https, whose mails have a sender."""
    folder = tmp_path_factory.mktemp("plain")
    sender = "keyhaven@example.com"
    with serving(folder, dialect="clients", MAIL_SENDER=sender) as service:
        yield service


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that keeps its health to itself."""
    folder = tmp_path_factory.mktemp("silent")
    with serving(folder, dialect="specification", HEALTHCHECK="off") as service:
        yield service


def test_deployed_clients_get_the_same_refusal(plain: Served) -> None:
    """403 and no 401: to sign in does not help who is no administrator."""
    response = requests.get(plain.url + PATH, timeout=10)

    assert response.status_code == 403
    assert response.json()["header"]["message"] == ADMINISTRATORS_ONLY


def test_an_address_without_https_is_told_of(plain: Served) -> None:
    body = administrator(plain).visitor.body("GET", PATH)

    assert failed(body["ssl"]) == REQUIRED["ssl"]
    assert body["ssl"]["info"] == "The address of the service does not begin with https."
    assert {"sslForce", "sslFullBaseUrl"} <= failed(body["application"])
    assert body["core"]["validFullBaseUrl"] is True


def test_a_sender_of_mails_is_told_of_without_their_address(plain: Served) -> None:
    body = administrator(plain).visitor.body("GET", PATH)

    assert (body["smtpSettings"]["isEnabled"], body["smtpSettings"]["errorMessage"]) == (
        True,
        False,
    )
    assert body["application"]["emailNotificationEnabled"]
    assert "keyhaven@example.com" not in json.dumps(body)


def test_it_can_be_switched_off(silent: Served) -> None:
    ada = administrator(silent)
    betty = newcomer(silent, ada, "betty")

    refused = {who.name: who.visitor.get(PATH) for who in (ada, betty)}

    assert {each.status_code for each in refused.values()} == {403}
    assert {name: each.json()["header"]["message"] for name, each in refused.items()} == {
        "ada": "Healthcheck security index endpoint disabled.",
        "betty": ADMINISTRATORS_ONLY,
    }
    assert refused["ada"].json()["body"] == ""
    plugins = ada.visitor.body("GET", "/settings.json")["passbolt"]["plugins"]
    assert plugins["healthcheck"] == {"enabled": False}
