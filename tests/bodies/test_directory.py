"""The settings of a directory as a form sends them, and as other clients do."""

from __future__ import annotations

import pytest

from chalicelib.bodies.directory.directory import PageBody, settings_sent
from chalicelib.bodies.draft import Draft


def sent(**members: object) -> object:
    return settings_sent(Draft(PageBody, members)).members["domains"]


@pytest.mark.parametrize("line", ["one.example two.example", " one.example, two.example\r\n"])
def test_servers_stand_in_one_line(line: str) -> None:
    assert sent(domains={"main": {"hosts": line}}) == {
        "main": {"hosts": ["one.example", "two.example"]}
    }


def test_certificates_end_their_lines_as_they_did_when_they_were_saved() -> None:
    """Else the password would have to be given again, as if they were others."""
    domain = {"hosts": ["one.example"], "ca_certificate": "-----BEGIN\r\nx\r\n"}

    assert sent(domains={"main": domain}) == {
        "main": {"hosts": ["one.example"], "ca_certificate": "-----BEGIN\nx\n"}
    }


def test_a_connection_may_be_called_by_a_number() -> None:
    assert sent(domains=[{"port": "389"}]) == {"0": {"port": "389"}}


@pytest.mark.parametrize("domains", [None, "x", {"main": "x"}])
def test_what_makes_no_sense_is_left_to_the_rules(domains: object) -> None:
    assert sent(domains=domains) == domains
