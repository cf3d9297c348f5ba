"""A store outlives its release: the next one opens it, and the one before opens what that wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.tables.catalogue import tables
from integrity.invariants import violations
from tests.releases import stores, story
from tests.support.model.required import required

NOW = story.Release()
STORES = stores.every()


@pytest.fixture
def before(tmp_path: Path) -> story.Release:
    """The release before this one, where the history is here."""
    release = stores.code_of(stores.commit_of(STORES[-1]), tmp_path / "before")
    if release is None:
        pytest.skip("the history of the project is not here, and so no earlier code")
    return release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


def require_sound(folder: Path) -> None:
    found = violations(stores.rows(folder))
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("store", STORES, ids=stores.commit_of)
def test_what_a_release_has_stored_is_there_in_this_one(store: Path, tmp_path: Path) -> None:
    seen = stores.unpacked(store, tmp_path)

    assert story.look(NOW, tmp_path) == seen

    story.go_on(NOW, tmp_path)
    require_sound(tmp_path)


def test_what_this_release_stores_is_there_in_the_one_before(
    before: story.Release, folder: Path
) -> None:
    seen = story.write(NOW, folder)

    assert story.look(before, folder) == seen

    story.go_on(before, folder)
    require_sound(folder)


def test_a_release_that_was_taken_back_comes_again(before: story.Release, folder: Path) -> None:
    seen = story.write(before, folder)

    assert [story.look(each, folder) for each in (NOW, before, NOW)] == [seen] * 3

    story.go_on(NOW, folder)
    require_sound(folder)


@pytest.mark.parametrize("store", STORES, ids=stores.commit_of)
def test_what_a_table_requires_was_always_there(store: Path, tmp_path: Path) -> None:
    """What came later is optional, or belongs to another form: no list fails for lack of it."""
    stores.unpacked(store, tmp_path)
    rows = stores.rows(tmp_path)

    lacking = {
        (table.bare_name(), name)
        for table in tables()
        for row in rows.get(table.bare_name(), [])
        if "located_at" not in row  # the locator of a comment, which is a key and a place
        for name in required(table) - row.keys()
    }
    assert lacking == set()
    assert {"users", "groups", "resources", "holdings", "memberships"} <= rows.keys()
