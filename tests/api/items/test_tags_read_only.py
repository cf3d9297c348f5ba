"""Tags of a service that shows them only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chalicelib.domain.ids import new_id
from tests.support.wire.served import Served, administrator, serving


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("read-only")
    with serving(folder, dialect="specification", TAGS="read-only") as served:
        yield served


def test_tags_are_shown_and_not_changed(service: Served) -> None:
    visitor = administrator(service).visitor
    assert visitor.body("GET", "/tags.json") == []

    for method in ("POST", "PUT", "DELETE"):
        response = visitor.request(method, f"/tags/{new_id()}.json", json={"tags": ["x"]})
        message = response.json()["header"]["message"]
        assert (response.status_code, message) == (403, "The tags plugin is in read-only mode.")
