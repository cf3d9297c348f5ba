"""Answers larger than a function may send: they go through the bucket, as a whole."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import os
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import botocore.session
import pytest
import requests
from moto import mock_aws

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.settings import settings
from chalicelib.tables.items.holdings import Holding
from chalicelib.web.dispatch import ELSEWHERE, TOO_LONG, TOO_MUCH_IN_THE_WAY
from chalicelib.web.envelope import SECURITY_HEADERS
from tests.support.world import make
from tests.support.world.items.resources import V5_DEFAULT
from tests.support.world.keys import message

READ = PermissionType.READ
BUCKET = "test-answers"
LONG_TEXT = base64.b64encode(os.urandom(200_000)).decode()
"""Of a note as long as they get; as a message it has some 350,000 characters."""
INLINE, TOO_MANY = 10, 20
"""Of such notes; seventeen are too many."""
WITH_SECRETS = "/resources.json?contain[secret]=1&sort=Resources.name"


@contextmanager
def bucket_of_the_tenant():
    client = botocore.session.get_session().create_client("s3", region_name="eu-west-1")
    place = {"LocationConstraint": "eu-west-1"}
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration=place)
    yield client
    for each in keys(client):
        client.delete_object(Bucket=BUCKET, Key=each)
    client.delete_bucket(Bucket=BUCKET)


@pytest.fixture
def bucket(store):
    with mock_aws(), bucket_of_the_tenant() as client:
        yield client


@pytest.fixture
def no_bucket(store):
    with mock_aws():
        yield


def keys(bucket):
    return [each["Key"] for each in bucket.list_objects_v2(Bucket=BUCKET).get("Contents", ())]


def notes(who, count, *, shared_with=None):
    """So many resources of somebody's, each with a message as long as they get."""
    data = message(LONG_TEXT, who.key.public)
    made = []
    for number in range(count):
        made.append(make.resource(who, shared_with, name=f"note {number:03}"))
        holding = Holding.get(who.id, made[-1])
        holding.secret_data = data
        holding.save()
    return made


def key_of(address):
    return urlsplit(address).path.removeprefix("/")


def left(bucket, response):
    """What lies where the answer says."""
    found = bucket.get_object(Bucket=BUCKET, Key=key_of(response.headers["location"]))
    return found, gzip.decompress(found["Body"].read())


def test_what_can_be_sent_is_sent(ada, bucket):
    notes(ada, INLINE)

    response = ada.client.get(WITH_SECRETS)

    assert response.status == 200
    assert len(response.body) == INLINE
    assert len(response.content) > 3_000_000
    assert keys(bucket) == []


def test_what_is_larger_is_answered_with_where_it_lies(ada, bucket):
    """FT15"""
    notes(ada, TOO_MANY)

    response = ada.client.get(WITH_SECRETS)

    assert (response.status, response.header["code"]) == (303, 303)
    assert (response.header["status"], response.message) == ("success", ELSEWHERE)
    assert response.body is None
    address = urlsplit(response.headers["location"])
    assert (address.scheme, address.netloc) == ("https", f"{BUCKET}.s3.eu-west-1.amazonaws.com")
    assert keys(bucket) == [address.path.removeprefix("/")]


def test_there_it_lies_as_a_whole(ada, bucket):
    """With the header and the pagination of a list that had room."""
    made = notes(ada, TOO_MANY)
    pages = [ada.client.get(f"{WITH_SECRETS}&limit=10&page={page}") for page in (1, 2)]

    response = ada.client.get(WITH_SECRETS)

    _, content = left(bucket, response)
    whole = json.loads(content)
    assert len(content) > settings.answer_limit
    assert [each["id"] for each in whole["body"]] == made
    assert whole["body"] == [*pages[0].body, *pages[1].body]
    assert whole["header"] == {
        **pages[0].header,
        "id": response.header["id"],
        "url": response.header["url"],
        "pagination": {"count": TOO_MANY, "page": 1, "limit": None},
    }
    assert list(whole["header"]) == list(pages[0].header)


def test_a_page_may_be_too_large_too(ada, bucket):
    notes(ada, TOO_MANY)

    response = ada.client.get(f"{WITH_SECRETS}&limit=19&page=1")

    whole = json.loads(left(bucket, response)[1])
    assert len(whole["body"]) == 19
    assert whole["header"]["pagination"] == {"count": TOO_MANY, "page": 1, "limit": 19}


def test_who_follows_reads_it_as_if_it_had_been_sent(ada, bucket):
    """S3 sends it compressed whatever the client accepts; libraries ask for that and read it."""
    notes(ada, TOO_MANY)

    address = ada.client.get(WITH_SECRETS).headers["location"]
    followed = requests.get(address, timeout=10)

    assert followed.status_code == 200
    assert followed.headers["content-type"] == "application/json; charset=utf-8"
    assert followed.headers["content-encoding"] == "gzip"
    assert followed.headers["cache-control"] == "private, no-store"
    assert len(followed.json()["body"]) == TOO_MANY


def test_the_word_on_where_it_lies_carries_the_headers_of_every_answer(ada, bucket, cookie_of):
    """HD01"""
    notes(ada, TOO_MANY)

    by_token = ada.client.get(WITH_SECRETS)
    ada.client.token = None
    by_cookie = ada.client.get(WITH_SECRETS, cookies={"passbolt_session": cookie_of(ada)})

    for response in (by_token, by_cookie):
        assert response.status == 303
        assert response.headers["content-type"] == "application/json; charset=utf-8"
        for name, value in SECURITY_HEADERS.items():
            assert response.headers[name.lower()] == value
    assert by_cookie.headers["x-gpgauth-version"] == "1.3.0"
    assert any(each.startswith("csrfToken=") for each in by_cookie.set_cookies)


def test_an_address_is_for_a_minute_and_for_one_object(ada, bucket):
    notes(ada, TOO_MANY)

    first, second = (ada.client.get(WITH_SECRETS).headers["location"] for _ in range(2))

    signed = parse_qs(urlsplit(first).query)
    assert signed["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert signed["X-Amz-Expires"] == ["60"]
    assert signed["X-Amz-SignedHeaders"] == ["host"]
    assert signed["X-Amz-Credential"][0].endswith("/eu-west-1/s3/aws4_request")
    assert key_of(first) != key_of(second)
    folder, _, name = key_of(first).partition("/")
    assert folder == "answers"
    assert len(base64.urlsafe_b64decode(f"{name}=")) == 32
    assert sorted(keys(bucket)) == sorted(map(key_of, (first, second)))


@pytest.mark.parametrize("region", ["eu-west-1", "us-east-1"])
def test_the_host_names_the_region(region):
    """Which policies of clients name: the first region is no exception."""
    script = (
        "import os\n"
        "from tests.support import environment; environment.prepare()\n"
        f"os.environ['AWS_REGION'] = '{region}'\n"
        "from moto import mock_aws\n"
        "from chalicelib.objects import answers\n"
        "from tests.api.test_large_answers import bucket_of_the_tenant\n"
        "with mock_aws(), bucket_of_the_tenant():\n"
        "    print(answers.leave('{}', 'application/json'))\n"
    )

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={"ENGINE": "embedded", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert urlsplit(ran.stdout).netloc == f"{BUCKET}.s3.{region}.amazonaws.com"


def test_logs_do_not_tell_the_address(ada, bucket, caplog):
    """HD08"""
    notes(ada, TOO_MANY)
    caplog.set_level(logging.INFO)

    address = ada.client.get(WITH_SECRETS).headers["location"]

    [line] = [json.loads(each.message) for each in caplog.records if each.name == "keyhaven"]
    assert (line["action"], line["status"]) == ("ResourcesIndex.index", 303)
    told = " ".join(f"{each.getMessage()} {each.__dict__}" for each in caplog.records)
    [signature] = parse_qs(urlsplit(address).query)["X-Amz-Signature"]
    for secret in (key_of(address), signature, "amazonaws"):
        assert secret not in told


def test_where_the_bucket_is_out_of_reach_the_request_may_pass_later(ada, no_bucket):
    notes(ada, TOO_MANY)

    response = ada.client.get(WITH_SECRETS)

    assert (response.status, response.headers["retry-after"]) == (503, "1")
    assert (response.message, response.body) == (Unavailable().message, "")
    assert "location" not in response.headers
    assert len(ada.client.get(f"{WITH_SECRETS}&limit=5").body) == 5


def test_a_dry_run_may_be_too_large_too(betty, carol, bucket):
    """It is a PUT and changes nothing; 303 has clients follow by GET."""
    team = make.group(betty)
    made = [make.resource(team, name=f"note {number}") for number in range(TOO_MANY)]
    data = message(LONG_TEXT, betty.key.public)
    for resource_id in made:
        holding = Holding.get(betty.id, resource_id)
        holding.secret_data = data
        holding.save()
    joining = {"groups_users": [{"user_id": carol.id, "is_admin": False}]}

    response = betty.client.put(f"/groups/{team.id}/dry-run.json", joining)

    assert response.status == 303
    body = json.loads(left(bucket, response)[1])["body"]["dry-run"]
    assert {each["Secret"]["resource_id"] for each in body["SecretsNeeded"]} == set(made)
    assert len(body["Secrets"]) == TOO_MANY


def test_a_refusal_does_not_go_through_the_bucket(ada, betty, carol, bucket):
    """It would come from there as a success. What stands in the way is in the lists too."""
    metadata = message(LONG_TEXT[:140_000], betty.key.public)
    for _ in range(40):
        make.resource(
            betty,
            {carol: READ},
            metadata=metadata,
            metadata_key_type="user_key",
            metadata_key_id=betty.gpgkey_id,
            resource_type_id=V5_DEFAULT,
        )

    response = ada.client.delete(f"/users/{betty.id}.json")

    assert (response.status, response.message) == (400, TOO_MUCH_IN_THE_WAY)
    assert "location" not in response.headers
    assert keys(bucket) == []


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"ANSWER_BUCKET": ""}, f"400 {TOO_LONG}"),
        ({"ANSWER_BUCKET": "", "ANSWER_LIMIT": "0"}, "200 The operation was successful."),
    ],
    ids=["no bucket", "no bound"],
)
def test_without_a_bucket_an_answer_is_refused_or_sent_and_never_cut(told, said):
    script = (
        "import os\n"
        "from tests.support import environment; environment.prepare()\n"
        f"os.environ |= {told}\n"
        "from tests.support.world import make\n"
        "from tests.support import storage\n"
        "from tests.api.test_large_answers import TOO_MANY, WITH_SECRETS, notes\n"
        "from chalicelib.services.operator import keys\n"
        "from chalicelib.settings import settings\n"
        "with storage.opened():\n"
        "    keys.create_local(settings.key_folder)\n"
        "    ada = make.user('ada')\n"
        "    notes(ada, TOO_MANY)\n"
        "    response = ada.client.get(WITH_SECRETS)\n"
        "    print(response.status, response.message)\n"
        "    assert response.status != 200 or len(response.body) == TOO_MANY\n"
    )

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={"ENGINE": "embedded", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.strip() == said
