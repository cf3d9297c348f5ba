"""The setup: a person follows the link of their invitation and stores their key."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pysequoia
import pytest

from chalicelib.domain.ids import new_id
from chalicelib.storage import reading
from chalicelib.tables.users.gpgkeys import Gpgkey
from tests.conftest import START, Time
from tests.support.faults.meanwhile import Meanwhile
from tests.support.races.scheduler import races
from tests.support.storage import Storage
from tests.support.wire import handshake
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import make, people
from tests.support.world.items.metadata import KEYS as METADATA_KEYS
from tests.support.world.items.metadata import body_of, pair, shared
from tests.support.world.keys import KEYS
from tests.support.world.people import Invited, change, stored

DONE = "The setup was completed successfully."
NO_SETUP = "The user does not exist or is already active or is disabled."
NOT_WAITING = "The user does not exist, is already active or has been deleted."
BAD_TOKEN = "The authentication token is not valid."
KEY = KEYS["dave"]

pytestmark = pytest.mark.usefixtures("time")


@pytest.fixture
def dave(store: Storage, ada: make.Somebody) -> Invited:
    return people.invite(store, ada)


def start(client: Client, user: str, token: str) -> Response:
    return client.get(f"/setup/start/{user}/{token}.json")


def complete(client: Client, who: Invited, **members: Any) -> Response:
    """Complete the setup, with other members than the right ones where they are given."""
    return client.post(f"/setup/complete/{who.id}.json", proof(who) | members)


def proof(who: Invited, key: Any = KEY.public) -> dict[str, Any]:
    return {"authentication_token": {"token": who.token}, "gpgkey": {"armored_key": key}}


def refused(response: Response, message: str, body: Any = "") -> bool:
    return (response.status, response.message, response.body) == (400, message, body)


# The start


@pytest.mark.parametrize("word", ["start", "install"])
def test_an_invited_person_is_told_who_they_are(api, dave, digest, word):
    before = digest()

    response = api.get(f"/setup/{word}/{dave.id}/{dave.token}.json")

    assert response.status == 200
    user = response.body["user"]
    assert (user["id"], user["username"], user["active"]) == (dave.id, "dave@example.com", False)
    assert (user["role"]["name"], user["locale"]) == ("user", "en-UK")
    assert "medium" in user["profile"]["avatar"]["url"]
    assert "gpgkey" not in user
    assert digest() == before


def test_an_invited_person_is_addressed_in_the_language_of_the_organisation(api, ada, dave):
    assert ada.client.post("/locale/settings.json", {"value": "fr-FR"}).status == 200

    assert start(api, dave.id, dave.token).body["user"]["locale"] == "fr-FR"


def test_identifiers_of_a_link_may_be_in_capitals(api, dave):
    """NP02"""
    assert start(api, dave.id.upper(), dave.token.upper()).status == 200


@pytest.mark.parametrize("text", ["abc", "{}", "0" * 36, "12345678-1234-1234-1234-123456789012%0A"])
def test_a_link_is_made_of_two_identifiers(api, dave, text):
    """NP01"""
    assert refused(start(api, text, "x"), "The user identifier should be a valid UUID.")
    assert refused(start(api, dave.id, text), "The token should be a valid UUID.")


def test_who_is_signed_in_does_not_set_up(ada, dave):
    for word in ("start", dave.id):
        response = ada.client.get(f"/setup/start/{word}/{dave.token}.json")
        assert (response.status, response.message) == (
            403,
            "Only guests are allowed to start setup.",
        )
    response = complete(ada.client, dave)
    assert (response.status, response.message) == (
        403,
        "Only guests are allowed to complete setup.",
    )


def test_the_page_of_the_link_is_not_this_endpoint(api, dave):
    page = api.get(f"/setup/start/{dave.id}/{dave.token}")
    assert page.headers["content-type"].startswith("text/html")
    assert b"dave" not in page.content


@pytest.mark.parametrize("what", ["unknown", "active", "deleted", "suspended"])
def test_only_who_is_invited_sets_up(api, dave, digest, time: Time, what):
    if what == "active":
        change(dave.id, active=True)
    elif what == "deleted":
        people.delete(dave)
    elif what == "suspended":
        people.suspend(dave)
    who = Invited(new_id(), dave.token) if what == "unknown" else dave
    before = digest()

    assert refused(start(api, who.id, who.token), NO_SETUP)
    assert refused(complete(api, who), NOT_WAITING)
    assert digest() == before


def test_a_suspension_that_lies_ahead_does_not_hinder(api, dave, time: Time):
    change(dave.id, disabled=datetime(2030, 1, 1, tzinfo=UTC))

    assert start(api, dave.id, dave.token).status == 200
    assert complete(api, dave).status == 200


def test_a_link_is_somebodys_and_for_one_purpose(api, ada, store, dave, digest, time: Time):
    edith = people.invite(store, ada, "edith")
    time.pass_by(minutes=1)
    people.recover(api, username="ada@example.com")
    recovery = people.token_of(people.mails(store)[-1])
    before = digest()

    for token in (new_id(), edith.token, recovery):
        assert refused(start(api, dave.id, token), BAD_TOKEN)
        assert refused(complete(api, Invited(dave.id, token)), BAD_TOKEN)
    assert digest() == before


def test_a_link_ends_after_ten_days(api, dave, time: Time):
    """FT18"""
    time.pass_by(days=10, seconds=-1)
    assert start(api, dave.id, dave.token).status == 200
    time.pass_by(seconds=1)

    response = start(api, dave.id, dave.token)

    assert (response.status, response.message) == (400, BAD_TOKEN)
    assert list(response.body["token"]) == ["expired"]
    assert refused(complete(api, dave), BAD_TOKEN)


def test_a_link_that_was_used_says_so(api, dave):
    complete(api, dave)
    change(dave.id, active=False)

    response = start(api, dave.id, dave.token)

    assert (response.status, response.message) == (400, BAD_TOKEN)
    assert list(response.body["token"]) == ["isActive"]
    assert refused(complete(api, dave), BAD_TOKEN)


# The end


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(
    "path", ["/setup/complete/{}.json", "/setup/complete/{}", "/users/validateAccount/{}.json"]
)
def test_a_key_is_stored_and_its_owner_may_sign_in(api, ada, dave, method, path):
    headers = {"accept": "application/json"}

    response = api.request(method, path.format(dave.id), json=proof(dave), headers=headers)

    assert (response.status, response.message, response.body) == (200, DONE, None)
    user = ada.client.get(f"/users/{dave.id}.json").body
    assert (user["active"], user["gpgkey"]["armored_key"]) == (True, KEY.public)
    assert user["gpgkey"]["fingerprint"] == KEY.fingerprint
    assert user["gpgkey"]["user_id"] == dave.id
    assert handshake.ask_nonce(Client(), KEY).startswith("gpgauth")


def test_a_setup_writes_key_claim_and_log_and_spends_the_link(api, dave, store):
    before = people.counts(store)

    complete(api, dave)

    after = people.counts(store)
    assert {name: after[name] - before.get(name, 0) for name in after} == {
        **dict.fromkeys(before, 0),
        "gpgkeys": 1,
        "claims": 1,
        "action_logs": 1,
        "outbox": 1,
    }
    row = stored(dave.id)
    assert (row.active, row.modified) == (True, START)
    key = reading.read([Gpgkey.by_id(str(row.gpgkey_id))]).find(Gpgkey, row.gpgkey_id)
    assert key is not None
    assert (key.bits, key.type, key.uid) == (256, "EdDSA", "Dave <dave@example.com>")


def test_it_needs_no_csrf_pair_and_takes_the_old_spelling(api, dave):
    body = {"authenticationtoken": {"token": dave.token}, "gpgkey": {"armored_key": KEY.public}}

    assert api.post(f"/setup/complete/{dave.id}.json", body).message == DONE


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("fr-FR", "fr-FR"), ("fr_FR", "fr-FR"), ("xx-XX", None), (5, None), (None, None)],
)
def test_the_language_of_the_setup_becomes_the_users(api, dave, sent, kept):
    complete(api, dave, user={"locale": sent})

    assert stored(dave.id).locale == kept
    who = Client(make.access_token(stored(dave.id)))
    settings = {row["property"]: row["value"] for row in who.get("/account/settings.json").body}
    assert settings == ({} if kept is None else {"locale": kept})


@pytest.mark.parametrize("value", ["French", 5, [], None])
def test_a_strange_user_member_is_passed_over(api, dave, value):
    """NP07, NP08"""
    assert complete(api, dave, user=value, id=new_id(), role_id="x").message == DONE


@pytest.mark.parametrize(
    ("members", "message"),
    [
        *(
            ({"authentication_token": value}, "An authentication token should be provided.")
            for value in (None, {}, [], "x", {"token": None}, {"token": ""})
        ),
        *(
            (
                {"authentication_token": {"token": value}},
                "The authentication token should be a valid UUID.",
            )
            for value in ("x", 5, True, ["a"], {"a": 1}, "x" * 100_000)
        ),
        *(
            ({"gpgkey": value}, "An OpenPGP key must be provided.")
            for value in (None, {}, [], "x", {"armored_key": None}, {"armored_key": ""})
        ),
        *(
            ({"gpgkey": {"armored_key": value}}, "An OpenPGP key must be provided.")
            for value in (5, True, ["a"], {"a": 1})
        ),
    ],
)
def test_the_proof_is_a_token_and_a_key(api, dave, digest, members, message):
    """NP06, NP07, NP25"""
    before = digest()

    assert refused(complete(api, dave, **members), message)
    assert digest() == before


@pytest.mark.parametrize("payload", [None, [], "x", 5])
def test_the_end_of_a_setup_is_an_object(api, dave, payload):
    """NP06"""
    response = api.post(f"/setup/complete/{dave.id}.json", payload)

    assert refused(response, "An authentication token should be provided.")


# Keys


def by_gnupg(algorithm: str, expiry: str = "never") -> str:
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not on this machine")
    with tempfile.TemporaryDirectory(prefix="kh") as home:
        run = ["gpg", "--homedir", home, "--batch", "--pinentry-mode", "loopback", "--armor"]
        run += ["--passphrase", "", "--faked-system-time=20240101T000000!"]
        uid = "Judy <judy@example.com>"
        made = [*run, "--quick-generate-key", uid, algorithm, "sign,cert", expiry]
        subprocess.run(made, check=True, capture_output=True)
        shown = subprocess.run([*run, "--export"], check=True, capture_output=True, text=True)
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)
        return shown.stdout


def revoked() -> str:
    secret = pysequoia.Tsk.from_bytes(KEY.private.encode())
    public = secret.extract_certificate()
    certificate = public.revoke(certifier=secret.certifier())
    both = bytes(public) + bytes(certificate)
    return str(pysequoia.Cert.from_bytes(both))


COULD_NOT = "The public key could not be validated."
UNFIT: dict[str, tuple[Callable[[], str], str, str]] = {
    "private": (
        lambda: KEY.private,
        "The OpenPGP armored key could not be validated.",
        "armored_key",
    ),
    "expired": (
        lambda: by_gnupg("ed25519", "2024-02-01"),
        "The OpenPGP armored key could not be validated.",
        "expires",
    ),
    "will expire": (lambda: by_gnupg("ed25519", "2099-01-01"), COULD_NOT, "hasNoExpiryDateRule"),
    "RSA 1024": (lambda: by_gnupg("rsa1024"), COULD_NOT, "isValidKeySizeStrictRule"),
    "RSA 2048": (lambda: by_gnupg("rsa2048"), COULD_NOT, "isValidKeySizeStrictRule"),
    "DSA": (lambda: by_gnupg("dsa2048"), COULD_NOT, "isValidAlgorithmStrictRule"),
    "revoked": (revoked, COULD_NOT, "isNotRevokedRule"),
    "two keys": (
        lambda: KEY.public + KEYS["carol"].public,
        "A valid OpenPGP key must be provided.",
        "isParsable",
    ),
    "text": (lambda: "no key", "A valid OpenPGP key must be provided.", "isParsable"),
    "cannot encrypt": (
        lambda: by_gnupg("ed25519"),
        "The OpenPGP key can not be used to encrypt.",
        "armored_key",
    ),
    "the server's": (
        lambda: KEYS["server_curve"].public,
        "The OpenPGP key data is not valid.",
        "isNotServerKeyFingerprintRule",
    ),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_an_unfit_key_is_refused_and_not_stored(api, dave, digest, kind):
    """IN34"""
    make_key, message, rule = UNFIT[kind]
    before = digest()

    response = complete(api, dave, gpgkey={"armored_key": make_key()})

    assert (response.status, response.message) == (400, message)
    assert f'"{rule}"' in response.content.decode()
    assert digest() == before


@pytest.mark.parametrize("owner", ["live", "deleted"])
def test_a_key_belongs_to_one_user_forever(api, dave, digest, owner):
    """IN34"""
    carol = make.user("carol")
    if owner == "deleted":
        people.delete(carol)
    before = digest()

    response = complete(api, dave, gpgkey={"armored_key": carol.key.public})

    assert (response.status, response.message) == (400, "The OpenPGP key data is not valid.")
    assert list(response.body["fingerprint"]) == ["_isUnique"]
    assert digest() == before


def test_no_shared_metadata_key_is_a_users_own(api, ada, dave, digest):
    """What is encrypted for them would open for everybody who has the shared key."""
    key = shared(ada)
    before = digest()

    response = complete(api, dave, gpgkey={"armored_key": key.public})

    assert (response.status, response.message) == (400, "The OpenPGP key data is not valid.")
    assert list(response.body["fingerprint"]) == ["isNotMetadataKeyFingerprintRule"]
    assert digest() == before


def test_the_name_in_a_key_may_be_another(api, dave):
    """IN34: a user id the key did sign, and that is not the user's address."""
    assert complete(api, dave, gpgkey={"armored_key": KEYS["frances"].public}).message == DONE


# What is decided is still so when it is written


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"active": True}, NOT_WAITING),
        ({"deleted": True}, NOT_WAITING),
        ({"disabled": START}, NOT_WAITING),
    ],
    ids=["active", "deleted", "suspended"],
)
def test_who_is_not_waiting_any_more_does_not_set_up(api, dave, store, fields, message):
    before = people.counts(store)

    with Meanwhile(lambda: change(dave.id, **fields)):
        response = complete(api, dave)

    assert refused(response, message)
    assert people.counts(store) == before
    assert stored(dave.id).gpgkey_id is None


def test_a_key_somebody_else_brings_meanwhile_is_theirs(api, dave):
    with Meanwhile(lambda: make.user("edith", key="dave")):
        response = complete(api, dave)

    assert (response.status, response.message) == (400, "The OpenPGP key data is not valid.")
    assert not stored(dave.id).active


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_key_that_becomes_a_shared_one_meanwhile_is_nobodys_own(api, ada, dave, which):
    if which == "second":
        shared(ada)
    key = pair(2)

    with Meanwhile(lambda: ada.client.post(METADATA_KEYS, body_of(key, ada, signer=ada))) as made:
        response = complete(api, dave, gpgkey={"armored_key": key.public})

    assert made.happened
    assert response.status == 400
    assert list(response.body["fingerprint"]) == ["isNotMetadataKeyFingerprintRule"]
    assert not stored(dave.id).active


def test_a_link_sets_up_one_key(store):
    """RA10, I11"""
    for race in races(limit=60, sampled=20):
        store.empty()
        people.start_again()
        dave = people.invite(store, make.user("ada", admin=True))
        outcomes = race.run(
            lambda d=dave: complete(Client(), d),
            lambda d=dave: complete(Client(), d, gpgkey={"armored_key": KEYS["carol"].public}),
        )
        statuses = sorted(outcome.get().status for outcome in outcomes)
        assert statuses == [200, 400]
        assert people.counts(store)["gpgkeys"] == 2


def test_a_key_is_brought_by_one_of_two_users(store):
    """RA10"""
    for race in races(limit=60, sampled=20):
        store.empty()
        people.start_again()
        ada = make.user("ada", admin=True)
        one, other = people.invite(store, ada, "dave"), people.invite(store, ada, "edith")
        outcomes = race.run(
            lambda d=one: complete(Client(), d), lambda d=other: complete(Client(), d)
        )
        assert sorted(outcome.get().status for outcome in outcomes) == [200, 400]
        assert stored(one.id).active != stored(other.id).active


def test_the_key_leaves_an_event_and_no_log_holds_token_or_key(api, dave, caplog):
    """HD08, HD10"""
    complete(api, dave)

    assert '"event": "setup"' in caplog.text
    assert dave.token not in caplog.text
    assert "BEGIN PGP" not in caplog.text


def test_a_guest_needs_no_pair_to_see_the_link(api, dave):
    assert api.get(f"/setup/start/{dave.id}/{dave.token}.json", **CSRF_PAIR).status == 200
