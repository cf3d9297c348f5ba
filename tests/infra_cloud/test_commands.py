"""The commands as they are given: what they refuse, what they say, and that trying is free."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta

import pytest

from infra.__main__ import main
from infra.checks.differences import differences
from infra.commands.run import COMMANDS
from infra.operate.registry import ACTIVE, Registry

ADMIN = ("--admin", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace")


@pytest.fixture
def give(cell, monkeypatch, capsys):
    """Gives a command in the cell's folder; returns what it shows, or says why it ends."""
    monkeypatch.chdir(cell.build.folder.parent)

    def given(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["infra", *words])
        capsys.readouterr()
        try:
            main()
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    return given


@pytest.fixture
def tenant(cell):
    cell.set_up()
    cell.onboard("acme")
    return cell


def state(cell):
    """All the deployer could have changed."""
    stacks = {name: stack.template for name, stack in cell.stacks.stacks.items()}
    entries = Registry(cell.account).every() if "keyhaven" in stacks else []
    called, reserved = len(cell.functions.called), dict(cell.functions.reserved)
    return json.dumps(stacks, sort_keys=True), entries, cell.tables(), called, reserved


def test_every_command_tells_what_it_is_for(give, capsys):
    for name, command in COMMANDS.items():
        assert give(name, "--help") == "0"
        assert command.DETAILS.split("\n")[0].split()[0] in capsys.readouterr().out


TRIED = [
    ("deploy",),
    ("deploy", "acme", "--set", "Dialect=specification"),
    ("onboard", "blue", *ADMIN),
    ("release",),
    ("restore", "acme", "--give-up"),
    ("restore", "acme", "--let-go"),
    ("offboard", "acme", "--export-to", "exports"),
    ("offboard", "acme", "--destroy", "--sure", "acme"),
]


@pytest.mark.parametrize("words", TRIED, ids=" ".join)
def test_trying_says_the_steps_and_does_nothing(tenant, give, words):
    before = state(tenant)
    tenant.stacks.asked.clear()

    shown = give(*words, "--dry-run")

    assert shown.startswith("Nothing is done. Without --dry-run, the steps would be:\n1 ")
    assert state(tenant) == before
    assert tenant.stacks.asked == []


def test_a_restore_can_be_tried_too(tenant, give):
    before = state(tenant)
    moment = datetime.now(UTC) - timedelta(hours=1)

    shown = give("restore", "acme", "--to", moment.isoformat(), "--dry-run")

    assert "check all rows against each other" in shown
    assert state(tenant) == before


def test_a_cell_and_a_tenant_from_nothing(cell, give):
    assert "3/3" in give("deploy", "--alarm-address", "ops@example.com")

    shown = give("onboard", "acme", *ADMIN, "--base-url", cell.address, "--own")

    assert "/setup/start/" in shown
    entry = Registry(cell.account).fetch("acme")
    assert (entry.state, entry.is_own) == (ACTIVE, True)
    assert "acme" in give("status")
    assert f"BaseUrl = {cell.address}" in give("status", "acme")


def test_status_tells_what_is_unfinished(tenant, give):
    Registry(tenant.account).begin("acme", "restore acme 2026-11-21T08:00:00Z", ACTIVE)

    [_, line] = give("status").splitlines()

    assert line.split()[:3] == ["acme", "active", "standard"]
    assert "unfinished: restore acme 2026-11-21T08:00:00Z" in line


def test_a_plan_shows_what_would_change_and_changes_nothing(tenant, give, tmp_path):
    tenant.next_build(tmp_path / "next")
    before = state(tenant)

    shown = give("plan", "acme", "--folder", "next")

    assert "Modify  AuthFunction (Lambda::Function)" in shown
    assert "Add     AuthVersion" in shown
    assert state(tenant) == before
    assert [each.change_sets for each in tenant.stacks.stacks.values()] == [{}, {}]


def test_a_plan_of_what_is_there_is_empty(tenant, give):
    assert give("plan", "acme") == "Nothing would change.\n"


def test_a_plan_needs_no_account_to_compare_builds(tenant, give, tmp_path):
    tenant.next_build(tmp_path / "next")

    shown = give("plan", "--against", "build", "--folder", "next", "--tier", "trial")

    assert "Modify  AuthFunction (Lambda::Function): Properties.Code.S3Key" in shown


def test_differences_are_told_to_where_they_lie():
    old = {"Resources": {"A": {"Type": "AWS::X", "Properties": {"n": 1}}, "B": {"Type": "AWS::Y"}}}
    new = {"Resources": {"A": {"Type": "AWS::X", "Properties": {"n": 2}}, "C": {"Type": "AWS::Z"}}}

    assert differences(old, new) == [
        "Remove  B (Y)",
        "Add     C (Z)",
        "Modify  A (X): Properties.n",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plan",), "Name a TENANT, or a folder with --against."),
        (("plan", "nobody"), "There is no tenant 'nobody' in this cell"),
        (("plan", "acme", "--folder", "nowhere"), "is missing; `python -m infra build` makes it"),
        (("deploy", "acme", "--set", "Dialect"), "Not NAME=VALUE: Dialect."),
        (("restore", "nobody", "--give-up"), "There is no tenant 'nobody'"),
        (("restore", "acme", "--to", "2020-01-01T00:00:00Z"), "from 35 days to five minutes ago"),
        (("offboard", "acme", "--destroy"), "Nobody can undo this. If you mean it"),
        (("offboard", "acme", "--destroy", "--sure", "other"), "Nobody can undo this."),
        (("onboard", "blue", *ADMIN, "--domain", "blue.example"), "has no certificate"),
        (("onboard", "blue", *ADMIN, "--removable"), "No parameter of the tier standard"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_done_is_refused_before_anything_is(tenant, give, words, said):
    before = state(tenant)

    assert said in give(*words)

    assert state(tenant) == before


@pytest.mark.parametrize(
    "words",
    [
        ("onboard", "Acme", *ADMIN),
        ("onboard", "a", *ADMIN),
        ("restore", "acme", "--to", "yesterday"),
        ("restore", "acme", "--to", "2026-11-21T08:00:00"),
        ("restore", "acme"),
        ("offboard", "acme"),
    ],
)
def test_a_command_that_is_none_is_not_begun(give, words):
    assert give(*words) == "2"


def test_a_build_of_other_code_is_refused(tenant, give):
    template = tenant.build.folder / "tenant-trial.json"
    template.write_text(template.read_text().replace("Keyhaven", "Kayhaven"))

    assert "was built from other code" in give("plan", "acme")


def test_a_restore_changes_no_code(tenant, give, tmp_path):
    tenant.next_build(tmp_path / "next")
    moment = (datetime.now(UTC) - timedelta(hours=1)).isoformat()

    assert "a restore changes the data alone" in give(
        *("restore", "acme", "--to", moment, "--folder", "next")
    )


def test_what_aws_refuses_is_one_sentence(cell, give):
    """Without a platform there is no registry."""
    assert give("status").startswith("AWS cannot be asked: ")
