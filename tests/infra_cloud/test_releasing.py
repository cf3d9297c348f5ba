"""Releases: waves, what ends them, and going on afterwards."""

from __future__ import annotations

import pytest

from infra.operate import cells, releasing
from infra.operate.registry import ACTIVE, LEAVING, RESERVED, Entry, Registry
from infra.operate.steps import Failed, carry_out


def entry(name, **further):
    return Entry(name, "123/eu", "standard", state=ACTIVE, **further)


def names(waves):
    return [[each.tenant for each in wave] for wave in waves]


def test_waves_are_our_own_tenants_one_in_twenty_and_the_rest():
    entries = [entry(f"t{number}") for number in range(40)] + [entry("own", is_own=True)]

    own, second, rest = names(releasing.waves(entries))

    assert own == ["own"]
    assert (len(second), len(rest)) == (2, 38)
    assert sorted(own + second + rest) == sorted(each.tenant for each in entries)
    assert names(releasing.waves(entries[::-1])) == [own, second, rest]


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (2, [1, 1]), (21, [2, 19])])
def test_the_second_wave_is_never_empty(count, sizes):
    waves = releasing.waves([entry(f"t{number}") for number in range(count)])
    assert [len(wave) for wave in waves] == sizes


def test_only_active_tenants_are_released_to():
    new, leaving = (Entry(state, "123/eu", "trial", state=state) for state in (RESERVED, LEAVING))
    assert releasing.waves([new, leaving]) == []


@pytest.fixture
def three(cell):
    cell.set_up()
    cell.onboard("acme")
    for number in ("own", "blue"):
        cell.functions.called.clear()
        steps = cell.onboarding(cell.entry(number, is_own=number == "own"))
        for step in (*steps[:5], steps[6]):
            step.do()
    return cell


def release(cell, build, watched=2):
    entries = Registry(cell.account).every()
    carry_out(
        [
            *cells.steps(cell.account, build, {}),
            *releasing.steps(cell.account, build, entries, watched),
        ],
        again="python -m infra release",
    )


def has(cell, build):
    return [each.tenant for each in Registry(cell.account).every() if releasing.has(each, build)]


def ring(cell, tenant):
    name = cell.stacks.stacks[f"keyhaven-{tenant}"].physical["AuthErrors"]
    cell.client("cloudwatch").set_alarm_state(
        AlarmName=name, StateValue="ALARM", StateReason="a test"
    )


def test_a_release_reaches_everybody_in_waves_and_watches_in_between(three, tmp_path, capsys):
    build = three.next_build(tmp_path / "next")

    release(three, build)

    said = [line for line in capsys.readouterr().out.splitlines() if "wave" in line]
    assert [line.partition("wave ")[2][0] for line in said] == ["1", "1", "2", "2", "3", "3"]
    assert "to own" in said[0]
    assert has(three, build) == ["acme", "blue", "own"]
    assert three.pauses.count(60) == 6
    function = three.stacks.stacks["keyhaven-acme"].template["Resources"]["AuthFunction"]
    assert function["Properties"]["Code"]["S3Key"] == build.bundle.code_key


def test_an_alarm_ends_a_release_and_given_again_it_goes_on(three, tmp_path):
    build = three.next_build(tmp_path / "next")
    ring(three, "own")

    with pytest.raises(Failed, match=r"own: Keyhaven, tenant own: auth: .*fails"):
        release(three, build)
    assert has(three, build) == ["own"]

    cloudwatch = three.client("cloudwatch")
    alarm = three.stacks.stacks["keyhaven-own"].physical["AuthErrors"]
    cloudwatch.set_alarm_state(AlarmName=alarm, StateValue="OK", StateReason="a test")
    three.stacks.asked.clear()
    release(three, build)

    assert has(three, build) == ["acme", "blue", "own"]
    assert "execute keyhaven-own" not in three.stacks.asked


def test_a_tenant_that_goes_back_ends_the_release(three, tmp_path):
    build = three.next_build(tmp_path / "next")
    new = next(
        name
        for name in three.stacks.stacks["keyhaven-own"].physical
        if name.startswith("AuthVersion")
    )
    three.stacks.fails = dict.fromkeys(versions(three, build, new), "the alarm rang")

    with pytest.raises(Failed, match="UPDATE_ROLLBACK_COMPLETE"):
        release(three, build)

    assert has(three, build) == []
    assert Registry(three.account).fetch("own").work == "release"
    three.stacks.fails = {}
    release(three, build)
    assert has(three, build) == ["acme", "blue", "own"]


def versions(cell, build, old):
    """Logical names the new versions of the function `auth` would have."""
    entry_ = Registry(cell.account).fetch("own")
    cells_steps = cells.steps(cell.account, build, {})
    for step in cells_steps:
        step.do()
    changes = releasing.planned(cell.account, build, entry_)
    assert changes is not None
    return [
        each.name
        for each in changes.changes
        if each.name.startswith("AuthVersion") and each.name != old
    ]


def test_a_release_to_everybody_who_has_it_does_nothing(three):
    entries = Registry(three.account).every()
    assert releasing.steps(three.account, three.build, entries, 10) == []


def test_a_tenant_at_which_another_command_is_at_work_is_not_touched(three, tmp_path):
    Registry(three.account).begin("own", "restore own 2026-11-21T08:00:00Z", ACTIVE)
    three.stacks.asked.clear()

    with pytest.raises(Failed, match="not finished: restore own"):
        release(three, three.next_build(tmp_path / "next"))

    assert "execute keyhaven-own" not in three.stacks.asked


def test_one_tenant_gets_other_settings(three):
    told = releasing.bring(
        three.account,
        three.build,
        "acme",
        work="deploy acme",
        parameters={"SupportAddress": "help@example.com"},
    )

    assert "resources changed" in told
    entry_ = Registry(three.account).fetch("acme")
    assert entry_.parameters["SupportAddress"] == "help@example.com"
    deployed = three.stacks.stacks["keyhaven-acme"].parameters
    assert deployed["SupportAddress"] == "help@example.com"


def test_a_setting_there_is_not_is_refused_before_anything_changes(three):
    three.stacks.asked.clear()

    with pytest.raises(Failed, match="No parameter of the tier standard: Nonsense"):
        releasing.bring(
            three.account, three.build, "acme", work="deploy acme", parameters={"Nonsense": "1"}
        )

    assert three.stacks.asked == []


def test_old_versions_go_and_the_last_three_and_those_in_use_stay(three):
    name = "keyhaven-acme-auth"
    three.functions.versions[name] = ["1", "2", "3", "4", "5", "6"]
    three.functions.alias = "2"

    releasing.bring(three.account, three.build, "acme")

    assert three.functions.versions[name] == ["2", "4", "5", "6"]
