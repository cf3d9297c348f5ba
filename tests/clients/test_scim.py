"""What an independent conformance tester of SCIM finds, against a served process: no fault."""

from __future__ import annotations

import json
import subprocess
from collections import Counter

import pytest

from tests.clients.conftest import HERE
from tests.support.world import scim

WELL = {"SUCCESS", "COMPLIANT", "ACCEPTABLE"}


@pytest.fixture(scope="module")
def checks(served, people, client_python):
    """Each check, with what came of it and why."""
    ada = people["ada"]
    ada.visitor.body("POST", scim.SETTINGS, scim.settings_body(ada.id))
    asked = {"url": f"{served.url}/scim/v2/{scim.SETTING_ID}", "token": scim.TOKEN}
    done = subprocess.run(
        [client_python("scim2-tester"), HERE / "scim_visit.py"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_tester_finds_no_fault(checks):
    """Nothing is skipped either: what it asks for is there."""
    assert [check for check in checks if check[1] not in WELL] == []


def test_the_tester_has_tried_everything(checks):
    """People and groups are made, found, replaced, changed in part and deleted."""
    tried = Counter(title for title, _, _ in checks)
    for title in (
        *("object_creation", "object_query", "object_replacement", "object_deletion"),
        *("check_add_attribute", "check_remove_attribute", "check_replace_attribute"),
        *("search_with_attributes", "random_url", "query_all_schemas"),
    ):
        assert tried[title] >= 1, tried
    assert len(checks) > 50
