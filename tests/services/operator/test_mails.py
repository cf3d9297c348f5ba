"""Mails leave: each is sent at least once, whatever fails, and none holds back others."""

from __future__ import annotations

import logging
from contextlib import suppress

import boto3
import pytest
from botocore.config import Config

from chalicelib.crypto import private_keys
from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.operator import server_key
from chalicelib.tables.operator.outbox import ADMINISTRATORS, Mail
from chalicelib.tables.settings import MAIL_RELAY, Setting
from chalicelib.workers import mailer
from infra.template.tables import tables
from tests.support import relays
from tests.support.faults import hooks
from tests.support.faults.hooks import Failing, Killed, kill_points
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.rights import rights_of_group
from tests.support.faults.watch import worn
from tests.support.wire.client import Client
from tests.support.world import make, people
from tests.support.world.operator.letters import answer_lost, refusing, ses_of_tests, unreachable

[MAILER] = (worker for worker in WORKERS if worker.name == "mailer")


@pytest.fixture
def letters(store):
    with ses_of_tests() as letters:
        yield letters


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="keyhaven")
    return lambda: [each.message for each in caplog.records if each.name == "keyhaven"]


def written(name="dave", template="invitation", recipient=None):
    """A mail in the outbox."""
    link = f"https://keyhaven.test/setup/start/{name}/secret"
    params = {"first_name": name.title(), "link": link}
    mail = Mail.to(recipient or f"{name}@example.com", template, **params)
    mail.save()
    return mail


def record(mail):
    """What the stream says of a row, which is its key and no more."""
    said = {
        "Keys": {"id": {"S": mail.id}},
        "SequenceNumber": f"1{mail.id}",
        "StreamViewType": "KEYS_ONLY",
    }
    return {"eventName": "INSERT", "eventSource": "aws:dynamodb", "dynamodb": said}


def send(letters, *mails):
    """Call the mailer with the records of these; the numbers of those to be tried again."""
    answer = called({"Records": [record(mail) for mail in mails]}, letters)
    return [each["itemIdentifier"][1:] for each in answer["batchItemFailures"]]


def called(event, letters):
    with rights_of_group(MAILER):
        return mailer.answer(event, letters.ses)


def left(store):
    return {mail.id for mail in people.mails(store)}


# What leaves


def test_an_invitation_leaves_and_its_row_goes(letters, store, ada):
    people.invite(store, ada)
    [mail] = people.mails(store)

    assert send(letters, mail) == []

    [sent] = letters.sent()
    assert sent.subject == "Welcome to Keyhaven, Dave!"
    assert people.link_of(mail) in sent.body
    assert letters.addresses() == ["dave@example.com"]
    assert left(store) == set()


def test_a_record_whose_row_is_gone_was_sent_before(letters, store):
    """FT16"""
    mail = written()
    send(letters, mail)

    assert send(letters, mail, mail) == []

    assert letters.addresses() == ["dave@example.com"]


def test_mails_of_a_call_leave_in_their_order(letters, store):
    mails = [written(name) for name in ("dave", "eve", "frank")]

    assert send(letters, *mails) == []

    assert letters.addresses() == ["dave@example.com", "eve@example.com", "frank@example.com"]
    assert left(store) == set()


def test_the_stream_of_the_template_has_what_the_mailer_reads(letters, store):
    """A real stream, of the shape and the view the template gives the table."""
    mail = written()
    declared = tables(1, may_be_removable=False)["OutboxTable1"]["Properties"]
    rows = boto3.client("dynamodb", "us-east-2")
    rows.create_table(
        TableName="outbox",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=declared["KeySchema"],
        AttributeDefinitions=declared["AttributeDefinitions"],
        StreamSpecification={"StreamEnabled": True, **declared["StreamSpecification"]},
    )
    rows.put_item(TableName="outbox", Item=mail.serialize())
    rows.delete_item(TableName="outbox", Key={"id": {"S": mail.id}})

    read = records_of("outbox", "us-east-2")
    new = [each for each in read if each["eventName"] == "INSERT"]
    rows.delete_table(TableName="outbox")

    assert not any("secret" in str(each) or "dave" in str(each) for each in read)
    assert called({"Records": new}, letters) == {"batchItemFailures": []}
    assert letters.addresses() == ["dave@example.com"]


def records_of(table, region):
    arn = boto3.client("dynamodb", region).describe_table(TableName=table)["Table"]
    # Otherwise it asks at an address with the account in it, which the mock does not know.
    config = Config(account_id_endpoint_mode="disabled")
    streams = boto3.client("dynamodbstreams", region, config=config)
    described = streams.describe_stream(StreamArn=arn["LatestStreamArn"])["StreamDescription"]
    iterator = streams.get_shard_iterator(
        StreamArn=arn["LatestStreamArn"],
        ShardId=described["Shards"][0]["ShardId"],
        ShardIteratorType="TRIM_HORIZON",
    )
    return streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]


# What does not


@pytest.mark.parametrize("code", ["MessageRejected", "BadRequestException"])
def test_a_mail_that_is_refused_holds_back_no_other(letters, store, lines, code):
    mails = [written(name) for name in ("dave", "eve", "frank")]

    with refusing(letters.ses, code, only="eve@"):
        assert send(letters, *mails) == []

    assert letters.addresses() == ["dave@example.com", "frank@example.com"]
    assert left(store) == {mails[1].id}
    [line] = [each for each in lines() if "refused" in each]
    assert mails[1].id in line
    assert '"template": "invitation"' in line
    assert code in line


def test_what_is_refused_is_asked_for_once_however_long_another_of_its_batch_waits(
    letters, store, lines
):
    """FT16: Lambda delivers all again from the first record on that failed."""
    waits, refused = written("dave"), written("eve")

    with (
        refusing(letters.ses, "TooManyRequestsException", only="dave@"),
        refusing(letters.ses, "MessageRejected", only="eve@"),
    ):
        for _ in range(3):
            assert send(letters, waits, refused) == [waits.id]
    assert len([each for each in lines() if '"result": "refused"' in each]) == 1
    assert send(letters, waits, refused) == []

    assert letters.addresses() == ["dave@example.com"]
    assert left(store) == {refused.id}


def test_a_mail_of_an_unknown_template_is_refused(letters, store, lines):
    """A release that came later wrote it, and was taken back."""
    mail = written(template="of tomorrow")

    assert send(letters, mail, written("eve")) == []

    assert letters.addresses() == ["eve@example.com"]
    assert left(store) == {mail.id}
    assert "UnknownTemplate" in lines()[0]


@pytest.mark.parametrize("code", ["TooManyRequestsException", "SendingPausedException", "503"])
def test_what_may_pass_later_is_tried_again(letters, store, lines, code):
    mails = [written(name) for name in ("dave", "eve", "frank")]

    with refusing(letters.ses, code, only="eve@"):
        assert send(letters, *mails) == [mails[1].id]
    assert left(store) == {mails[1].id}
    assert send(letters, *mails[1:]) == []

    assert letters.addresses() == ["dave@example.com", "frank@example.com", "eve@example.com"]
    assert left(store) == set()
    assert '"result": "delayed"' in lines()[1]


def test_while_ses_is_out_of_reach_every_mail_waits(letters, store):
    mails = [written(name) for name in ("dave", "eve")]

    with unreachable(letters.ses):
        assert send(letters, *mails) == [mail.id for mail in mails]

    assert left(store) == {mail.id for mail in mails}
    assert send(letters, *mails) == []
    assert letters.addresses() == ["dave@example.com", "eve@example.com"]


def test_a_tenant_without_a_sender_keeps_its_mails(store):
    mail = written()
    event = {"Records": [record(mail)]}

    assert mailer.handler(event, None)["batchItemFailures"] == [{"itemIdentifier": f"1{mail.id}"}]

    assert left(store) == {mail.id}


def test_mails_for_which_the_call_has_no_time_left_wait_for_the_next(letters, store):
    soon, late = written("dave"), written("erin")
    with worn() as watch, deadline.within(mailer.LONGEST_MAIL + 1):
        with watch.slow(1):
            again = send(letters, soon, late)
        assert not deadline.allows(mailer.LONGEST_MAIL)

    assert again == [late.id]
    assert left(store) == {late.id}
    assert send(letters, late) == []
    assert len(letters.sent()) == 2


def test_when_the_storage_fails_the_call_does(letters, store):
    """So that it is made again as a whole; what has left by then has no row any more."""
    mails = [written(name) for name in ("dave", "eve")]

    with Failing(hooks.throttled, at=5, times=hooks.ALWAYS), pytest.raises(Unavailable):
        send(letters, *mails)
    assert send(letters, *mails) == []

    assert letters.addresses() == ["dave@example.com", "eve@example.com"]


def test_a_mail_whose_row_cannot_be_removed_leaves_three_times_at_most(letters, store, lines):
    """A day has a thousand tries, and people no patience for as many mails."""
    mail = written()
    only = {"BatchWriteItem"}

    for _ in range(5):
        with Failing(hooks.throttled, times=hooks.ALWAYS, only=only), suppress(Unavailable):
            send(letters, mail)

    assert letters.addresses() == ["dave@example.com"] * 3
    assert '"result": "unknown"' in lines()[-1]
    assert left(store) == {mail.id}


def test_a_mail_that_cannot_be_marked_does_not_leave(letters, store):
    mail = written()

    failing = Failing(hooks.throttled, times=hooks.ALWAYS, only={"TransactWriteItems"})
    with failing, pytest.raises(Unavailable):
        send(letters, mail)
    assert letters.sent() == []

    assert send(letters, mail) == []
    assert letters.addresses() == ["dave@example.com"]


def test_of_two_who_read_a_mail_one_sends_it(letters, store):
    mail = written()

    with Meanwhile(lambda: called({}, letters)):
        assert send(letters, mail) == [mail.id]
    assert send(letters, mail) == []

    assert letters.addresses() == ["dave@example.com"]


def test_whose_answer_is_lost_is_tried_three_times(letters, store, lines):
    """It may have left each time."""
    mail = written()

    with answer_lost(letters.ses):
        for _ in range(3):
            assert send(letters, mail) == [mail.id]
    assert send(letters, mail) == []

    assert letters.sent() == []
    assert '"result": "unknown"' in lines()[-1]


def test_what_ses_refuses_counts_as_no_try(letters, store):
    mail = written()

    for _ in range(5):
        with refusing(letters.ses, "TooManyRequestsException"):
            send(letters, mail)
    assert send(letters, mail) == []

    assert letters.addresses() == ["dave@example.com"]


def test_a_mail_does_not_leave_when_its_day_is_over(letters, store, lines, time):
    """FT16, FT18: rows are removed some time after they have expired."""
    mail = written()
    time.pass_by(hours=24)

    assert called({}, letters) == {"waiting": 0}
    assert send(letters, mail) == []

    assert letters.sent() == []
    assert left(store) == set()
    assert '"result": "expired"' in lines()[-1]


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.test/setup",
        "https://keyhaven.test.evil.test/setup",
        "https://keyhaven.test/setup\n\nhttps://evil.test",
        "https://keyhaven.test/setup https://evil.test",
    ],
)
def test_a_mail_leads_nowhere_but_to_the_tenant(letters, store, lines, link):
    """Whoever could write a row could have us send what they like to whom they like."""
    mail = Mail.to("dave@example.com", "invitation", first_name="Dave", link=link)
    mail.save()

    assert send(letters, mail) == []

    assert letters.sent() == []
    assert "ForeignLink" in lines()[-1]


def test_what_a_stranger_calls_themselves_becomes_no_link_for_administrators(letters, store, ada):
    """People who register themselves choose the name that others read."""
    people.let_in(ada)
    name = "Dave, https://evil.example/login"
    people.register(Client(), profile={"first_name": name, "last_name": "L"})
    [told] = [mail for mail in people.mails(store) if mail.template == "registered"]
    send(letters, told)
    [to_ada] = [mail for mail in people.mails(store) if mail.recipient == "ada@example.com"]
    send(letters, to_ada)

    [sent] = letters.sent()
    assert sent.subject == "Dave, https evil. example login just created an account on Keyhaven!"
    assert "evil.example" not in sent.body


def test_whoever_dies_has_lost_no_mail(letters, store):
    """FT01: it may be sent twice where the row was not yet removed."""
    for killing in kill_points(2):
        before = len(letters.sent())
        mail = written()
        with killing, pytest.raises(Killed):
            send(letters, mail)
        assert send(letters, mail) == []
        assert left(store) == set()
        assert len(letters.sent()) - before in (1, 2)


# To administrators


def test_a_mail_to_administrators_becomes_one_for_each(letters, store, ada, betty):
    make.user("carol", admin=True)
    mail = written(template="registered", recipient=ADMINISTRATORS)

    assert send(letters, mail) == []
    theirs = people.mails(store)
    assert letters.sent() == []
    assert send(letters, *theirs) == []

    assert sorted(letters.addresses()) == ["ada@example.com", "carol@example.com"]
    assert {each.subject for each in letters.sent()} == {
        "Dave just created an account on Keyhaven!"
    }
    assert {each.expires for each in theirs} == {mail.expires}
    assert left(store) == set()


def test_what_keeps_one_administrator_from_theirs_keeps_no_other(letters, store, ada):
    make.user("carol", admin=True)
    send(letters, written(template="registered", recipient=ADMINISTRATORS))
    theirs = people.mails(store)

    for _ in range(3):
        with refusing(letters.ses, "TooManyRequestsException", only="ada@"):
            assert len(send(letters, *theirs)) == 1

    assert letters.addresses() == ["carol@example.com"]


def test_a_mail_to_administrators_where_there_are_none_is_none(letters, store):
    mail = written(template="registered", recipient=ADMINISTRATORS)

    assert send(letters, mail) == []

    assert left(store) == set()
    assert letters.sent() == []


def test_whoever_dies_among_administrators_begins_again_and_writes_to_each_once(
    letters, store, ada
):
    """FT01"""
    make.user("carol", admin=True)
    for killing in kill_points(1):
        mail = written(template="registered", recipient=ADMINISTRATORS)
        with killing, pytest.raises(Killed):
            send(letters, mail)
        send(letters, mail)
        theirs = people.mails(store)
        assert sorted(each.recipient for each in theirs) == ["ada@example.com", "carol@example.com"]
        send(letters, *theirs)


# Digests


def changes_by(ada, betty, count):
    """Mails that tell Betty what Ada has done, one for each group she was added to."""
    rows = [written("betty", "group-added") for _ in range(count)]
    for number, row in enumerate(rows):
        row.user_id, row.actor = betty.id, ada.id
        row.params["name"] = f"Team {number}"
        row.save()
    return rows


def test_several_mails_of_a_kind_by_one_actor_become_one(letters, store, ada, betty):
    mails = changes_by(ada, betty, 3)
    other = written("dave")

    assert send(letters, mails[0], other, *mails[1:]) == []

    assert letters.addresses() == ["betty@example.com", "dave@example.com"]
    [digest, _] = letters.sent()
    assert digest.subject == "Ada Lovelace changed several things"
    for number in range(3):
        assert f"- Ada Lovelace added you to the group Team {number}" in sent_text(digest)
    assert left(store) == set()


def sent_text(mail):
    """What of a mail is seen, as text or as HTML."""
    return mail.body.replace("<li>", "- ")


def test_a_digest_that_has_to_wait_is_tried_again_as_a_whole(letters, store, ada, betty):
    mails = changes_by(ada, betty, 2)

    with refusing(letters.ses, "TooManyRequestsException"):
        assert send(letters, *mails) == [mail.id for mail in mails]
    assert left(store) == {mail.id for mail in mails}
    assert send(letters, *mails) == []

    assert letters.addresses() == ["betty@example.com"]


def test_a_digest_that_is_refused_is_no_part_of_a_later_one(letters, store, ada, betty):
    """FT16"""
    refused = changes_by(ada, betty, 2)
    with refusing(letters.ses, "MessageRejected"):
        assert send(letters, *refused) == []
    later = changes_by(ada, betty, 2)

    assert send(letters, *refused, *later) == []
    assert left(store) == {mail.id for mail in refused}
    assert called({}, letters) == {"waiting": 0}

    assert letters.addresses() == ["betty@example.com"] * 2
    assert {each.subject for each in letters.sent()} == {"Ada Lovelace changed several things"}


def test_of_a_digest_only_what_waits_is_told(letters, store, ada, betty):
    """FT16: what was sent before has no row any more."""
    mails = changes_by(ada, betty, 2)
    send(letters, mails[0])

    assert send(letters, *mails) == []

    assert letters.addresses() == ["betty@example.com"] * 2
    assert left(store) == set()


def test_whoever_dies_with_a_digest_has_lost_none_of_it(letters, store, ada, betty):
    """FT01"""
    for killing in kill_points(2):
        before = len(letters.sent())
        mails = changes_by(ada, betty, 2)
        with killing, pytest.raises(Killed):
            send(letters, *mails)
        assert send(letters, *mails) == []
        assert left(store) == set()
        assert len(letters.sent()) - before in (1, 2)


# A server of the organisation's own


@pytest.fixture
def relay(ada, store):
    with relays.serving() as relay:
        assert ada.client.post("/smtp/settings.json", relay.form()).status == 200
        for each in people.mails(store):
            each.delete()
        yield relay


def test_mails_leave_by_the_server_of_the_organisation_s_own(letters, store, relay):
    mails = [written(name) for name in ("dave", "eve")]

    assert send(letters, *mails) == []

    assert relay.recipients == ["dave@example.com", "eve@example.com"]
    assert relay.mails[0]["Subject"] == "Welcome to Keyhaven, Dave!"
    assert len(relay.sessions) == 1
    assert letters.sent() == []
    assert left(store) == set()


def test_what_such_a_server_refuses_for_good_holds_nobody_back(letters, store, relay, lines):
    """L1: the log has a word for why, and neither address nor password."""
    mail = written()
    relay.says["RCPT"] = "550 nobody of that name"

    assert send(letters, mail) == []

    assert left(store) == {mail.id}
    assert '"result": "refused", "step": "Recipient550"' in lines()[-1]
    assert not any(word in "".join(lines()) for word in ("dave@", relays.PASSWORD, relays.USERNAME))
    relay.says.clear()
    assert called({}, letters) == {"waiting": 0}


@pytest.mark.parametrize(
    ("says", "reason"),
    [({"MAIL": "451 not now"}, "Sender451"), ({"DATA": "452 full"}, "Mail452")],
)
def test_what_such_a_server_delays_is_tried_again(letters, store, relay, lines, says, reason):
    mail = written()
    relay.says = says

    for _ in range(5):  # which counts as no try: nothing has left
        assert send(letters, mail) == [mail.id]
    assert f'"result": "delayed", "step": "{reason}"' in lines()[-1]

    relay.says = {}
    assert send(letters, mail) == []
    assert relay.recipients == ["dave@example.com"]


def test_one_recipient_whom_such_a_server_puts_off_holds_others_back_for_minutes_alone(
    letters, store, relay, lines, time
):
    """As one whose address has a mistyped domain, or whose mailbox is full."""
    mail = written()
    time.pass_by(hours=2)  # for another reason
    relay.says = {"RCPT": "450 4.1.2 no such domain"}

    for _ in range(5):
        assert send(letters, mail) == [mail.id]
    time.pass_by(minutes=6)
    assert send(letters, mail) == [mail.id]
    time.pass_by(seconds=1)
    assert send(letters, mail) == []

    assert '"result": "refused", "step": "Recipient450"' in lines()[-1]
    relay.says = {}
    assert send(letters, mail) == []
    assert left(store) == {mail.id}
    assert called({}, letters) == {"waiting": 0}
    assert relay.recipients == ["dave@example.com"]


def test_what_such_a_server_may_have_taken_is_tried_three_times(letters, store, relay, lines):
    mail = written()
    relay.says["DATA"] = "nothing"

    for _ in range(3):
        assert send(letters, mail) == [mail.id]
    assert send(letters, mail) == []

    assert '"result": "unknown"' in lines()[-1]


def test_a_server_that_is_gone_is_not_passed_by(letters, store, relay):
    """SES does not take its place: who decides by which server mails leave is the organisation."""
    row = Setting.get(MAIL_RELAY)
    row.value = {**row.value, "form": {**row.value["form"], "port": 1}, "password": None}
    row.save()
    mail = written()

    assert send(letters, mail) == [mail.id]
    assert letters.sent() == []


def test_while_the_key_of_its_password_is_out_of_reach_every_mail_waits(
    letters, store, relay, lines, monkeypatch
):
    """FT19: which counts as no try"""
    mails = [written(name) for name in ("dave", "eve")]
    server_key.forget()
    with monkeypatch.context() as away:
        away.setattr(private_keys, "read", out_of_reach)
        for _ in range(5):
            assert send(letters, *mails) == [mail.id for mail in mails]
            assert {int(mail.tries) for mail in people.mails(store)} == {0}
    assert '"result": "delayed", "step": "NoPassword"' in lines()[-1]

    assert send(letters, *mails) == []
    assert relay.recipients == ["dave@example.com", "eve@example.com"]
    assert letters.sent() == []


def out_of_reach(_name):
    raise Unavailable


def test_a_password_that_does_not_open_counts_as_no_try(letters, store, relay, lines):
    row = Setting.get(MAIL_RELAY)
    stored = row.value
    row.value = {**stored, "password": "sealed to another key"}
    row.save()
    mail = written()

    for _ in range(5):
        assert send(letters, mail) == [mail.id]
    assert '"result": "delayed", "step": "NoPassword"' in lines()[-1]

    row.value = stored
    row.save()
    assert send(letters, mail) == []
    assert relay.recipients == ["dave@example.com"]


def test_another_server_is_told_of_by_ses_first(letters, store, relay, ada):
    """A server of somebody who would not let that mail through keeps it from nobody."""
    ada.client.post("/smtp/settings.json", relay.form(sender_name="Safe"))
    [notice] = people.mails(store)
    send(letters, notice)
    [mail] = people.mails(store)
    assert send(letters, mail) == []
    assert letters.addresses() == ["ada@example.com"]
    assert relay.mails == []

    ada.client.post("/smtp/settings.json", relay.form(sender_name="Safer"))
    [notice] = people.mails(store)
    send(letters, notice)
    [mail] = people.mails(store)
    with refusing(letters.ses, "MessageRejected"):
        assert send(letters, mail) == []
    assert relay.recipients == ["ada@example.com"]


# What is left


def test_called_without_records_it_sends_what_waits(letters, store):
    mails = [written(name) for name in ("dave", "eve")]
    with refusing(letters.ses, "MessageRejected"):
        send(letters, *mails)

    with refusing(letters.ses, "MessageRejected", only="eve@"):
        assert called({}, letters) == {"waiting": 1}
    assert called({}, letters) == {"waiting": 0}

    assert letters.addresses() == ["dave@example.com", "eve@example.com"]


def test_what_was_refused_and_then_has_to_wait_waits_for_the_next_call(letters, store):
    mail = written()
    with refusing(letters.ses, "MessageRejected"):
        send(letters, mail)

    with refusing(letters.ses, "TooManyRequestsException"):
        assert called({}, letters) == {"waiting": 1}
    assert send(letters, mail) == []
    assert left(store) == {mail.id}
    assert called({}, letters) == {"waiting": 0}

    assert letters.addresses() == ["dave@example.com"]


def test_nothing_in_the_log_tells_whom_or_what(letters, store, lines):
    """L1: the mail is named by its row."""
    mails = [written(name) for name in ("dave", "eve", "frank")]

    with refusing(letters.ses, "MessageRejected", only="dave@"):
        send(letters, mails[0])
    with refusing(letters.ses, "SendingPausedException", only="eve@"):
        send(letters, mails[1])
    send(letters, mails[2])

    said = "\n".join(lines())
    assert len(lines()) == 3
    assert all(mail.id in said for mail in mails)
    assert not any(word in said for word in ("@", "secret", "Dave", "Hello", "https"))
