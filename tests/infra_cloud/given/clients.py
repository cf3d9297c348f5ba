"""Clients of the tests and of what stands in for AWS. They carry a mark: who bears none is heard.

A call without the mark is taken for a command's, and held against the rights of the command's role
(`rights.py`).
"""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config

from tests.support.iam import REGION

_MARK = "of-a-test"


def client(service: str, region: str = REGION) -> Any:
    return boto3.client(service, region, config=Config(user_agent_extra=_MARK))


def is_of_a_test(config: Any) -> bool:
    return bool(config.user_agent_extra == _MARK)
