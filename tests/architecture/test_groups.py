"""Endpoint groups: each loads what it serves and no more, and together they serve everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import app
from chalicelib.endpoint_groups import CATCH_ALL, GROUPS, OPENPGP_KEY, PRIVATE_KEYS, served
from chalicelib.storage.base import every_table
from infra.describe.openapi import description
from infra.endpoints import every_endpoint, everything
from tests.support.loading import loaded

ROOT = Path(__file__).parents[2]
NAMES = [group.name for group in GROUPS]
DESCRIBED = description()["paths"]
OPENPGP = {"pgpy", "pysequoia"}
NOWHERE = {
    "boto3",
    "moto",
    "requests",
    "hypothesis",
    "pytest",
    "infra",
}
"""For developing and testing; in the cloud they are weight at best."""
CHALICE_CLI = {"chalice.cli", "chalice.deploy", "chalice.package", "click", "inquirer"}
ROUTES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "chalicelib" / "routes").rglob("*.py")
    if path.stem != "__init__"
}


def package_of(modules):
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("group", NAMES)
def test_a_group_loads_the_routes_it_serves_and_no_others(group):
    [own] = served(group)
    assert loaded(group).modules & ROUTES == {
        f"chalicelib.routes.{module}" for module in own.modules
    }


@pytest.mark.parametrize("group", NAMES)
def test_only_groups_that_hold_private_keys_or_read_public_ones_load_openpgp(group):
    [own] = served(group)
    is_loaded = bool(package_of(loaded(group).modules) & OPENPGP)
    assert is_loaded == bool(own.private_keys or own.reads_public_keys)


@pytest.mark.parametrize("group", NAMES)
def test_no_group_loads_what_developing_needs(group):
    assert loaded(group).modules & (NOWHERE | CHALICE_CLI) == set()


@pytest.mark.parametrize("group", NAMES)
def test_no_group_loads_what_reads_pictures_before_there_is_one(group):
    assert "PIL" not in package_of(loaded(group).modules)


@pytest.mark.parametrize("group", NAMES)
def test_only_a_group_that_asks_directories_loads_what_asks_them(group):
    [own] = served(group)
    assert ("ldap3" in package_of(loaded(group).modules)) == own.asks_directory


def test_who_only_serves_everybody_loads_no_module_that_changes_settings_or_tells_of_it():
    """To know the caller, every function loads what the settings say of sign-ins and of SCIM."""
    changing = {
        *(
            "chalicelib.services.directory.scim_settings",
            "chalicelib.services.users.policies.mfa_edits",
        ),
        *(
            "chalicelib.bodies.directory.scim",
            "chalicelib.bodies.groups.groups",
            "chalicelib.tables.operator.notices",
        ),
    }
    assert loaded(CATCH_ALL).modules & changing == set()


def test_who_shows_or_takes_pictures_has_rights_to_them():
    using = {name for name in NAMES if "chalicelib.objects.storage" in loaded(name).modules}
    assert using == {group.name for group in GROUPS if group.avatars}


ONE_AT_MOST = {"/secret-revisions/resource/{resource_id}.json"}
"""Lists that are never too large: of revisions there is the active one."""

OF_LISTS = {"/directorysync/settings/test.json"}
"""Objects of lists, which may be as large."""


def lists(operation):
    """Whether the body of what an endpoint answers is a list."""
    answered = operation["responses"].get("200", {}).get("content", {})
    schema = answered.get("application/json", {}).get("schema", {})
    return schema.get("properties", {}).get("body", {}).get("type") == "array"


def test_who_lists_rows_may_leave_what_is_too_large_to_send():
    listing = {
        served.group.name
        for served in every_endpoint()
        if served.route.path in OF_LISTS
        or (
            served.route.path not in ONE_AT_MOST
            and lists(DESCRIBED[served.route.path][served.route.method.lower()])
        )
    }
    assert listing == {group.name for group in GROUPS if group.leaves_answers}


def test_every_routes_module_belongs_to_one_group():
    modules = [module for group in GROUPS for module in group.modules]
    assert len(set(modules)) == len(modules)
    assert {f"chalicelib.routes.{module}" for module in modules} == ROUTES


def test_what_routes_are_about_says_which_module_they_are_in():
    """The description of the API groups them by it."""
    nouns = [module.rpartition(".")[2] for module in ROUTES]
    assert len(set(nouns)) == len(nouns)


@pytest.mark.parametrize("group", GROUPS, ids=NAMES)
def test_every_group_serves_something(group):
    assert group.modules
    assert [served for served in everything() if served.group == group]


def test_groups_have_names_of_their_own():
    assert len(set(NAMES)) == len(NAMES)


def test_there_is_no_group_of_another_name():
    with pytest.raises(ValueError, match="nobody"):
        served("nobody")


def test_without_a_name_all_groups_are_served():
    assert served(None) == GROUPS
    registered = {(m, path) for path, methods in app.routes.items() for m in methods}
    declared = {
        (each.route.method, path) for each in everything() for path in each.route.gateway_paths()
    }
    assert registered == declared


def test_what_is_no_endpoint_goes_to_the_group_with_the_fewest_rights():
    [catch_all] = served(CATCH_ALL)
    assert not catch_all.reads
    assert not catch_all.adds | catch_all.changes | catch_all.writes
    assert not catch_all.holds_private_keys


def test_one_group_alone_holds_private_keys():
    assert [group.name for group in GROUPS if group.holds_private_keys] == ["auth"]
    holding = {group.name: group.private_keys for group in GROUPS if group.private_keys}
    assert holding == {
        "auth": PRIVATE_KEYS,
        "directory": {OPENPGP_KEY},
        "smtp": {OPENPGP_KEY},
    }


def test_groups_name_tables_that_exist():
    tables = {table.stored_as().removeprefix("test-") for table in every_table()}
    for group in GROUPS:
        named = group.reads | group.adds | group.changes | group.writes | group.scans
        assert named <= tables, group.name
