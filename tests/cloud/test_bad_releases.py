"""A build in which every handler fails reaches nobody: the release goes back, and ends there."""

from __future__ import annotations

import shutil
from zipfile import ZipFile

import pytest

from infra.bundle.archive import pack
from infra.bundle.bundle import built as bundle_in
from infra.checks.stacks import write
from infra.operate import builds, releasing
from infra.operate.registry import Registry
from infra.operate.steps import Failed, carry_out
from infra.template.functions import ALIAS, FUNCTIONS
from tests.cloud.given.commands import Operator
from tests.cloud.given.people import read, store
from tests.cloud.given.remote import sign_in

pytestmark = pytest.mark.cloud

ASKED_OF_ALL = "def refuse_old_version("
"""What every request is asked first, whatever it wants."""
BROKEN = """

def refuse_old_version(*_: object) -> None:
    raise ValueError("a bad build")
"""


@pytest.fixture(scope="module")
def bad(built, tmp_path_factory):
    """A folder in which a build lies that answers each request with 500."""
    folder = tmp_path_factory.mktemp("bad")
    shutil.copytree(built / "build", folder / "build")
    code = tmp_path_factory.mktemp("code")
    with ZipFile(folder / "build" / "code.zip") as archive:
        archive.extractall(code)
    module = code / "chalicelib" / "web" / "query.py"
    source = module.read_text(encoding="utf-8")
    assert ASKED_OF_ALL in source
    module.write_text(source + BROKEN, encoding="utf-8")
    for compiled in module.parent.glob("__pycache__/query.*"):
        compiled.unlink()
    pack(code, folder / "build" / "code.zip")
    write(folder / "build", bundle_in(folder / "build"))
    return folder


@pytest.fixture(scope="module")
def vandelay(operator):
    """A tenant with data, whom a release reaches first."""
    tenant = operator.onboard("vandelay")
    store(sign_in(tenant), "mail", "first")
    return tenant


@pytest.fixture(scope="module")
def kramer(operator):
    """Another, to whom a release comes later."""
    return operator.onboard("kramer")


@pytest.fixture(scope="module")
def refused(local_cloud, bad, vandelay, kramer):
    """What the release of the bad build has ended with."""
    releaser = Operator(local_cloud, bad)
    releaser.give("deploy")
    build = builds.read(bad / "build")
    entries = {each.tenant: each for each in Registry(releaser.account).every()}
    steps = [
        step
        for name in ("vandelay", "kramer")
        for step in releasing.steps(releaser.account, build, [entries[name]], 0)
    ]
    with pytest.raises(Failed) as failed:
        carry_out(steps, again="release")
    return str(failed.value)


def versions(tenant):
    functions = tenant.cloud.client("lambda")
    return {
        each.name: functions.get_function(
            FunctionName=f"{tenant.stack.name}-{each.name}", Qualifier=ALIAS
        )["Configuration"]["CodeSha256"]
        for each in FUNCTIONS
    }


def test_the_release_ends_with_the_first_tenant_and_says_which_requests_failed(refused):
    assert "Step 1 failed (wave 1: bring the build to vandelay)" in refused
    assert "UPDATE_ROLLBACK_COMPLETE" in refused
    assert "GET /auth/verify.json: 500" in refused


def test_the_alarm_of_accidents_rings_as_well(refused):
    assert "the alarm AuthAccidents rings" in refused


def test_all_functions_run_what_they_ran_before(refused, vandelay, kramer):
    assert set(versions(vandelay).values()) == set(versions(kramer).values())
    assert len(set(versions(vandelay).values())) == 1


def test_nothing_is_lost_and_people_sign_in(refused, vandelay):
    assert read(sign_in(vandelay)) == {"mail": "first"}


def test_a_good_build_is_released_after_it(refused, operator, vandelay):
    settings = ("--set", "SupportAddress=help@example.com")
    operator.give("deploy", "vandelay", *settings, "--instead")
    assert read(sign_in(vandelay)) == {"mail": "first"}
