"""The local cloud itself: for this machine alone, and gone when it is not needed any more."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.bundle.runtime import RUNTIME
from infra.local_cloud.process import running

pytestmark = [
    pytest.mark.cloud,
    pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="what listens is asked of Linux"),
]

PATIENCE = 10
LISTENS = "0A"
LOOPBACK = "0100007F"


def listening(pid):
    """Addresses and ports, in hexadecimal digits, at which a process waits for others."""
    links = []
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        # It opens and closes others meanwhile; what it listens at stays.
        with suppress(FileNotFoundError):
            links.append(str(descriptor.readlink()))
    own = {match[1] for link in links if (match := re.match(r"socket:\[(\d+)\]", link))}
    rows = [
        row.split()
        for table in ("tcp", "tcp6")
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    return {row[1] for row in rows if row[3] == LISTENS and row[9] in own}


def test_it_listens_to_this_machine_alone(local_cloud):
    assert listening(local_cloud.pid) == {f"{LOOPBACK}:{local_cloud.port:04X}"}


def running_in(session):
    """How many processes of a session run, without those that have ended."""
    found = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, _, _, its_session = stat.read_text().rpartition(")")[2].split()[:4]
            found += state not in "ZX" and int(its_session) == session
    return found


def run_a_function(cloud):
    """Have a process started for a function, which then waits for the next call."""
    code = BytesIO()
    with ZipFile(code, "w") as archive:
        archive.writestr("here.py", "def handler(event, context): return event")
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}
    document = {"Version": "2012-10-17", "Statement": [{**trust, "Action": "sts:AssumeRole"}]}
    role = cloud.client("iam").create_role(
        RoleName="here", AssumeRolePolicyDocument=json.dumps(document)
    )
    functions = cloud.client("lambda")
    functions.create_function(
        FunctionName="here",
        Runtime=RUNTIME,
        Handler="here.handler",
        Role=role["Role"]["Arn"],
        Code={"ZipFile": code.getvalue()},
    )
    return functions.invoke(FunctionName="here", Payload=b'"hello"')["Payload"].read()


def test_it_ends_with_all_it_runs(tmp_path):
    with running(tmp_path) as cloud:
        assert run_a_function(cloud) == b'"hello"'
        assert running_in(cloud.pid) == 2

    deadline = time.monotonic() + PATIENCE
    while running_in(cloud.pid):
        assert time.monotonic() < deadline, "what was killed takes a moment to end, not this long"
