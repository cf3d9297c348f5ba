"""Each function finds the tables it may write, in a process of its own.

Whoever meets a large change carries it out, whatever rows it has. A table that no module has
declared cannot be written: in one process with all others, this would not be noticed.
"""

from __future__ import annotations

import pytest

from chalicelib.endpoint_groups import GROUPS, WORKERS, EndpointGroup
from tests.support.loading import loaded


@pytest.mark.parametrize("group", [*GROUPS, *WORKERS], ids=lambda group: group.name)
def test_a_function_finds_the_tables_it_may_write(group: EndpointGroup) -> None:
    assert group.writes | group.changes | group.removes <= loaded(group.name).tables
