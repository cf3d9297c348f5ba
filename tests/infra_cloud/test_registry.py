"""The registry: a name is taken once, and one command at a time works on a tenant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra.operate.registry import ACTIVE, GONE, RESERVED, Entry, Registry
from infra.operate.steps import Failed

ACME = Entry("acme", "123/eu", "standard", parameters={"Dialect": "clients"}, is_own=True)
ANY = (ACTIVE, RESERVED)


@pytest.fixture
def registry(cell):
    cell.set_up()
    return Registry(cell.account)


def test_what_is_written_down_is_read_again(registry):
    registry.reserve(ACME)
    registry.reserve(Entry("abacus", "123/eu", "trial"))

    assert registry.fetch("acme") == ACME
    assert [entry.tenant for entry in registry.every()] == ["abacus", "acme"]


def test_a_tenant_that_is_not_there_is_named(registry):
    with pytest.raises(Failed, match="There is no tenant 'acme'"):
        registry.fetch("acme")
    with pytest.raises(Failed, match="There is no tenant 'acme'"):
        registry.begin("acme", "release", *ANY)
    assert registry.every() == []


def test_a_name_that_is_reserved_can_be_reserved_again_until_it_is_in_use(registry):
    registry.reserve(ACME)
    registry.reserve(ACME)
    registry.begin("acme", "onboard", *ANY)
    registry.end("acme", "onboard", state=ACTIVE)

    with pytest.raises(Failed, match="taken"):
        registry.reserve(ACME)


def test_a_name_that_another_command_has_reserved_is_taken_only_instead_of_it(registry):
    registry.reserve(replace(ACME, work="take over acme"))
    onboarding = replace(ACME, work="onboard acme")

    with pytest.raises(Failed, match=r"not finished: take over acme.*--instead"):
        registry.reserve(onboarding)
    assert registry.fetch("acme").work == "take over acme"

    registry.reserve(onboarding, instead=True)
    assert registry.fetch("acme") == onboarding


def test_a_name_in_use_is_not_taken_instead_of_anything(registry):
    registry.reserve(replace(ACME, state=ACTIVE))

    with pytest.raises(Failed, match="The name 'acme' is taken"):
        registry.reserve(ACME, instead=True)


def test_the_same_command_goes_on_where_it_was_cut_short(registry):
    registry.reserve(ACME)

    registry.begin("acme", "release", *ANY)
    assert registry.begin("acme", "release", *ANY).work == "release"


def test_a_command_learns_that_it_is_no_longer_at_work(registry):
    registry.reserve(ACME)
    registry.begin("acme", "release", *ANY)
    registry.require_at_work("acme", "release")

    registry.begin("acme", "hold", *ANY, instead=True)
    with pytest.raises(Failed, match="no longer at work on acme: `hold` was begun in its place"):
        registry.require_at_work("acme", "release")

    registry.end("acme", "hold")
    with pytest.raises(Failed, match="no longer at work on acme: it was ended elsewhere"):
        registry.require_at_work("acme", "release")


def test_another_command_waits_for_the_first(registry):
    registry.reserve(ACME)
    registry.begin("acme", "restore acme 2026-11-21T08:00:00Z", *ANY)

    with pytest.raises(Failed, match=r"not finished: restore acme 2026.*--instead"):
        registry.begin("acme", "release", *ANY)

    assert registry.fetch("acme").work == "restore acme 2026-11-21T08:00:00Z"


def test_who_comes_instead_takes_the_tenant_from_the_other(registry):
    registry.reserve(ACME)
    registry.begin("acme", "restore", *ANY)
    registry.begin("acme", "release", *ANY, instead=True)

    with pytest.raises(Failed, match="not finished: release"):
        registry.end("acme", "restore", epoch=2)
    assert registry.fetch("acme").epoch == 1

    registry.end("acme", "release", code="abc")
    assert registry.fetch("acme").work == ""
    assert registry.fetch("acme").code == "abc"


def test_who_is_not_in_the_state_a_command_is_for_is_left_alone(registry):
    registry.reserve(ACME)

    with pytest.raises(Failed, match="The tenant acme is reserved, not active or gone"):
        registry.begin("acme", "release", ACTIVE, GONE, instead=True)

    assert registry.fetch("acme") == ACME
