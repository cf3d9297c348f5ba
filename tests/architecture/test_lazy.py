"""What libraries import and nothing here uses is not run, and is whole when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from chalicelib.endpoint_groups import GROUPS, WORKERS
from tests.support.environment import ROOT
from tests.support.loading import loaded

DOCUMENTING = {"botocore.docs.service", "botocore.docs.method", "html.parser"}
BOTH = "from botocore.docs.docstring import LazyLoadedDocstring as base, WaiterDocstring as its"
NAMES = [each.name for each in (*GROUPS, *WORKERS)]


@pytest.mark.parametrize("name", NAMES)
def test_no_function_loads_what_writes_documentation(name: str) -> None:
    assert not DOCUMENTING & loaded(name).modules


def test_the_sweeper_does_not_look_which_http_2_is_installed() -> None:
    assert "importlib.metadata" not in loaded("sweeper").modules


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "import urllib3.http2 as http2; print(http2.inject_into_urllib3.__module__)",
            "urllib3.http2",
        ),
        ("from urllib3.http2 import probe; print(probe.__name__)", "urllib3.http2.probe"),
        ("import urllib3; print(urllib3.http2.probe.__name__)", "urllib3.http2.probe"),
        ("from botocore.docs import generate_docs; print(generate_docs.__name__)", "generate_docs"),
        (f"{BOTH}; print(issubclass(its, base))", "True"),
        ("from urllib3 import http2; print(hasattr(http2, 'nothing'))", "False"),
    ],
)
def test_who_asks_for_a_member_gets_it(asked: str, said: str) -> None:
    assert in_a_process(f"import chalicelib.storage.base\n{asked}") == f"{said}\n"


def test_who_has_loaded_it_already_keeps_it() -> None:
    assert (
        in_a_process(
            "import botocore.docs.docstring as before\nkept = before.ClientMethodDocstring\n"
            "import chalicelib.storage.base\nimport botocore.client as client\n"
            "print(client.ClientMethodDocstring is kept)"
        )
        == "True\n"
    )


def test_clients_of_boto3_work_beside_it() -> None:
    said = in_a_process(
        "import chalicelib.storage.base\nimport boto3\n"
        "client = boto3.client('dynamodb', region_name='eu-west-1')\n"
        "print(client.get_paginator('scan'), client.get_waiter('table_exists').name)"
    )
    assert "TableExists" in said


def in_a_process(code: str) -> str:
    """What a process says that has imported nothing yet."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ran.stdout
