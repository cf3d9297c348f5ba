from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import default

import pytest

from chalicelib.domain.operator.notices import Event
from chalicelib.post.relay import NotTaken, Relay
from infra.local_server import service
from infra.local_server.courier import Courier
from infra.local_server.mail import AT_A_TURN, PATIENCE, QUIET, PostOffice
from tests.support import relays


@dataclass
class Rendered:
    subject: str
    text: str
    html: str
    link: str


@dataclass
class Letter:
    id: str
    created: str = "2026-11-21T08:00:00+00:00"
    address: str = "ada@example.com"
    template: str = "welcome"
    locale: str = "en-UK"
    params: dict[str, str] = field(default_factory=lambda: {"name": "Ada", "token": "t"})
    relay: object = None


def render(template, params, locale):
    text = f"Dear {params['name']},\n"
    return Rendered(f"{template} ü", text, f"<p>{text}</p>", f"http://x/{params['token']}")


class Outbox:
    """Letters that wait, by identifier."""

    def __init__(self):
        self.letters = {}

    def put(self, number, **fields):
        letter = Letter(f"id-{number}", **fields)
        self.letters[letter.id] = letter
        return letter.id

    def deliver(self, mail_id, send):
        send(self.letters[mail_id])


@pytest.fixture
def outbox():
    return Outbox()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data" / "mail"


@pytest.fixture
def post(folder, outbox):
    return PostOffice(folder, render, outbox.deliver, "Keyhaven <keyhaven@localhost>")


def test_a_mail_is_a_file_that_mail_programs_read(post, outbox, folder):
    post.deliver(outbox.put(1))

    [file] = folder.iterdir()
    mail = message_from_bytes(file.read_bytes(), policy=default)
    assert file.suffix == ".eml"
    assert mail["To"] == "ada@example.com"
    assert mail["From"] == "Keyhaven <keyhaven@localhost>"
    assert mail["Subject"] == "welcome ü"
    assert mail["Date"].datetime.isoformat() == "2026-11-21T08:00:00+00:00"
    assert mail.get_content_type() == "multipart/alternative"
    text, html = mail.iter_parts()
    assert text.get_content().split() == ["Dear", "Ada,"]
    assert html.get_content_type() == "text/html"
    assert html.get_content().split() == ["<p>Dear", "Ada,", "</p>"]


def test_its_link_is_on_the_screen(post, outbox, capsys):
    post.deliver(outbox.put(1))

    assert capsys.readouterr().out == "Mail to ada@example.com: welcome ü\n  http://x/t\n"


def test_files_sort_by_time(post, outbox, folder):
    post.deliver(outbox.put(1, created="2026-11-21T09:00:00+00:00"))
    post.deliver(outbox.put(2, created="2026-11-21T08:00:00+00:00"))

    assert [file.name[-8:] for file in sorted(folder.iterdir())] == ["id-2.eml", "id-1.eml"]


@pytest.mark.parametrize("address", ["ada@example.com\nBcc: eve@example.com", "=?utf-8?q??=@x.com"])
def test_a_mail_that_cannot_be_written_is_told_of_and_hinders_none(
    post, outbox, folder, capsys, address
):
    """P14"""
    post.deliver(outbox.put(1, address=address))
    post.deliver(outbox.put(2))

    assert len(list(folder.iterdir())) == 1
    assert "cannot be written" in capsys.readouterr().out


def test_an_address_beyond_ascii_stays_as_it_is(post, outbox, folder):
    post.deliver(outbox.put(1, address="ädä@example.com"))

    [file] = folder.iterdir()
    assert "To: ädä@example.com" in file.read_text(encoding="utf-8")


def test_whoever_asks_waits_for_a_few_mails_and_not_for_all(post, outbox, folder):
    """What a request tells 500 people leaves in parts, and requests come between."""
    written_by_then = []

    async def serve():
        for number in range(2 * AT_A_TURN + 1):
            post.deliver_later(outbox.put(number))
        for _ in range(4):
            written_by_then.append(len(list(folder.iterdir())))
            await asyncio.sleep(0)

    asyncio.run(serve())
    assert written_by_then == [0, AT_A_TURN, 2 * AT_A_TURN, 2 * AT_A_TURN + 1]


class Loop(asyncio.SelectorEventLoop):
    """One whose clock stands still until it is moved."""

    now = 100.0

    def time(self):
        return self.now


def served(story):
    """Run what a test does while requests are served."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(story(runner.get_loop()))


def test_what_can_wait_leaves_one_by_one_once_nobody_asks(post, outbox, folder):
    written = []

    async def serve(loop):
        post.has_answered()
        for number in range(3):
            post.deliver_when_quiet(outbox.put(number))
        for passed in (0, QUIET / 2, QUIET / 2):
            loop.now += passed
            await asyncio.sleep(0)
            written.append(len(list(folder.iterdir())))
            if passed:
                post.has_answered()
        loop.now += QUIET
        for _ in range(3):
            await asyncio.sleep(0)
            written.append(len(list(folder.iterdir())))

    served(serve)
    assert written == [0, 0, 0, 1, 2, 3]


def test_what_can_wait_leaves_in_time_however_many_ask(post, outbox, folder):
    written = []

    async def serve(loop):
        for number in range(AT_A_TURN + 1):
            post.has_answered()
            post.deliver_when_quiet(outbox.put(number))
        loop.now += PATIENCE / 2
        post.has_answered()
        await asyncio.sleep(0)
        written.append(len(list(folder.iterdir())))
        loop.now += PATIENCE / 2
        post.has_answered()
        for _ in range(2):
            await asyncio.sleep(0)
            written.append(len(list(folder.iterdir())))

    served(serve)
    assert written == [0, AT_A_TURN, AT_A_TURN + 1]


def test_a_link_waits_for_no_quiet(post, outbox, folder):
    async def serve(_):
        post.has_answered()
        post.deliver_when_quiet(outbox.put(1))
        post.deliver_later(outbox.put(2))
        await asyncio.sleep(0)

    served(serve)
    assert [file.name[-8:] for file in folder.iterdir()] == ["id-2.eml"]


@pytest.mark.parametrize(
    ("template", "can_wait"),
    [
        (Event.RESOURCE_UPDATED, True),
        (Event.RESOURCE_SHARED, True),
        ("AN_register_user", False),
        ("AN_recover", False),
        (Event.SIGN_IN_REFUSED, False),
        ("of a later release", False),
    ],
)
def test_what_tells_of_changes_can_wait_and_a_link_cannot(template, can_wait):
    taken = []

    class Office:
        def deliver_when_quiet(self, mail_id):
            taken.append((mail_id, True))

        def deliver_later(self, mail_id):
            taken.append((mail_id, False))

    service.take({"id": {"S": "x"}, "template": {"S": template}}, Office())

    assert taken == [("x", can_wait)]


def test_a_mail_that_fails_keeps_none_from_leaving(post, outbox, folder):
    """P14: nor does it what comes later, as the mails do that one notice stands for."""
    failures = []

    async def serve():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
        post.deliver_later("nobody's")
        post.deliver_later(outbox.put(1))
        await asyncio.sleep(0)
        post.deliver_later(outbox.put(2))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(serve())
    assert [type(each) for each in failures] == [KeyError]
    assert len(list(folder.iterdir())) == 2


def test_no_id_leads_out_of_the_folder(post, outbox, folder):
    post.deliver(outbox.put("/../../x"))

    assert len(list(folder.iterdir())) == 1


def test_a_mail_server_of_the_organisation_s_own_is_handed_it_too(folder, outbox, capsys):
    """By a thread, so that no request waits. What it refuses is a file alone."""
    courier, seen = Courier(NotTaken), threading.Event()
    with relays.serving() as server:

        class Watched(Relay):
            def close(self):
                super().close()
                seen.set()

        def hand_over(letter, rendered):
            courier.take(Watched(letter.relay), letter.address, rendered)

        post = PostOffice(folder, render, outbox.deliver, "x@localhost", hand_over)
        post.deliver(outbox.put(1, relay=server.settings()))
        assert seen.wait(10)
        seen.clear()
        server.says["RCPT"] = "550 nobody"
        post.deliver(outbox.put(2, relay=server.settings()))
        assert seen.wait(10)

    assert [mail["Subject"] for mail in server.mails] == ["welcome ü"]
    assert len(list(folder.iterdir())) == 2
    assert "did not take a mail (Recipient550)" in capsys.readouterr().out
