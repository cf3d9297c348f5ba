"""Mails leave a tenant that has a sender: by the stream, with the mailer's rights, by SES.

The local cloud asks for SES without saying which identity a mail is sent from, so the mailer of
this tenant may send from any; that its role names one is a check of the template.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import requests

from infra.local_cloud.process import ACCOUNT
from tests.cloud.given.calls import caller_with, is_refused
from tests.cloud.given.stacks import PATIENCE
from tests.cloud.given.tenants import ADMINISTRATOR, FOUNDER, CloudTenant, call
from tests.support.wire.served import administrator, newcomer, set_up
from tests.support.world.keys import KEYS

pytestmark = pytest.mark.cloud

SENDER = "keyhaven@initech.example"
MAILER = "mailer"
ZOE, CAROL = "zoe@initech.example", "carol@initech.example"


@dataclass(frozen=True, slots=True)
class PostedTenant(CloudTenant):
    """A tenant whose mails leave."""

    def mail_to(self, address: str) -> str:
        """What the last mail to somebody says; it arrives a moment after the request."""
        return str(self.arrived(address)[-1]["BodyText"])

    def arrived(self, address: str, count: int = 1) -> list[dict[str, object]]:
        """The mails to somebody, once there are so many."""
        deadline = time.monotonic() + PATIENCE
        while len(found := self.sent(address)) < count:
            assert time.monotonic() < deadline, f"no mail to {address}"
            time.sleep(0.1)
        return found

    def sent(self, address: str) -> list[dict[str, object]]:
        said = requests.get(f"{self.cloud.address}/_ministack/ses/messages", timeout=PATIENCE)
        mails = said.json()["messages"].get(ACCOUNT, [])
        return [each for each in mails if each["Source"] == SENDER and address in each["To"]]

    def wait_until_empty(self, *but: str) -> None:
        """Until the outbox holds only mails to these."""
        deadline = time.monotonic() + PATIENCE
        while any(row["recipient"]["S"] not in but for row in self.rows("outbox")):
            assert time.monotonic() < deadline, self.rows("outbox")
            time.sleep(0.1)


@pytest.fixture(scope="module")
def initech(cell):
    cell.cloud.client("sesv2").create_email_identity(EmailIdentity=SENDER)
    stack = cell.settle_tenant("initech", Dialect="clients", MailSender=SENDER)
    _let_send(cell.cloud, stack.resources["MailerRole"])
    call(cell.cloud, stack, FOUNDER, {})
    link = call(cell.cloud, stack, FOUNDER, {"administrator": ADMINISTRATOR})["link"]
    url, user_id = set_up(link, KEYS["ada"])
    return PostedTenant(url, user_id, KEYS["ada"], cell.cloud.output, stack, cell.cloud)


def _let_send(cloud, role):
    """From any identity: that is how the local cloud asks."""
    allowed = {"Effect": "Allow", "Action": "ses:SendEmail", "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [allowed]}
    iam = cloud.client("iam")
    iam.delete_role_permissions_boundary(RoleName=role)
    iam.put_role_policy(RoleName=role, PolicyName="any", PolicyDocument=json.dumps(document))


@pytest.fixture(autouse=True)
def mails_of_other_tests_have_left(initech):
    initech.wait_until_empty()


@pytest.fixture(scope="module")
def ada(initech):
    return administrator(initech)


def invite(by, address):
    sent = {"username": address, "profile": {"first_name": "Zoë", "last_name": "L"}}
    return by.visitor.body("POST", "/users.json", sent)


def test_the_first_administrator_got_a_mail_too(initech):
    mail, *_ = initech.arrived(ADMINISTRATOR["username"])

    assert mail["Subject"] == "Welcome to Keyhaven, Ada!"
    assert "/setup/start/" in str(mail["BodyText"])


def test_an_invitation_arrives_and_leads_to_an_account(initech, ada):
    betty = newcomer(initech, ada, "betty")

    assert betty.visitor.body("GET", "/users/me.json")["id"] == betty.id
    initech.wait_until_empty()
    assert len(initech.sent("betty@example.com")) == 1


def test_what_ses_refuses_stays_and_holds_back_nothing_until_it_is_called_for(initech, ada):
    """In the sandbox SES sends to verified addresses alone."""
    initech.cloud.client("sesv2").create_email_identity(EmailIdentity=CAROL)
    with in_the_sandbox(initech.cloud):
        invite(ada, ZOE)
        invite(ada, CAROL)
        assert initech.arrived(CAROL)
        initech.wait_until_empty(ZOE)
        assert call(initech.cloud, initech.stack, MAILER, {}) == {"waiting": 1}
    assert initech.sent(ZOE) == []

    assert call(initech.cloud, initech.stack, MAILER, {}) == {"waiting": 0}
    assert len(initech.sent(ZOE)) == 1


@contextmanager
def in_the_sandbox(cloud):
    said = {"MailType": "TRANSACTIONAL", "WebsiteURL": "https://initech.example"}
    ses = cloud.client("sesv2")
    ses.put_account_details(ProductionAccessEnabled=False, **said)
    try:
        yield
    finally:
        ses.put_account_details(ProductionAccessEnabled=True, **said)


def test_a_mail_to_administrators_reaches_each(initech, ada):
    before = len(initech.sent(ADMINISTRATOR["username"]))
    sent = {"provider": "email_domains", "data": {"allowed_domains": ["initech.example"]}}
    ada.visitor.body("POST", "/self-registration/settings.json", sent)

    mails = initech.arrived(ADMINISTRATOR["username"], before + 1)

    assert "registration" in str(mails[-1]["Subject"])


def test_only_a_tenant_with_a_sender_has_its_mailer_called(initech, acme):
    functions = initech.cloud.client("lambda")

    def mappings(tenant):
        name = f"{tenant.stack.name}-{MAILER}"
        return functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]

    [mapping] = mappings(initech)
    assert mapping["EventSourceArn"] == stream_of(initech)
    assert mapping["FunctionArn"].endswith(f"{initech.stack.name}-{MAILER}:live")
    assert mappings(acme) == []


def stream_of(tenant):
    table = tenant.stack.outputs["TablePrefix"] + "outbox"
    described = tenant.cloud.client("dynamodb").describe_table(TableName=table)["Table"]
    return described["LatestStreamArn"]


def test_the_mailer_does_nothing_else_with_ses(acme):
    with caller_with(acme.stack.resources["MailerRole"], acme.cloud) as mailer:
        ses = mailer.client("sesv2")
        assert is_refused(ses.create_email_identity, EmailIdentity="eve.example")
        assert is_refused(ses.list_email_identities)
        assert is_refused(ses.get_account)
        arn = f"arn:aws:ses:eu-west-1:{ACCOUNT}:identity/initech.example"
        assert is_refused(ses.tag_resource, ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
