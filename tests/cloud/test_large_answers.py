"""A list that no function may send, through the tenant's bucket to clients that follow.

What the gateway serves and what the bucket serves have one host here and two on AWS, so the
gateway is asked by its other name where that matters.
"""

from __future__ import annotations

import base64
import os
import time
from dataclasses import replace
from urllib.parse import urlsplit

import botocore.session
import pytest
import requests
from botocore.config import Config

from chalicelib.objects.answers import ANSWERS, SECONDS
from infra.local_cloud.process import REGION
from infra.template.functions import FUNCTIONS
from tests.cloud.given.calls import caller_with
from tests.cloud.given.remote import sign_in
from tests.support.wire.served import administrator, newcomer
from tests.support.world.keys import message

pytestmark = pytest.mark.cloud

COUNT = 18
PATIENCE = 60
NAMES = {f"note {number:02}" for number in range(COUNT)}
LIST = "/resources.json?contain[secret]=1&sort=Resources.name"
TEXT = base64.b64encode(os.urandom(200_000)).decode()
"""As a message it has some 350,000 characters."""


@pytest.fixture(scope="module")
def dave(acme):
    """A user who keeps long notes, which nobody else has."""
    return newcomer(acme, administrator(acme), "dave")


@pytest.fixture(scope="module")
def token(acme, dave):
    """Of a session of Dave's, in which too much for one answer was stored."""
    signed_in = sign_in(replace(acme, user_id=dave.id, key=dave.key))
    note = message(TEXT, dave.key.public)
    for name in sorted(NAMES):
        made = signed_in.client.post("/resources.json", {"name": name, "secrets": [{"data": note}]})
        assert made.status == 200, made.content
    return signed_in.client.token


@pytest.fixture(scope="module")
def ask(acme, token):
    """Asks the gateway by a name that is not the bucket's."""
    url = acme.url.replace("127.0.0.1", "localhost")

    def send(path, **options):
        headers = {"Authorization": f"Bearer {token}"}
        return requests.get(url + path, headers=headers, timeout=PATIENCE, **options)

    return send


@pytest.fixture
def address(ask):
    answer = ask(LIST, allow_redirects=False)
    assert answer.status_code == 303
    return answer.headers["Location"]


def signed(acme, role, key, seconds):
    """An address for an object, signed with the rights of a role."""
    with caller_with(acme.stack.resources[role], acme.cloud) as caller:
        client = botocore.session.get_session().create_client(
            "s3",
            region_name=REGION,
            endpoint_url=acme.cloud.address,
            aws_access_key_id=caller.who.access_key,
            aws_secret_access_key=caller.who.secret_key,
            aws_session_token=caller.who.token,
            config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
        )
        named = {"Bucket": acme.stack.outputs["ObjectsBucket"], "Key": key}
        made = client.generate_presigned_url("get_object", Params=named, ExpiresIn=seconds)
        acme.cloud.closing(client)
        return made


def key_of(acme, address):
    return urlsplit(address).path.removeprefix(f"/{acme.stack.outputs['ObjectsBucket']}/")


def status_of(address, **headers):
    return requests.get(address, headers=headers, timeout=PATIENCE).status_code


def test_a_client_that_follows_has_the_whole_list(ask):
    """Requests leaves the token behind where the host changes; S3 would refuse it."""
    answer = ask(LIST)

    [first] = answer.history
    assert first.status_code == 303
    assert first.json()["header"]["code"] == 303
    assert "Authorization" in first.request.headers
    assert "Authorization" not in answer.request.headers
    assert answer.status_code == 200
    assert len(answer.content) > 6_000_000
    assert answer.json()["header"]["pagination"]["count"] == COUNT
    assert {each["name"] for each in answer.json()["body"]} == NAMES


def test_pages_of_it_are_sent_as_always(ask):
    answer = ask(f"{LIST}&limit=5")

    assert answer.history == []
    assert len(answer.json()["body"]) == 5


def test_a_deployed_client_follows(acme, dave, token, visit, keyring):
    configuration = {"SERVER": acme.url, "USER_FINGERPRINT": dave.key.fingerprint}
    seen = visit(
        "passbolt-python-api",
        "python_api_lists.py",
        {"PASSBOLT": configuration},
        keyring(dave.key),
    )

    assert (seen["header"]["code"], set(seen["names"])) == (200, NAMES)
    assert all(each.startswith("-----BEGIN PGP MESSAGE-----") for each in seen["messages"])


def test_it_lies_there_compressed(acme, address):
    found = acme.cloud.client("s3").head_object(
        Bucket=acme.stack.outputs["ObjectsBucket"], Key=key_of(acme, address)
    )

    assert found["ContentEncoding"] == "gzip"
    assert found["ContentType"] == "application/json; charset=utf-8"
    assert found["CacheControl"] == "private, no-store"


def test_an_address_opens_one_object_for_its_time(acme, ask, address):
    other = ask(LIST, allow_redirects=False).headers["Location"]
    assert status_of(address) == status_of(other) == 200

    assert status_of(address.replace(key_of(acme, address), key_of(acme, other))) == 403
    assert status_of(address.replace(f"Expires={SECONDS}", "Expires=86400")) == 403
    assert status_of(address.partition("?")[0]) == 403


def test_an_address_is_refused_after_its_time(acme, address):
    """Signed as the function signs, for a second instead of a minute."""
    short = signed(acme, "ResourcesRole", key_of(acme, address), 1)

    time.sleep(2)

    assert status_of(short) == 403


@pytest.mark.parametrize("function", FUNCTIONS, ids=[each.name for each in FUNCTIONS])
def test_an_address_is_worth_what_its_signer_may_read(function, acme, address):
    told = signed(acme, function.role, key_of(acme, address), SECONDS)

    assert status_of(told) == (200 if function.group.leaves_answers else 403)


@pytest.mark.parametrize("key", ["avatars/x/medium.jpg", f"{ANSWERS}", "templates/x.json"])
def test_who_leaves_answers_reads_nothing_else(key, acme):
    assert status_of(signed(acme, "ResourcesRole", key, SECONDS)) == 403


def test_browsers_may_read_where_they_are_led(acme, address):
    """From one host to another they say `null`, or the origin of the tenant's own pages."""
    for origin in ("null", "{0.scheme}://{0.netloc}".format(urlsplit(acme.url))):
        asked = {"Origin": origin, "Access-Control-Request-Method": "GET"}
        before = requests.options(
            address,
            headers={**asked, "Access-Control-Request-Headers": "x-csrf-token"},
            timeout=PATIENCE,
        )
        after = requests.get(address, headers={"Origin": origin}, timeout=PATIENCE)
        for answer in (before, after):
            assert answer.status_code == 200
            assert answer.headers["Access-Control-Allow-Origin"] == origin
            assert answer.headers["Access-Control-Allow-Credentials"] == "true"


def test_pages_of_others_may_not(address):
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"}

    assert requests.options(address, headers=asked, timeout=PATIENCE).status_code == 403
    answer = requests.get(address, headers=asked, timeout=PATIENCE)
    assert "Access-Control-Allow-Origin" not in answer.headers
