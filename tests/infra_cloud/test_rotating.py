"""The key that signs a tenant's tokens, changed by a command."""

from __future__ import annotations

import sys

import pytest

from chalicelib.services.operator import signing_keys
from infra.command_line.entry import infra
from infra.operate.registry import ACTIVE, LEAVING, Registry
from tests.support.world.operator.rotation import named, own_place, require_clean

STEPS = (("--step", "next"), ("--step", "sign"), ("--step", "retire"), ("--at-once",))


@pytest.fixture
def give(cell, monkeypatch, capsys):
    """Gives a command on the tenant; returns what it shows, or says why it ends."""
    place = own_place()
    before = place.read()
    cell.set_up()
    Registry(cell.account).reserve(cell.entry("acme", state=ACTIVE))

    def given(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["infra", "rotate", "acme", *words])
        capsys.readouterr()
        try:
            infra()
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    yield given
    place.follow(place.read(), before.text)
    signing_keys.forget()


@pytest.fixture
def registry(cell):
    return Registry(cell.account)


def test_a_key_is_changed_in_three_steps_each_naming_the_next(give, registry, time):
    old = "The first key"
    shown = give("--step", "next")
    [_, new] = [jwk.get("kid") for jwk in signing_keys.stored().keys]
    assert f"{old} signs; {new} is published beside it." in shown
    sign = "keyhaven infra rotate acme --step sign"
    assert f"Next, from 2026-11-22T12:00:00+00:00 on: {sign}" in shown

    time.pass_by(hours=24)
    shown = give("--step", "sign")
    assert f"{old} signs until 2026-11-22T12:16:00+00:00, and {new} from then on." in shown
    retire = "keyhaven infra rotate acme --step retire"
    assert f"Next, from 2026-11-22T12:21:05+00:00 on: {retire}" in shown

    time.pass_by(minutes=22)
    assert f"{new} signs; {old} is still believed." in give()
    shown = give("--step", "retire")
    assert f"{new} signs, and no other is believed." in shown
    assert "To change it: keyhaven infra rotate acme --step next" in shown
    require_clean(own_place())
    assert registry.fetch("acme").work == ""


def test_to_look_changes_nothing(give, registry, digest):
    before = digest(), registry.fetch("acme")
    assert "1/1 ask how the keys stand" in give()
    assert (digest(), registry.fetch("acme")) == before


def test_a_key_somebody_knows_is_replaced_at_once(give, registry):
    before = named(signing_keys.stored())
    shown = give("--at-once")
    [new] = named(signing_keys.stored()) - before
    assert f"{new} signs, and no other is believed." in shown
    assert named(signing_keys.stored()) == {new}
    require_clean(own_place())
    assert registry.fetch("acme").work == ""


def test_what_is_too_early_is_said_and_is_nothing_unfinished(give, registry, digest):
    give("--step", "next")
    before = digest()
    refused = give("--step", "sign")
    assert "It is too early for 'sign', possible from 2026-11-22T12:00:00+00:00." in refused
    assert digest() == before
    assert registry.fetch("acme").work == ""
    assert "First comes the step 'sign', possible from 2026" in give("--step", "retire")


@pytest.mark.parametrize("words", STEPS, ids=" ".join)
def test_a_step_that_was_cut_short_is_in_no_others_way(give, cell, registry, words):
    cell.functions.breaks = "The server's key cannot be stored now."
    assert "founder failed: The server's key cannot be stored now." in give(*words)
    assert registry.fetch("acme").work == "rotate acme"

    cell.functions.breaks = ""
    give("--at-once")
    assert registry.fetch("acme").work == ""


@pytest.mark.parametrize("words", [(), *STEPS], ids=" ".join)
def test_a_build_from_before_keys_could_be_changed_is_told_apart(give, cell, registry, words):
    """Its founder knows nothing of them, and answers with the fingerprint, as to `{}`."""
    cell.functions.unknown = {"signing_keys"}
    before = signing_keys.stored()

    assert "The build it runs cannot change keys: release first." in give(*words)

    assert signing_keys.stored() == before
    assert registry.fetch("acme").work == ""


def test_keys_are_not_changed_while_another_command_is_at_work(give, registry, digest):
    """A restore puts back an earlier key set: the two must not meet."""
    registry.begin("acme", "restore acme 2026-11-21T08:00:00Z", ACTIVE)
    before = digest()
    assert "Another command on acme is not finished: restore acme" in give("--at-once")
    assert digest() == before
    assert "no other is believed" in give("--at-once", "--instead")


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


@pytest.mark.parametrize("words", [("--step", "turn"), ("--step", "next", "--at-once")])
def test_what_is_no_step_is_not_begun(give, words):
    assert give(*words) == "2"


def test_no_private_key_is_shown(give):
    assert "PRIVATE" not in "".join(give(*words) for words in STEPS)
