"""`chalice package` writes the service as one function, as Chalice's users expect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chalice.cli.factory import CLIFactory

from chalicelib.endpoint_groups import Right
from infra.bundle import interpreter
from infra.template.functions import ONE_CORE

ROOT = Path(__file__).parents[2]


def config(stage):
    return CLIFactory(str(ROOT)).create_config_obj(chalice_stage_name=stage)


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_a_stage_is_complete(stage):
    found = config(stage)
    assert found.app_name == "keyhaven"
    assert found.lambda_python_version == interpreter.here()
    assert found.lambda_memory_size == ONE_CORE
    assert found.lambda_timeout < 29
    assert found.api_gateway_stage == "api"
    assert found.environment_variables == {"TABLE_PREFIX": f"keyhaven-{stage}-"}
    assert found.chalice_app.routes


def test_its_one_role_may_do_what_all_groups_may():
    found = config("dev")
    assert found.autogen_policy is False
    policy = json.loads((ROOT / ".chalice" / found.iam_policy_file).read_text())
    [rows] = (each for each in policy["Statement"] if "dynamodb:GetItem" in each["Action"])
    rights = (*Right.READ.value, *Right.WRITE.value)
    assert rows["Action"] == [f"dynamodb:{action}" for action in rights]
