"""`python -m infra` tells what it can do, and `build` writes only what is as it must be."""

from __future__ import annotations

import argparse
import json

import pytest

from infra.bundle.bundle import Bundle, CannotBuild
from infra.checks import stacks
from infra.checks.lint import linted
from infra.command_line.entry import infra
from infra.command_line.tree import INFRA
from infra.commands import build
from infra.installed import load
from infra.template.elements import NO_VALUE, resource
from infra.template.tiers import TIERS

BUNDLE = Bundle("c" * 16, "d" * 16)


def said(capsys, monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["infra", *arguments])
    with pytest.raises(SystemExit) as end:
        infra()
    output = capsys.readouterr()
    return end.value.code, output.out + output.err


def test_help_names_every_command(capsys, monkeypatch):
    code, text = said(capsys, monkeypatch, "--help")
    assert code == 0
    for name, command in INFRA.places.items():
        assert name in text
        assert command.about in " ".join(text.split())


@pytest.mark.parametrize("name", INFRA.places)
def test_each_command_tells_how_it_is_used(name, capsys, monkeypatch):
    details = load(INFRA.places[name].module).DETAILS
    code, text = said(capsys, monkeypatch, name, "--help")
    assert code == 0
    assert " ".join(details.split()) in " ".join(text.split())


def test_without_a_command_one_is_asked_for(capsys, monkeypatch):
    code, text = said(capsys, monkeypatch)
    assert code == 2
    assert "COMMAND" in text


def test_a_dry_run_writes_nothing(tmp_path, capsys):
    build.run(argparse.Namespace(folder=tmp_path / "build", dry_run=True))
    assert str(tmp_path / "build") in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_all_templates_are_written(tmp_path):
    written = stacks.write(tmp_path, BUNDLE)
    wanted = {f"tenant-{name}.json" for name in TIERS} | {"platform.json"}
    assert {path.name for path in written} == wanted
    for path in written:
        assert json.loads(path.read_text())["Resources"]


def test_a_wrong_template_is_not_written(tmp_path):
    """Code that cannot be named as a template needs it, such as one with a secret in it."""
    with pytest.raises(CannotBuild, match="looks like a secret"):
        stacks.write(tmp_path, Bundle("c" * 80, "d" * 16))
    assert list(tmp_path.iterdir()) == []


def test_what_the_linter_finds_is_told(tmp_path):
    template = {"Resources": {"Queue": resource("SQS::Queue", {"Nonsense": NO_VALUE})}}
    path = tmp_path / "template.json"
    path.write_text(json.dumps(template))
    assert any("Nonsense" in finding for finding in linted([path]))
