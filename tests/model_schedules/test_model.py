"""The model's page, conditions and schedules say what the specification says."""

from __future__ import annotations

import re

from infra.model import conditions, metadata, trees
from infra.model.configurations import (
    ANSWERED,
    BY_NAME,
    CLEAN,
    CONFIGURATIONS,
    INVARIANTS,
    SPECIFICATION,
)
from infra.model.schedules import read

PROPERTIES = (*INVARIANTS, CLEAN, ANSWERED)
PAGE = SPECIFICATION.parent / "README.md"
NAMED = re.compile(r'(?:Holds\("([^"]+)")|(?:"([a-z]+: [^"]+)"\s*\\(?:not)?in\s+Dropped)')


def test_every_condition_of_the_specification_is_dropped_in_turn_and_no_other():
    named = {one or other for one, other in NAMED.findall(SPECIFICATION.read_text())}
    assert {condition.name for condition in conditions.CONDITIONS} == named


def test_the_page_has_the_table_of_conditions():
    """When this fails, put what `python -m infra.model.conditions` prints into the page."""
    assert conditions.table() in PAGE.read_text()


def test_the_page_names_every_configuration_and_property():
    page = PAGE.read_text()
    assert [each.name for each in CONFIGURATIONS if f"*{each.name}*" not in page] == []
    assert [name for name in PROPERTIES if f"`{name}`" not in page] == []


def test_the_model_of_trees_drops_every_condition_in_turn_and_no_other():
    text = trees.SPECIFICATION.read_text()
    named = {one or other for one, other in NAMED.findall(text)}
    named |= {f"{kind}: the item as read" for kind in ("move", "give", "take")}
    named |= {f"{kind}: what is around it as read" for kind in ("move", "give")}
    assert '": the item as read" ELSE ": what is around it as read"' in text
    assert {condition.name for condition in trees.CONDITIONS} == named
    assert {each.found_in for each in trees.CONDITIONS} <= trees.BY_NAME.keys()


def test_the_page_names_all_of_the_model_of_trees():
    page = PAGE.read_text()
    assert [each.name for each in trees.CONFIGURATIONS if f"*{each.name}*" not in page] == []
    assert [name for name in trees.INVARIANTS if f"`{name}`" not in page] == []
    assert conditions.table(trees.CONDITIONS) in page


def test_the_model_of_metadata_drops_every_condition_in_turn_and_no_other():
    text = metadata.SPECIFICATION.read_text()
    named = {one or other for one, other in NAMED.findall(text)}
    assert {condition.name for condition in metadata.CONDITIONS} == named
    assert {each.found_in for each in metadata.CONDITIONS} <= metadata.BY_NAME.keys()


def test_the_page_names_all_of_the_model_of_metadata():
    page = PAGE.read_text()
    assert [each.name for each in metadata.CONFIGURATIONS if f"*{each.name}*" not in page] == []
    assert [name for name in metadata.INVARIANTS if f"`{name}`" not in page] == []
    assert conditions.table(metadata.CONDITIONS) in page


def test_conditions_are_dropped_in_configurations_that_exist():
    assert {each.found_in for each in conditions.CONDITIONS} <= BY_NAME.keys()


def node(name, at, changer, *, header="none", lock="nobody", first=False):
    of = f"change |-> [known |-> {changer}], sweeper |-> [known |-> 0]"
    lines = [
        f'done = [change |-> 0]\n/\\ header = [change |-> "{header}"]',
        "lines = [change |-> {}]",
        f'at = [change |-> "{at}", sweeper |-> "scan"]\n/\\ of = [ {of} ]',
        f'row = [a |-> [ver |-> 1, val |-> {{"w"}}, lock |-> "{lock}"]]',
        'plain = [p |-> {}]\n/\\ truth = [a |-> {"w"}, p |-> {}]\n/\\ seen = << >>',
    ]
    label = "".join(f"/\\ {line}\n" for line in lines).strip()
    escaped = label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name} [label="{escaped}"{",style = filled" if first else ""}];'


GRAPH = read(
    "\n".join(
        [
            "strict digraph DiskGraph {",
            node(1, "begin", 0, first=True),
            node(-2, "lock_a", 0, header="pending"),
            node(3, "apply", 0, header="pending", lock="change"),
            node(4, "apply", 1, header="pending", lock="change"),
            node(5, "end", 0, header="gone"),
            '1 -> -2 [label="begin"];',
            '-2 -> 3 [label="lock"];',
            '-2 -> 5 [label="lock"];',
            '3 -> 4 [label="apply"];',
            '4 -> 5 [label="apply"];',
            "}",
        ]
    )
)


def test_a_step_tells_who_acts_what_they_do_and_what_lies_there_then():
    longest = max(GRAPH.covering(), key=lambda schedule: len(schedule.steps))
    assert [(step.actor, step.action) for step in longest.steps] == [
        ("change", "begin"),
        ("change", "lock_a"),
        ("change", "apply"),
        ("change", "apply"),
    ]
    locked = longest.steps[1].state
    assert locked.headers == {"change": "pending"}
    assert locked.rows["a"].lock == "change"
    assert locked.rows["a"].changes == {"w"}
    assert longest.order(("sweeper", "change")) == [1, 1, 1, 1]


def test_covering_schedules_take_every_step():
    lengths = sorted(len(schedule.steps) for schedule in GRAPH.covering())
    assert lengths == [2, 4]


def test_a_sample_is_the_same_for_the_same_seed():
    assert list(GRAPH.sample(20, seed=3)) == list(GRAPH.sample(20, seed=3))


def test_whoever_does_not_end_in_a_schedule_is_dead():
    for schedule in GRAPH.sample(200, seed=1):
        ended = schedule.steps and schedule.steps[-1].state.headers["change"] == "gone"
        assert schedule.dead == (frozenset() if ended or not schedule.steps else {"change"})
