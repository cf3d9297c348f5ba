"""Each function that asks tables finds all there are, in a process of its own.

Whoever meets a row of a large change has to know what the change makes of it, and may carry it out,
whatever rows it has. In one process with all others, a table that no module has declared would not
be noticed.
"""

from __future__ import annotations

import pytest

from chalicelib.endpoint_groups import GROUPS, WORKERS, EndpointGroup
from chalicelib.tables import catalogue
from tests.support.loading import loaded

EVERY = {table.bare_name() for table in catalogue.tables()}
ASKING = [each for each in (*GROUPS, *WORKERS) if each.reads | each.writes | each.changes]


def test_who_asks_no_table_is_known() -> None:
    asking = {each.name for each in ASKING}
    assert {each.name for each in (*GROUPS, *WORKERS)} - asking == {"prober", "public"}


@pytest.mark.parametrize("group", ASKING, ids=lambda group: group.name)
def test_a_function_finds_every_table(group: EndpointGroup) -> None:
    assert loaded(group.name).tables == EVERY
