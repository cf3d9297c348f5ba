"""A domain of a tenant's mails as an identity of SES: made, shown, verified, taken back."""

from __future__ import annotations

import sys

import pytest
from botocore.exceptions import ClientError

from infra.command_line.entry import infra
from infra.operate import builds, mail_identities, releasing, smoke
from infra.operate.registry import Registry
from infra.operate.steps import carry_out
from tests.infra_cloud.given.fakes import as_made, verify
from tests.support.commands import with_build

ADMIN = ("--admin", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace")
CELL = {"Domain": "keyhaven.example", "HostedZone": "Z123"}
DOMAIN = "mail.acme.example"
SENDER = f"keyhaven@{DOMAIN}"
RECORD = f"to be made: token1._domainkey.{DOMAIN} CNAME token1.dkim.amazonses.com"


@pytest.fixture
def platform(cell):
    cell.set_up(**CELL)
    return cell


@pytest.fixture
def give(platform, monkeypatch, capsys):
    monkeypatch.chdir(platform.build.folder.parent)

    def given(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["infra", *with_build(words)])
        capsys.readouterr()
        try:
            infra()
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    return given


@pytest.fixture
def acme(platform):
    platform.onboard()
    return platform


def deploy(give, *settings):
    return give("deploy", "acme", *(word for each in settings for word in ("--set", each)))


def stack(cell):
    return cell.stacks.stacks["keyhaven-acme"]


def sending(cell):
    """By what the mailer may send."""
    statements = as_made(stack(cell), "MailerRole")["Policies"][0]["PolicyDocument"]["Statement"]
    [found] = (each for each in statements if each["Action"] == ["ses:SendEmail"])
    return [each.rpartition(":")[2] for each in found["Resource"]]


def test_a_tenant_is_onboarded_with_the_domain_of_its_mails(give, platform):
    address = ("--base-url", platform.address)
    shown = give("onboard", "acme", *ADMIN, *address, "--mail-identity", DOMAIN)

    assert f"SES has not verified {DOMAIN} yet; until then, no MailSender" in shown
    assert RECORD in shown
    assert as_made(stack(platform), "SenderIdentity")["EmailIdentity"] == DOMAIN
    assert "SenderRecord1" not in stack(platform).physical


def test_onboarding_with_a_domain_that_was_cut_short_goes_on(platform):
    entry = platform.entry()
    entry.parameters["MailIdentity"] = DOMAIN
    for step in platform.onboarding(entry)[:2]:
        step.do()

    carry_out(platform.onboarding(entry), again="")


def test_an_error_of_ses_does_not_hide_that_nothing_answers(give, acme, monkeypatch):
    monkeypatch.setattr(smoke, "_get", silent)
    monkeypatch.setattr(mail_identities, "lines", broken)
    assert "does not answer as it should" in deploy(give, f"MailIdentity={DOMAIN}")


def silent(_):
    raise OSError


def broken(*_):
    raise ClientError({"Error": {"Code": "InternalFailure"}}, "GetEmailIdentity")


def test_mails_leave_once_ses_has_verified_the_domain(give, acme):
    assert RECORD in deploy(give, f"MailIdentity={DOMAIN}")
    assert RECORD in give("status", "acme")
    assert "SES has not verified mail.acme.example" in deploy(give, f"MailSender={SENDER}")
    assert stack(acme).parameters["MailSender"] == ""

    verify(DOMAIN)

    assert "has verified mail.acme.example: set MailSender" in give("status", "acme")
    deploy(give, f"MailSender={SENDER}")
    assert stack(acme).parameters["MailSender"] == SENDER
    assert f"mails come from {SENDER}" in give("status", "acme")


def test_the_mailer_sends_by_the_identity_of_its_tenant_alone(give, acme):
    deploy(give, "MailSender=keyhaven@acme.example")
    assert sending(acme) == ["identity/keyhaven@acme.example", "identity/acme.example"]

    deploy(give, "MailSender=", f"MailIdentity={DOMAIN}")
    verify(DOMAIN)
    deploy(give, f"MailSender={SENDER}")

    assert sending(acme) == [f"identity/{DOMAIN}", f"configuration-set/{made_set(acme)}"]


def made_set(cell):
    return stack(cell).physical["SenderSet"]


def test_the_stack_makes_the_records_of_a_domain_below_that_of_the_cell(give, acme):
    shown = deploy(give, "MailIdentity=mail.acme.keyhaven.example")

    assert "the stack has made: token1._domainkey.mail.acme.keyhaven.example CNAME" in shown
    record = as_made(stack(acme), "SenderRecord3")
    assert (record["HostedZoneId"], record["Type"]) == ("Z123", "CNAME")
    assert record["Name"] == "token3._domainkey.mail.acme.keyhaven.example"
    assert record["ResourceRecords"] == ["token3.dkim.amazonses.com"]

    deploy(give, "MailIdentity=")
    assert not {"SenderRecord3", "SenderIdentity"} & stack(acme).physical.keys()


def test_records_go_to_another_zone_that_is_named(give, acme):
    deploy(give, f"MailIdentity={DOMAIN}", "MailZone=Z456")

    assert as_made(stack(acme), "SenderRecord1")["HostedZoneId"] == "Z456"


def test_records_stay_in_their_zone_when_the_domain_is_given_again(give, acme):
    deploy(give, f"MailIdentity={DOMAIN}", "MailZone=Z456")

    deploy(give, f"MailIdentity={DOMAIN}", "SupportAddress=help@example.com")

    assert as_made(stack(acme), "SenderRecord1")["HostedZoneId"] == "Z456"


def test_a_domain_is_not_put_under_a_sender_before_it_is_verified(give, acme):
    deploy(give, f"MailSender={SENDER}")

    assert f"SES has not verified {DOMAIN}" in deploy(give, f"MailIdentity={DOMAIN}")
    assert "SenderIdentity" not in stack(acme).physical


def test_onboarding_makes_the_records_too(give, platform):
    address = ("--base-url", platform.address)
    give("onboard", "acme", *ADMIN, *address, "--mail-identity", "acme.keyhaven.example")

    assert Registry(platform.account).fetch("acme").parameters["MailZone"] == "Z123"
    assert "SenderRecord1" in stack(platform).physical


def test_a_domain_that_somebody_has_verified_already_is_refused(give, acme):
    acme.client("sesv2").create_email_identity(EmailIdentity=DOMAIN)

    assert "made by hand or of another tenant" in deploy(give, f"MailIdentity={DOMAIN}")
    blue = ("onboard", "blue", *ADMIN, "--mail-identity", DOMAIN)
    assert "made by hand or of another tenant" in give(*blue)
    assert Registry(acme.account).find("blue") is None


def test_its_own_domain_may_be_given_again(give, acme):
    deploy(give, f"MailIdentity={DOMAIN}")

    assert RECORD in deploy(give, f"MailIdentity={DOMAIN}", "SupportAddress=help@example.com")


def test_a_domain_is_not_taken_away_from_under_its_sender(give, acme):
    deploy(give, f"MailIdentity={DOMAIN}")
    verify(DOMAIN)
    deploy(give, f"MailSender={SENDER}")

    assert "its MailSender is verified by nobody" in deploy(give, "MailIdentity=")

    deploy(give, "MailIdentity=", "MailSender=")
    assert acme.client("sesv2").list_email_identities()["EmailIdentities"] == []
    assert "SES" not in give("status", "acme")


def test_an_identity_goes_with_its_stack(give, acme):
    deploy(give, f"MailIdentity={DOMAIN}")

    builds.stack_of(acme.account, "acme").delete()

    assert acme.client("sesv2").list_email_identities()["EmailIdentities"] == []


def test_mails_that_come_back_stop_no_release(give, acme):
    deploy(give, f"MailIdentity={DOMAIN}")
    for alarm in ("MailsBounce", "MailsAnnoy"):
        ring(acme, alarm)

    releasing.require_quiet(acme.account, ["acme"])

    ring(acme, "AuthErrors")
    with pytest.raises(releasing.Failed, match="auth: the function fails"):
        releasing.require_quiet(acme.account, ["acme"])


def ring(cell, alarm):
    cell.client("cloudwatch").set_alarm_state(
        AlarmName=stack(cell).physical[alarm], StateValue="ALARM", StateReason="a test"
    )


def test_a_tenant_without_one_has_none_of_it(acme):
    made = {name for name in stack(acme).physical if name.startswith(("Sender", "Mails"))}
    assert made == set()
