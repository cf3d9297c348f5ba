"""A refusal holds for one moment: rows that change meanwhile are decided from again."""

from __future__ import annotations

import pytest

from chalicelib.tables.items.resources import Resource
from tests.support.faults.hooks import Once, Recorder
from tests.support.world import make
from tests.support.world.items.resources import path

NEVER = 1_000


def changing(resource_id, at):
    """Somebody else changes the resource before this read, and sees to nothing else."""
    row = Resource.get(resource_id)
    return Once(at, lambda: row.update(actions=[Resource.version.add(1)]))


@pytest.mark.parametrize(("at", "decisions"), [(NEVER, 1), (2, 2)])
def test_who_is_refused_is_decided_again_where_a_row_has_changed(ada, carol, at, decisions):
    resource_id = make.resource(ada)
    carol.client.get("/account/settings.json")
    with Recorder() as undisturbed:
        carol.client.get(path(resource_id))

    with changing(resource_id, at), Recorder() as seen:
        response = carol.client.get(path(resource_id))

    assert response.status == 404
    assert len(seen.calls) == decisions * len(undisturbed.calls)


def test_what_changes_all_the_time_is_a_conflict(ada, carol):
    resource_id = make.resource(ada)
    carol.client.get("/account/settings.json")
    with Recorder() as undisturbed:
        carol.client.get(path(resource_id))
    every = len(undisturbed.calls)

    class Restless(Once):
        def __call__(self, operation, parameters, send):
            self.at = self.seen + (self.seen + 1) % every  # before the last read of each decision
            return super().__call__(operation, parameters, send)

    row = Resource.get(resource_id)
    with Restless(0, lambda: row.update(actions=[Resource.version.add(1)])):
        response = carol.client.get(path(resource_id))

    assert response.status == 409
