from __future__ import annotations

from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default

import pytest

from infra.local_server.mail import PostOffice


@dataclass
class Rendered:
    subject: str
    text: str
    link: str


def render(template, params):
    return Rendered(f"{template} ü", f"Dear {params['name']},\n", f"http://x/{params['token']}")


def row(number, *, created="2026-11-21T08:00:00+00:00", recipient="ada@example.com"):
    return {
        "id": {"S": f"id-{number}"},
        "created": {"S": created},
        "recipient": {"S": recipient},
        "template": {"S": "welcome"},
        "params": {"M": {"name": {"S": "Ada"}, "token": {"S": "t"}}},
    }


def addresses_of(recipient):
    return {"all": ["ada@example.com", "betty@example.com"], "none": []}.get(recipient, [recipient])


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data" / "mail"


@pytest.fixture
def post(folder):
    return PostOffice(folder, render, addresses_of, "Keyhaven <keyhaven@localhost>")


def test_a_mail_is_a_file_that_mail_programs_read(post, folder):
    post.deliver(row(1))

    [file] = folder.iterdir()
    mail = message_from_bytes(file.read_bytes(), policy=default)
    assert file.suffix == ".eml"
    assert mail["To"] == "ada@example.com"
    assert mail["From"] == "Keyhaven <keyhaven@localhost>"
    assert mail["Subject"] == "welcome ü"
    assert mail["Date"].datetime.isoformat() == "2026-11-21T08:00:00+00:00"
    assert mail.get_content().split() == ["Dear", "Ada,"]


def test_its_link_is_on_the_screen(post, capsys):
    post.deliver(row(1))

    assert capsys.readouterr().out == "Mail to ada@example.com: welcome ü\n  http://x/t\n"


def test_files_sort_by_time(post, folder):
    post.deliver(row(1, created="2026-11-21T09:00:00+00:00"))
    post.deliver(row(2, created="2026-11-21T08:00:00+00:00"))

    assert [file.name[-8:] for file in sorted(folder.iterdir())] == ["id-2.eml", "id-1.eml"]


def test_a_mail_is_delivered_once(post, folder, capsys):
    post.deliver(row(1))
    post.deliver(row(1))

    assert len(list(folder.iterdir())) == 1
    assert capsys.readouterr().out.count("Mail to") == 1


@pytest.mark.parametrize("address", ["ada@example.com\nBcc: eve@example.com", "=?utf-8?q??=@x.com"])
def test_a_mail_that_cannot_be_written_is_told_of_and_hinders_none(post, folder, capsys, address):
    """P14"""
    post.deliver(row(1, recipient=address))
    post.deliver(row(2))

    assert len(list(folder.iterdir())) == 1
    assert "cannot be written" in capsys.readouterr().out


def test_an_address_beyond_ascii_stays_as_it_is(post, folder):
    post.deliver(row(1, recipient="ädä@example.com"))

    [file] = folder.iterdir()
    assert "To: ädä@example.com" in file.read_text(encoding="utf-8")


def test_no_id_leads_out_of_the_folder(post, folder):
    post.deliver(row("/../../x"))

    assert len(list(folder.iterdir())) == 1


def test_a_mail_to_several_is_one_mail(post, folder, capsys):
    post.deliver(row(1, recipient="all"))

    [file] = folder.iterdir()
    mail = message_from_bytes(file.read_bytes(), policy=default)
    to = [address.addr_spec for address in mail["To"].addresses]
    assert to == ["ada@example.com", "betty@example.com"]
    assert "Mail to ada@example.com, betty@example.com:" in capsys.readouterr().out


def test_a_mail_to_nobody_is_none(post, folder, capsys):
    post.deliver(row(1, recipient="none"))

    assert list(folder.iterdir()) == []
    assert capsys.readouterr().out == ""
