"""The key of a tenant's server, changed by a command."""

from __future__ import annotations

import json
import sys

import pytest

from chalicelib.domain import deadline
from chalicelib.services.operator import server_key, server_key_rotation
from chalicelib.tables.settings import SERVER_KEY, Setting
from chalicelib.tables.users.users import User
from infra.command_line.entry import infra
from infra.operate import server_keys
from infra.operate.registry import ACTIVE, LEAVING, Registry
from tests.support.world import make
from tests.support.world.keys import challenge
from tests.support.world.operator.server_keys import (
    NEXT,
    REMOVE,
    RETIRE,
    USE,
    kept_after,
    sealed_to,
    take,
)

A_TICK = 2.5
ANEW = "seal to the key in use what rests sealed to earlier ones"
STEPS = (
    *(("--step", step) for step in ("next", "use", "retire", "remove")),
    ("--at-once",),
    ("--reseal",),
)


@pytest.fixture
def place():
    with kept_after() as own:
        yield own


@pytest.fixture
def give(cell, place, monkeypatch, capsys):
    """Gives a command on the tenant; returns what it shows, or says why it ends."""
    cell.set_up()
    Registry(cell.account).reserve(cell.entry("acme", state=ACTIVE))

    def given(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["infra", "rotate", "acme", "--server-key", *words])
        capsys.readouterr()
        try:
            infra()
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    return given


@pytest.fixture
def registry(cell):
    return Registry(cell.account)


@pytest.fixture
def sealed(give, place, time):
    """One of everything that rests sealed to the key."""
    people = make.user("ada", admin=True), make.user("betty")
    return sealed_to(place.read().text, *people, time)


def test_a_key_is_changed_in_four_steps_each_naming_the_next(
    give, registry, place, sealed, cell, time
):
    old = server_key.in_use().fingerprint
    command = "keyhaven infra rotate acme --server-key --step"
    shown = give()
    assert f"{old} is in use, and there is no other." in shown
    assert f"To change it: {command} next" in shown

    shown = give("--step", "next")
    new = server_key_rotation.look(place).keys[-1].fingerprint
    assert f"{old} is in use; {new} is announced." in shown
    assert f"Next, from 2026-11-22T12:02:00+00:00 on: {command} use" in shown

    time.pass_by(hours=24)
    shown = give("--step", "use")
    assert f"{old} is in use until 2026-11-22T12:18:00+00:00, and {new} from then on." in shown
    assert f"Next, from 2026-11-29T12:18:00+00:00 on: {command} retire" in shown

    time.pass_by(days=7, minutes=16)
    assert f"{new} is in use; {old} still answers who knows it." in give()
    shown = give("--step", "retire")
    assert f"2/5 {ANEW}\n    5 sealed anew." in shown
    assert f"4/5 {ANEW}\n    0 sealed anew." in shown
    assert f"{new} is in use; {old} only opens what a restore may bring back." in shown
    assert f"Next, from 2027-01-04T12:18:00+00:00 on: {command} remove" in shown
    sealed.require_open()

    time.pass_by(days=36)
    shown = give("--step", "remove")
    assert "0 sealed anew." in shown
    assert f"{new} is in use, and there is no other." in shown
    sealed.require_open()
    assert registry.fetch("acme").work == ""


def test_sealing_anew_takes_as_many_calls_as_it_needs(give, cell, place, sealed, time):
    """The founder ends each within a minute; here every look at the clock takes a second."""
    take(NEXT, time)
    take(USE, time)
    time.pass_by(minutes=16)
    ticks = iter(range(100_000))
    deadline.set_source(lambda: next(ticks) * A_TICK)

    shown = give("--reseal")

    assert "5 sealed anew." in shown
    assert cell.functions.called.count({"server_key": "reseal"}) > 1
    sealed.require_open()


def test_to_look_changes_nothing(give, registry, digest):
    before = digest(), registry.fetch("acme")
    assert "1/1 ask how the keys stand" in give()
    assert (digest(), registry.fetch("acme")) == before


def test_a_key_somebody_knows_is_replaced_at_once(give, registry, place, sealed):
    before = server_key.in_use().fingerprint
    shown = give("--at-once")
    new = server_key.in_use().fingerprint
    assert new != before
    assert f"{new} is in use; {before} only opens what a restore may bring back." in shown
    assert f"3/4 {ANEW}\n    5 sealed anew." in shown
    sealed.require_open()
    assert registry.fetch("acme").work == ""


def test_a_key_that_was_replaced_is_unfinished_until_all_is_sealed_anew(
    give, cell, registry, sealed
):
    cell.functions.refused = {"reseal"}
    refused = give("--at-once")
    assert "Step 3 failed" in refused
    assert "made by a test" in refused
    new = server_key.in_use().fingerprint
    assert registry.fetch("acme").work == "rotate acme"

    cell.functions.refused = set()
    assert "5 sealed anew." in give("--reseal")
    assert server_key.in_use().fingerprint == new
    assert registry.fetch("acme").work == ""
    sealed.require_open()


def test_what_does_not_open_is_told(give, sealed):
    """Somebody else than the server has signed it."""
    row = User.get(sealed.who.id)
    public = server_key.in_use().armored_public_key
    row.totp = challenge("text", sealed.admin.key.private, public)
    row.save()
    assert "4 sealed anew. 1 do not open, and stay." in give("--at-once")


def test_what_is_too_early_is_said_and_is_nothing_unfinished(give, registry, digest):
    give("--step", "next")
    before = digest()
    assert "It is too early for 'use', possible from 2026-11-22T12:00:00+00:00." in give(
        "--step", "use"
    )
    assert "First comes the step 'use', possible from 2026" in give("--step", "retire")
    assert digest() == before
    assert registry.fetch("acme").work == ""


@pytest.mark.parametrize("words", STEPS, ids=" ".join)
def test_a_step_that_was_cut_short_is_in_no_others_way(give, cell, registry, words):
    cell.functions.breaks = "The server's key cannot be stored now."
    assert "founder failed: The server's key cannot be stored now." in give(*words)
    assert registry.fetch("acme").work == "rotate acme"

    cell.functions.breaks = ""
    give("--at-once")
    assert registry.fetch("acme").work == ""


@pytest.mark.parametrize("words", [(), *STEPS], ids=" ".join)
def test_a_build_from_before_the_key_could_be_changed_is_told_apart(
    give, cell, registry, place, words
):
    """Its founder knows nothing of it, and answers with the fingerprint, as to `{}`."""
    cell.functions.unknown = {"server_key"}
    before = place.read()

    assert "The build it runs cannot change keys: release first." in give(*words)

    assert place.read() == before
    assert registry.fetch("acme").work == ""


def test_the_key_is_not_changed_while_another_command_is_at_work(give, registry, digest):
    registry.begin("acme", "restore acme 2026-11-21T08:00:00Z", ACTIVE)
    before = digest()
    assert "Another command on acme is not finished: restore acme" in give("--at-once")
    assert digest() == before
    assert "only opens what a restore may bring back" in give("--at-once", "--instead")


def test_of_a_tenant_that_leaves_no_key_is_changed(give, registry, digest):
    registry.begin("acme", "offboard acme", ACTIVE)
    registry.end("acme", "offboard acme", state=LEAVING)
    before = digest()
    assert "The tenant acme is leaving, not active." in give("--step", "next")
    assert digest() == before


@pytest.mark.parametrize("words", [(), *STEPS], ids=" ".join)
def test_trying_says_the_steps_and_does_nothing(give, cell, registry, digest, words):
    before = digest(), registry.fetch("acme"), len(cell.functions.called)
    shown = give(*words, "--dry-run")
    assert shown.startswith("Nothing is done. Without --dry-run, the steps would be:\n1 ")
    assert (digest(), registry.fetch("acme"), len(cell.functions.called)) == before


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--step", "sign"), "the server's key has next, use, retire, remove."),
        (("--step", "turn"), "2"),
        (("--step", "next", "--at-once"), "2"),
        (("--reseal", "--at-once"), "2"),
    ],
)
def test_what_is_no_step_is_not_begun(give, cell, words, refusal):
    assert refusal in give(*words)
    assert not cell.functions.called


def test_no_private_key_is_shown(give, sealed):
    assert "PRIVATE" not in "".join(give(*words) for words in STEPS)


@pytest.fixture
def acme(cell, place):
    cell.set_up()
    cell.onboard()
    return Registry(cell.account).fetch("acme")


def told(cell, acme):
    """What `status` says, where the tenant has published what this process has."""
    row = {"name": {"S": SERVER_KEY}, "value": {"S": json.dumps(Setting.get(SERVER_KEY).value)}}
    settings = f"keyhaven-acme-{acme.epoch}-settings"
    cell.client("dynamodb").put_item(TableName=settings, Item=row)
    [line] = server_keys.lines(cell.account, acme)
    return line


def test_status_tells_how_the_key_stands(cell, acme, place, time):
    assert server_keys.lines(cell.account, acme) == []
    old = server_key.in_use().fingerprint
    assert told(cell, acme) == f"server key: {old}"

    take(NEXT, time)
    new = server_key_rotation.look(place).keys[-1].fingerprint
    says = "announced since 2026-11-21T12:00:00+00:00; next comes `--step use`"
    assert told(cell, acme) == f"server key: {new}, {says}"
    take(USE, time)
    says = "in use from 2026-11-22T12:16:00+00:00, and the one before it answers"
    assert told(cell, acme) == f"server key: {new}, {says}; next comes `--step retire`"
    take(RETIRE, time)
    says = "in use; the one before it is retired since 2026-11-29T12:16:00+00:00"
    assert told(cell, acme) == f"server key: {new}, {says}; next comes `--step remove`"
    take(REMOVE, time)
    assert told(cell, acme) == f"server key: {new}"
