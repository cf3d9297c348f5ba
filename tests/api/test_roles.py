"""Roles users have."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import find_uuid

MEMBERS = {
    *("id", "name", "description", "deleted", "created_by", "modified_by", "deleted_by"),
    *("created", "modified"),
}


def test_all_roles_are_listed_for_everybody(ada, betty):
    response = betty.client.get("/roles.json")

    told = {role["name"]: role["description"] for role in response.body}
    assert told == {
        "admin": "Organization administrator",
        "guest": "Non logged in user",
        "user": "Logged in user",
    }
    assert all(set(role) == MEMBERS and role["deleted"] is None for role in response.body)
    assert all(find_uuid(role["id"]) for role in response.body)
    assert "pagination" not in response.header
    assert ada.client.get("/roles.json").body == response.body


def test_users_have_a_role_of_the_list(ada):
    roles = {role["id"]: role for role in ada.client.get("/roles.json").body}

    me = ada.client.get("/users/me.json").body

    assert me["role"] == roles[me["role_id"]]


def test_no_role_is_deleted(ada, betty):
    assert ada.client.get("/roles.json?filter[is-deleted]=1").body == []
    assert len(ada.client.get("/roles.json?filter[is-deleted]=0").body) == 3
    assert len(betty.client.get("/roles.json?filter[is-deleted]=1").body) == 3


@pytest.mark.parametrize("query", ["contain[user_count]=1", "sort=Roles.name", "limit=1&page=9"])
def test_other_options_are_passed_over(ada, query):
    assert len(ada.client.get(f"/roles.json?{query}").body) == 3


@pytest.mark.parametrize("value", ["2", "yes", ""])
def test_a_switch_is_on_or_off(ada, value):
    """NP21"""
    assert ada.client.get(f"/roles.json?filter[is-deleted]={value}").status == 400


def test_guests_see_no_roles(api):
    assert api.get("/roles.json").status == 403


def test_administrators_may_ask_how_many_users_have_a_role(ada, betty, carol):
    counts = {
        role["name"]: role["user_count"]
        for role in ada.client.get("/roles.json?contain[user_count]=1").body
    }
    assert counts == {"admin": 1, "guest": 0, "user": 2}
    assert all(
        "user_count" not in role
        for role in betty.client.get("/roles.json?contain[user_count]=1").body
    )
