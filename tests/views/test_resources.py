"""How resources look: from rows to the members of their format."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.views.items import resources as views
from chalicelib.views.items import secrets as secret_views
from chalicelib.views.items.holders import ShownHolders
from chalicelib.views.items.permissions import permissions_of

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NOW_TEXT = "2026-11-21T12:00:00+00:00"
READ, UPDATE, OWNER = PermissionType
V4 = {"name", "username", "uri", "description"}
V5 = {"metadata", "metadata_key_id", "metadata_key_type"}
METADATA = {"metadata": "pgp", "metadata_key_id": "key", "metadata_key_type": "user_key"}


def seen(
    *, place: str = "root", aros: str = "User", favorite: str | None = None, **fields
) -> SeenResource:
    kinds = aros.split()
    row = Resource(
        "resource",
        resource_type_id=resource_types.DEFAULT.id,
        permissions={
            f"holder{n}": Permission(f"permission{n}", aro, f"holder{n}", READ, NOW, NOW)
            for n, aro in enumerate(kinds)
        },
        created=NOW,
        modified=NOW,
        created_by="creator",
        modified_by="modifier",
        **fields,
    )
    holding = Holding("holder0", "resource", place=place, favorite_id=favorite)
    holding.favorite_created = NOW if favorite else None
    return SeenResource(row.serialize(), holding.serialize())


def test_a_resource_in_clear_has_the_members_of_its_format():
    shown = views.resource(seen(name="mail", uri=""))

    assert set(shown) >= V4
    assert not set(shown) & V5
    assert (shown["name"], shown["username"], shown["uri"]) == ("mail", None, "")


def test_a_resource_with_metadata_has_no_member_in_clear_not_even_null():
    shown = views.resource(seen(**METADATA))

    assert not set(shown) & V4
    assert {name: shown[name] for name in V5} == METADATA


@given(
    fields=st.dictionaries(
        st.sampled_from(["name", "username", "uri", "description"]), st.text(max_size=20)
    )
)
def test_texts_are_shown_as_they_are(fields):
    shown = views.resource(seen(**fields))

    assert {name: shown[name] for name in V4} == {**dict.fromkeys(V4), **fields}


@pytest.mark.parametrize(("place", "parent"), [("root", None), ("folder", "folder")])
def test_the_place_is_the_parent(place, parent):
    assert views.resource(seen(place=place))["folder_parent_id"] == parent


@pytest.mark.parametrize(
    ("aros", "personal"), [("User", True), ("Group", False), ("User User", False)]
)
def test_personal_is_what_one_user_alone_has(aros, personal):
    assert views.resource(seen(aros=aros))["personal"] is personal


def test_moments_are_utc_with_an_offset_and_whole_seconds():
    shown = views.resource(seen(expired=NOW))

    assert shown["created"] == shown["modified"] == shown["expired"] == NOW_TEXT


def test_nothing_of_the_row_but_its_members_is_shown():
    """W7"""
    shown = views.resource(seen(live_type_id="x", lock="x"))

    assert not {"permissions", "version", "live_type_id", "lock"} & set(shown)


def test_a_favorite_is_shown_or_null():
    without, marked = (with_favorite(each) for each in (seen(), seen(favorite="favorite")))

    assert without["favorite"] is None
    assert marked["favorite"] == {
        "id": "favorite",
        "user_id": "holder0",
        "foreign_key": "resource",
        "foreign_model": "Resource",
        "created": NOW_TEXT,
        "modified": NOW_TEXT,
    }


def with_favorite(each):
    shown = views.resource(each)
    views.add_favorite(each, shown)
    return shown


def test_a_creator_who_is_gone_is_null():
    shown, nobody = views.resource(seen()), ShownHolders.of({})
    views.add_creator(nobody, shown)
    views.add_modifier(nobody, shown)

    assert (shown["creator"], shown["modifier"]) == (None, None)


def test_every_permission_is_shown_with_its_holder():
    permissions = permissions_of(seen(aros="User Group").row)

    assert [(each["aro"], each["aro_foreign_key"], each["type"]) for each in permissions] == [
        ("User", "holder0", 1),
        ("Group", "holder1", 1),
    ]
    assert {each["aco_foreign_key"] for each in permissions} == {"resource"}


def test_a_secret_is_shown_whole():
    holding = Holding("me", "resource", **Holding.new_secret("pgp", "author", "revision"))

    shown = secret_views.secret(holding.serialize())

    assert set(shown) == {
        *("id", "user_id", "resource_id", "data", "created", "modified"),
        *("created_by", "modified_by", "secret_revision_id", "deleted"),
    }
    assert (shown["user_id"], shown["data"], shown["created_by"]) == ("me", "pgp", "author")
    assert (shown["secret_revision_id"], shown["deleted"]) == ("revision", None)
