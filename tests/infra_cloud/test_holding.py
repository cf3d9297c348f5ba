"""The emergency stop of a tenant: nothing of it runs, and nothing of it is lost."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest

from infra.command_line.entry import infra
from infra.operate import releasing
from infra.operate.registry import ACTIVE, HELD, Registry
from infra.operate.steps import carry_out
from infra.template.functions import FUNCTIONS
from infra.template.tiers import PREMIUM


@pytest.fixture
def give(cell, monkeypatch, capsys):
    """Gives a command on a tenant that is in use; returns what it shows, or says why it ends."""
    cell.set_up()
    cell.onboard()

    def given(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["infra", *words])
        capsys.readouterr()
        try:
            infra()
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    return given


def test_none_of_its_functions_runs_until_it_is_woken(give, cell):
    give("hold", "acme")
    names = {f"keyhaven-acme-{each.name}" for each in FUNCTIONS}
    assert cell.functions.reserved == dict.fromkeys(names, 0)
    assert "held" in give("status")

    assert "functions answer again" in give("wake", "acme")
    assert cell.functions.reserved == {}
    assert Registry(cell.account).fetch("acme").work == ""


def schedules(cell, tenant="acme"):
    listed = cell.client("events").list_rules(NamePrefix=f"keyhaven-{tenant}-")["Rules"]
    return {each["Name"]: each["State"] for each in listed}


def test_its_schedules_call_nothing_meanwhile(give, cell):
    """What they called would go to the queue of failures, and ring there for two weeks."""
    called = {f"keyhaven-acme-{each.id}Schedule" for each in FUNCTIONS if each.group.is_scheduled}
    give("hold", "acme")
    assert schedules(cell) == dict.fromkeys(called, "DISABLED")

    give("wake", "acme")
    assert schedules(cell) == dict.fromkeys(called, "ENABLED")


def test_what_always_waits_is_let_go_and_waits_again(give, cell):
    """Lambda lets no more instances of a function wait than may run."""
    carry_out(cell.onboarding(replace(cell.entry("bigco"), tier="premium")), again="")
    waiting = {"keyhaven-bigco-auth": 1, "keyhaven-bigco-resources": 1}
    cell.functions.waiting = dict(waiting)

    give("hold", "bigco")
    assert (cell.functions.waiting, set(cell.functions.reserved.values())) == ({}, {0})

    give("wake", "bigco")
    assert cell.functions.waiting == waiting
    assert cell.functions.reserved == {"keyhaven-bigco-auth": PREMIUM.reserved}


def test_a_release_that_goes_on_keeps_nothing_of_it_from_answering(give, cell):
    """Held `--instead`: Lambda lets none wait by an alias that leads to two versions."""
    carry_out(cell.onboarding(replace(cell.entry("bigco"), tier="premium")), again="")
    give("hold", "bigco", "--instead")
    cell.functions.is_releasing = True

    said = give("wake", "bigco")

    assert cell.functions.reserved == {"keyhaven-bigco-auth": PREMIUM.reserved}
    assert set(schedules(cell, "bigco").values()) == {"ENABLED"}
    assert f"{len(FUNCTIONS)} functions answer again." in said
    assert "keyhaven-bigco-auth: " in said
    assert "Alias with weights can not be used" in said
    assert "give this again when it has ended" in said
    cell.functions.is_releasing = False
    give("wake", "bigco")
    assert cell.functions.waiting == {"keyhaven-bigco-auth": 1, "keyhaven-bigco-resources": 1}
    assert Registry(cell.account).fetch("bigco").work == ""


RIGHTS_OF_LATE = (
    "events:DisableRule",
    "events:EnableRule",
    *(f"lambda:{act}ProvisionedConcurrencyConfig" for act in ("Put", "Delete")),
)


def test_on_a_cell_whose_roles_are_of_before_all_functions_are_silenced_and_woken(give, cell):
    """Its deployers may not stop schedules, nor what waits; this they are told."""
    before = json.dumps(cell.watch.template)
    for right in RIGHTS_OF_LATE:
        before = before.replace(f'"{right}"', '"lambda:GetFunction"')
    cell.watch.template, cell.watch.refuses = json.loads(before), set(RIGHTS_OF_LATE)

    said = give("hold", "acme")

    assert cell.functions.reserved == dict.fromkeys(
        (f"keyhaven-acme-{each.name}" for each in FUNCTIONS), 0
    )
    assert f"{len(FUNCTIONS)} functions answer no more. AWS refuses this:" in said
    assert "keyhaven-acme-SweeperFunctionSchedule: " in said
    assert "events:DisableRule" in said
    assert "ProvisionedConcurrencyConfig" not in said
    assert f"{len(FUNCTIONS)} functions answer again. AWS refuses this:" in give("wake", "acme")
    assert cell.functions.reserved == {}


def test_what_its_stack_lists_and_has_not_is_passed_over(give, cell):
    """A deletion or an update that failed leaves such functions and schedules behind."""
    stack = cell.stacks.stacks["keyhaven-acme"]
    stack.left = {"SigninFunction": "keyhaven-acme-signin", "OldFunction": "keyhaven-acme-old"}
    cell.functions.gone = {"keyhaven-acme-old"}
    remove_rule(cell, stack.physical["SweeperFunctionSchedule"])

    assert f"{len(FUNCTIONS) + 1} functions answer no more." in give("hold", "acme")
    assert f"{len(FUNCTIONS) + 1} functions answer again." in give("wake", "acme")
    assert cell.functions.reserved == {}
    assert set(schedules(cell).values()) == {"ENABLED"}
    assert Registry(cell.account).fetch("acme").work == ""


def remove_rule(cell, name):
    events, plain = cell.client("events"), name.rpartition("/")[2]
    targets = events.list_targets_by_rule(Rule=plain)["Targets"]
    if targets:
        events.remove_targets(Rule=plain, Ids=[each["Id"] for each in targets])
    events.delete_rule(Name=plain)


def test_who_runs_another_build_is_held_and_woken_by_what_its_stack_has(give, cell):
    """It has no function of a group that came later, and one of a group that went."""
    stack = cell.stacks.stacks["keyhaven-acme"]
    for kept in (stack.physical, stack.template["Resources"]):
        kept.pop("MailerFunction")
        kept["SigninFunction"] = kept.pop("SmtpFunction")
    stack.physical["SigninFunction"] = "keyhaven-acme-signin"
    cell.functions.gone = {"keyhaven-acme-mailer", "keyhaven-acme-smtp"}

    give("hold", "acme")
    here = {f"keyhaven-acme-{each.name}" for each in FUNCTIONS} | {"keyhaven-acme-signin"}
    assert cell.functions.reserved == dict.fromkeys(here - cell.functions.gone, 0)

    give("wake", "acme")
    assert cell.functions.reserved == {}
    assert Registry(cell.account).fetch("acme").work == ""


def test_no_other_command_begins_on_it(give):
    give("hold", "acme")
    assert "Another command on acme is not finished: hold" in give("rotate", "acme", "--at-once")


def test_a_release_goes_past_it_and_comes_back_when_it_is_woken(give, cell, tmp_path):
    give("hold", "acme")
    entries = Registry(cell.account).every()
    build = cell.next_build(tmp_path / "next")
    assert releasing.steps(cell.account, build, entries, 0) == []

    give("wake", "acme")
    entries = Registry(cell.account).every()
    assert releasing.steps(cell.account, build, entries, 0)


def test_to_hold_again_is_to_hold(give, cell):
    give("hold", "acme")
    give("hold", "acme")
    assert Registry(cell.account).fetch("acme").work == HELD


def test_a_restore_that_it_took_the_place_of_is_still_told_of(give, cell):
    work = "restore acme 2026-11-21T08:00:00Z"
    Registry(cell.account).begin("acme", work, ACTIVE, restoring=work)
    assert give("status").count(f"unfinished: {work}") == 1

    give("hold", "acme", "--instead")
    assert f"held; unfinished: {work}" in give("status")
    give("wake", "acme")
    assert f"unfinished: {work}" in give("status")


def test_who_is_not_held_is_not_woken(give):
    assert "The tenant acme is not held" in give("wake", "acme")


def test_trying_says_the_steps_and_does_nothing(give, cell):
    for command in ("hold", "wake"):
        assert give(command, "acme", "--dry-run").startswith("Nothing is done.")
    assert cell.functions.reserved == {}
