"""Another administrator for a tenant, by two commands of two people."""

from __future__ import annotations

import re
import sys

import pytest

from infra.command_line.entry import infra
from tests.support.world.operator.operators import MAX, NORA, Person, an_sts

ASK = ("--ask", "edith@example.com", "Edith", "Lovelace", "--reason", "key lost, ticket 4711")


@pytest.fixture
def give(cell, monkeypatch, capsys):
    """Lets a person give a command on the tenant; returns what it shows, or says why it ends."""
    cell.set_up()
    cell.onboard("acme")

    def given(person: Person, *words: str) -> str:
        for name, value in person.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["infra", "break-glass", "acme", *words])
        capsys.readouterr()
        try:
            infra()
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    with an_sts(monkeypatch):
        yield given


def test_one_asks_and_another_grants(give):
    asked = give(MAX, *ASK)
    [command] = re.findall("--grant [0-9a-f-]{36}", asked)
    looked = give(NORA)
    refused = give(MAX, *command.split())
    granted = give(NORA, *command.split())

    assert "All administrators are told by mail." in asked
    assert f"{MAX.arn} asks for Edith Lovelace, edith@example.com, as an administrator" in looked
    assert command in looked
    assert "another person" in refused
    assert "edith@example.com gets the link to the setup by mail" in granted
    assert "/setup/start/" not in asked + looked + granted
    assert "Nothing is." in give(NORA)


def test_what_was_asked_for_is_withdrawn(give):
    asked = give(MAX, *ASK)
    [request_id] = re.findall("--withdraw ([0-9a-f-]{36})", asked)
    give(NORA, "--withdraw", request_id)

    assert "Nothing is." in give(MAX)
    assert "Nobody asks" in give(NORA, "--grant", request_id)


def test_why_is_always_said(give):
    assert "--reason go together" in give(MAX, *ASK[:4])
    assert "--reason go together" in give(MAX, "--reason", "none")


def test_a_dry_run_asks_for_nothing(give):
    assert "1 ask for edith@example.com as an administrator" in give(MAX, *ASK, "--dry-run")
    assert "Nothing is." in give(MAX)


def test_a_build_that_knows_no_break_glass_says_so(give, cell):
    cell.functions.unknown = {"break_glass"}

    assert "release first" in give(MAX)
