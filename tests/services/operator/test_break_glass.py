"""Another administrator, whom two people who run the service admit."""

from __future__ import annotations

import pytest

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.users import INVALID, AdministratorBody
from chalicelib.domain.operator.operators import PURPOSE, purpose
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.operator import break_glass, tenants
from chalicelib.tables.settings import EMAIL_NOTIFICATIONS, Setting
from chalicelib.workers import founder
from infra.operate import breaking_glass
from infra.operate.account import Account
from infra.operate.registry import Entry
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.rights import rights_of_group
from tests.support.races.scheduler import races
from tests.support.wire.client import Client
from tests.support.world import make, people
from tests.support.world.keys import KEYS
from tests.support.world.operator.operators import (
    CONTEXT,
    MAX,
    MAX_AGAIN,
    NOBODY,
    NORA,
    STRANGER,
    TINA,
    Person,
    an_sts,
)
from tests.support.world.operator.posted import posted

[FOUNDER] = (worker for worker in WORKERS if worker.name == "founder")
EDITH = {
    "username": "edith@example.com",
    "first_name": "Edith",
    "last_name": "Lovelace",
    "reason": "The only key was lost.",
}
NAMED = tuple(EDITH.values())


@pytest.fixture(autouse=True)
def sts(store, monkeypatch):
    with an_sts(monkeypatch) as address:
        yield address


def found() -> str:
    sent = {"username": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"}
    return tenants.found(Draft(AdministratorBody, sent).read(INVALID))


def set_up(link: str, name: str) -> str:
    """Follow the link, with the key of this name; return who that is."""
    user, token = link.rpartition("/setup/start/")[2].split("/")
    body = {"authentication_token": {"token": token}, "gpgkey": {"armored_key": KEYS[name].public}}
    assert Client().post(f"/setup/complete/{user}.json", body).status == 200
    return user


@pytest.fixture
def founded(store):
    user = set_up(found(), "ada")
    posted(store)
    return user


@pytest.fixture
def proof(monkeypatch):
    """What a person's own credentials sign, made as the command makes it."""

    def signed(person: Person, what: str, *named: str):
        for name, value in person.environment.items():
            monkeypatch.setenv(name, value)
        if person.session is None:
            monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
        entry = Entry("acme", "", "")
        return breaking_glass.proof(Account("eu-west-1"), entry, what, *named)

    return signed


def told(**event):
    with rights_of_group(FOUNDER):
        return founder.handler({"break_glass": event}, CONTEXT)


def asked(proof, by=MAX, wanted=EDITH):
    return told(do="ask", administrator=wanted, proof=proof(by, "ask", *wanted.values()))


def granted(proof, request_id, by=NORA):
    return told(do="grant", id=request_id, proof=proof(by, "grant", request_id))


def test_one_asks_and_another_grants(store, founded, proof):
    request = asked(proof)["ask"]
    waiting = told(do="look")["look"]
    before = posted(store)
    granted(proof, request["id"])
    after = posted(store)

    assert waiting == request
    assert request["asked_by"] == MAX.arn
    assert [(mail.who, mail.template) for mail in before] == [("ada", "administrator-asked-for")]
    assert {(mail.who, mail.template) for mail in after} == {
        ("ada", "administrator-admitted"),
        ("edith", "admission"),
    }
    for mail in (before[0], *(each for each in after if each.who == "ada")):
        for word in ("max", "Edith Lovelace", "edith at example[.]com", "only key was lost"):
            assert word in mail.text
    assert "granted it: nora" in next(each.text for each in after if each.who == "ada")
    assert told(do="look") == {"look": None}


def test_the_link_is_sent_also_where_the_organisation_sends_no_invitations(store, founded, proof):
    """Nobody may be left who could turn the switch on again."""
    Setting(EMAIL_NOTIFICATIONS, value={"send_user_create": False}).save()
    granted(proof, asked(proof)["ask"]["id"])

    [mail] = [each for each in posted(store) if each.who == "edith"]
    assert mail.subject == "Welcome to Keyhaven, Edith!"
    assert "made you an administrator" in mail.text
    assert set_up(next(line for line in mail.text.split() if "/setup/start/" in line), "edith")


def link_of_edith(store) -> str:
    mails = (each for each in people.mails(store) if each.recipient == EDITH["username"])
    return next(people.link_of(each) for each in mails)


def test_who_is_admitted_sets_up_and_is_an_administrator(store, founded, proof):
    granted(proof, asked(proof)["ask"]["id"])

    user = set_up(link_of_edith(store), "edith")
    edith = Client(make.access_token(people.stored(user)))
    assert edith.get("/users/me.json").body["role"]["name"] == "admin"
    contexts = [each["context"] for each in edith.get("/actionlog/logs.json").body]
    assert f"{MAX.arn}, {NORA.arn}" in contexts


def test_passwords_expire_from_whoever_sets_up_first(store, proof):
    """The first administrator has never set up, as where their address was mistyped."""
    link = found()
    granted(proof, asked(proof)["ask"]["id"])

    edith = Client(make.access_token(people.stored(set_up(link_of_edith(store), "edith"))))
    begun = edith.get("/password-expiry/settings.json").body
    assert (begun["automatic_expiry"], begun["automatic_update"]) == (True, True)

    assert edith.delete(f"/password-expiry/settings/{begun['id']}.json").status == 200
    set_up(link, "ada")
    assert edith.get("/password-expiry/settings.json").body["automatic_expiry"] is False


def test_of_two_who_set_up_first_at_once_both_do(store, proof):
    link = found()
    granted(proof, asked(proof)["ask"]["id"])

    with Meanwhile(lambda: set_up(link_of_edith(store), "edith")) as race:
        ada = Client(make.access_token(people.stored(set_up(link, "ada"))))

    assert race.happened
    assert ada.get("/password-expiry/settings.json").body["automatic_expiry"] is True


@pytest.mark.parametrize("by", [MAX, MAX_AGAIN])
def test_one_person_does_not_grant_what_they_asked_for(digest, founded, proof, by):
    request = asked(proof)["ask"]
    before = digest()

    assert "another person" in granted(proof, request["id"], by)["refused"]
    assert digest() == before


def test_somebody_of_another_account_is_nobody(digest, founded, proof):
    before = digest()

    assert "account" in asked(proof, STRANGER)["refused"]
    assert digest() == before


@pytest.mark.parametrize("who", NOBODY)
def test_who_is_no_person_neither_asks_nor_grants(digest, founded, proof, who):
    before = digest()
    assert "Only users" in asked(proof, NOBODY[who])["refused"]
    assert digest() == before

    request = asked(proof)["ask"]
    before = digest()
    assert "Only users" in granted(proof, request["id"], NOBODY[who])["refused"]
    assert digest() == before


@pytest.mark.parametrize("by", [MAX_AGAIN, TINA])
def test_people_come_by_identity_center_or_as_users_too(founded, proof, by):
    request = asked(proof, NORA)["ask"]

    assert "grant" in granted(proof, request["id"], by)


@pytest.mark.parametrize(
    "forged",
    [
        {"authorization": "AWS4-HMAC-SHA256 SignedHeaders=host;x-amz-date, Signature=0"},
        {"date": "20261121T115959Z"},
        {"session": "another"},
        {"authorization": "x\r\nHost: elsewhere"},
    ],
)
def test_a_proof_that_was_not_signed_so_is_none(digest, founded, proof, forged):
    before = digest()
    shown = {**proof(MAX, "ask", *NAMED), **forged}

    assert "who you are" in told(do="ask", administrator=EDITH, proof=shown)["refused"]
    assert digest() == before


def test_a_proof_is_good_for_its_purpose_alone(digest, founded, proof):
    request = asked(proof)["ask"]
    before = digest()
    of_another = proof(NORA, "grant", "another")
    of_asking = proof(NORA, "ask", request["id"])

    for shown in (of_another, of_asking):
        assert "refused" in told(do="grant", id=request["id"], proof=shown)
    assert digest() == before


def test_a_signature_that_names_no_purpose_is_no_proof(founded, proof, sts):
    """One that was made for another service would do otherwise."""
    request = asked(proof)["ask"]
    shown = proof(NORA, "grant", request["id"])
    shown["authorization"] = shown["authorization"].replace(f";{PURPOSE.lower()}", "")

    assert "who you are" in told(do="grant", id=request["id"], proof=shown)["refused"]


def test_aws_that_cannot_be_asked_is_no_yes(founded, proof, monkeypatch, digest):
    shown = proof(MAX, "ask", *NAMED)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:9")
    before = digest()

    assert "try again" in told(do="ask", administrator=EDITH, proof=shown)["refused"]
    assert digest() == before


def test_it_is_granted_within_a_day(founded, proof, time):
    request = asked(proof)["ask"]
    time.pass_by(hours=24)

    assert "Nobody asks" in granted(proof, request["id"])["refused"]
    assert told(do="look") == {"look": None}
    assert asked(proof)["ask"]["id"] != request["id"]


def test_one_is_asked_for_at_a_time_and_can_be_withdrawn(founded, proof):
    request = asked(proof)["ask"]
    second = asked(proof, NORA)
    withdrawn = told(do="withdraw", id=request["id"])

    assert "asked for already" in second["refused"]
    assert withdrawn == {"look": None}
    assert "Nobody asks" in granted(proof, request["id"])["refused"]
    assert "ask" in asked(proof, NORA)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"username": "edith"}, "username"),
        ({"reason": ""}, "reason"),
        ({"last_name": ""}, "last_name"),
    ],
)
def test_what_is_asked_for_is_checked(digest, founded, proof, wrong, name):
    before = digest()

    refused = asked(proof, wanted={**EDITH, **wrong})
    assert name in refused["errors"]
    assert digest() == before


def test_an_address_that_is_somebody_s_is_refused_when_it_is_granted(founded, proof, digest):
    request = asked(proof, wanted={**EDITH, "username": "ADA@example.com"})["ask"]
    before = digest()

    assert "username" in granted(proof, request["id"])["errors"]
    assert digest() == before


def test_a_tenant_without_its_first_administrator_has_no_emergency(proof):
    assert "onboard" in asked(proof)["refused"]


def test_two_who_grant_at_once_admit_one(store, founded, proof):
    request = asked(proof)["ask"]
    start = store.contents()
    shown = proof(NORA, "grant", request["id"])
    event = {"break_glass": {"do": "grant", "id": request["id"], "proof": shown}}
    for schedule in races(limit=0, switches=1, sampled=2):
        store.put_back(start)
        outcomes = schedule.run(*[lambda: founder.handler(event, CONTEXT)] * 2)
        assert sorted("grant" in each.get() for each in outcomes) == [False, True]
        assert break_glass.look() is None


def test_a_purpose_fits_a_header_whatever_it_names():
    assert purpose("https://a", "ask", "é\r\nx").isascii()
    assert "\n" not in purpose("https://a", "ask", "é\r\nx")
