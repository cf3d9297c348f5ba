"""What runs in the cloud: the same from every build, complete, and nothing else."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from chalicelib.endpoint_groups import GROUPS, WORKERS
from infra.bundle import interpreter
from infra.bundle.archive import pack
from infra.bundle.bundle import LARGEST_LAYER, CannotBuild, build, built
from infra.bundle.layer import SERVICES
from infra.bundle.runtime import RUNTIME
from infra.bundle.symbols import blank
from infra.template.functions import FUNCTIONS
from tests.support.world import pictures

NEVER_SHIPPED = {
    *("boto3", "moto", "s3transfer", "pytest", "hypothesis", "cfnlint", "ministack", "pip"),
    *("infra", "tests", "bench", "setuptools", "cffi", "pycparser", "bin", "__pycache__"),
}
PICTURES = {
    "gif": pictures.written(pictures.plain("P", colour=3), "GIF"),
    "jpeg": pictures.written(pictures.plain(), "JPEG"),
    "jpeg, progressive": pictures.written(pictures.plain(), "JPEG", progressive=True),
    "jpeg of several pictures": pictures.written(
        pictures.plain(), "MPO", save_all=True, append_images=[pictures.plain()]
    ),
    "jpeg in four colours": pictures.written(pictures.plain("CMYK", colour=0), "JPEG"),
    "png": pictures.PNG,
    "png, transparent": pictures.written(pictures.plain("RGBA", colour=(1, 2, 3, 4))),
}
pytestmark = pytest.mark.cloud  # each build fetches what it ships
LARGEST_UNPACKED = 250_000_000
"""Bytes of code and layer together, which Lambda bounds."""


@pytest.fixture(scope="session")
def builds(tmp_path_factory) -> tuple[Path, Path]:
    """Two builds of the same code, made once for all processes of the tests."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / "bundles"
    shared.mkdir(exist_ok=True)
    folders = (shared / "first", shared / "second")
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for folder in folders:
            if not folder.exists():
                build(folder)
    return folders


@pytest.fixture(scope="module")
def unpacked(builds, tmp_path_factory) -> Path:
    """Code and layer where a function finds them, but for the name of the folder."""
    folder = tmp_path_factory.mktemp("function")
    for archive in ("code", "layer"):
        with ZipFile(builds[0] / f"{archive}.zip") as packed:
            packed.extractall(folder / archive)
    return folder


def names_in(archive):
    with ZipFile(archive) as packed:
        return packed.namelist()


def ran(unpacked, code, **env):
    """Run Python as a function does, with the bundle and the standard library alone."""
    paths = os.pathsep.join([str(unpacked / "code"), str(unpacked / "layer" / "python")])
    python = interpreter.find()
    assert python
    return subprocess.run(
        [python, "-S", "-c", code],
        cwd=unpacked / "code",
        env={
            "PYTHONPATH": paths,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_REGION": "eu-west-1",
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_two_builds_are_the_same(builds):
    first, second = builds
    for archive in ("code.zip", "layer.zip"):
        assert (first / archive).read_bytes() == (second / archive).read_bytes()
    assert built(first) == built(second)


def test_the_layer_is_small(builds):
    sizes = [(builds[0] / archive).stat().st_size for archive in ("code.zip", "layer.zip")]
    assert sizes[1] < LARGEST_LAYER
    unpacked = 0
    for archive in ("code.zip", "layer.zip"):
        with ZipFile(builds[0] / archive) as packed:
            unpacked += sum(each.file_size for each in packed.infolist())
    assert unpacked < LARGEST_UNPACKED


def test_nothing_for_developing_ships(builds):
    inside = {
        part
        for name in names_in(builds[0] / "layer.zip")
        for part in Path(name.removeprefix("python/")).parts[:1]
    }
    assert not inside & NEVER_SHIPPED
    assert {"botocore", "chalice", "cryptography", "PIL", "pgpy", "pynamodb"} <= inside
    chalice = {name for name in names_in(builds[0] / "layer.zip") if "/chalice/" in name}
    assert chalice == {"python/chalice/__init__.pyc", "python/chalice/app.pyc"}


def test_the_code_is_ours_alone(builds):
    names = names_in(builds[0] / "code.zip")
    tops = {Path(name).parts[0] for name in names}
    assert tops == {"app.py", "chalicelib", "__pycache__"}
    sources = {name for name in names if name.endswith(".py")}
    assert len([name for name in names if name.endswith(".pyc")]) == len(sources)


def test_botocore_knows_the_services_that_are_called(builds):
    described = {
        Path(name).parts[3]
        for name in names_in(builds[0] / "layer.zip")
        if name.startswith("python/botocore/data/") and len(Path(name).parts) > 4
    }
    assert described == set(SERVICES)


@pytest.mark.parametrize("group", [group.name for group in GROUPS])
def test_a_function_starts_and_answers(unpacked, group):
    """Its first request: a path that is none, which no storage is asked for."""
    code = (
        "import app, json\n"
        "event = {'requestContext': {'httpMethod': 'GET', 'resourcePath': '/{proxy+}'},"
        " 'path': '/nothing', 'headers': {}}\n"
        "print(json.dumps(app.app(event, None)['statusCode']), app.__file__)"
    )
    run = ran(unpacked, code, ENDPOINT_GROUP=group)
    assert run.stdout == f"404 {unpacked / 'code' / 'app.py'}\n", run.stderr


@pytest.mark.parametrize("worker", [worker.name for worker in WORKERS])
def test_a_worker_starts(unpacked, worker):
    [function] = (each for each in FUNCTIONS if each.name == worker)
    module, _, name = function.handler.rpartition(".")
    run = ran(unpacked, f"from {module} import {name}; print(callable({name}))")
    assert run.stdout == "True\n", run.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_a_client_of_each_service_opens(unpacked, service):
    code = (
        "from chalicelib import aws\n"
        "from chalicelib.domain.deadline import Patience\n"
        f"client = aws.client({service!r}, Patience(tries=1, connect=1, answer=1))\n"
        "print(client.meta.service_model.service_name, client.meta.endpoint_url)"
    )
    run = ran(unpacked, code)
    assert run.stdout.startswith(f"{service} https://"), run.stderr


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_read_as_here(unpacked, tmp_path, name):
    file = tmp_path / "picture"
    file.write_bytes(PICTURES[name])
    code = (
        "from chalicelib.objects.pictures import squares\n"
        f"print([made[:3] for made in squares(open({str(file)!r}, 'rb').read(), (80,))])"
    )
    run = ran(unpacked, code)
    assert run.stdout == "[b'\\xff\\xd8\\xff']\n", run.stderr


def test_keys_and_messages_are_read_as_here(unpacked):
    key = (Path(__file__).parents[1] / "fixtures" / "keys" / "server_curve.private.asc").read_text()
    code = (
        "import pysequoia, pgpy, jwt, sys\n"
        f"key, _ = pgpy.PGPKey.from_blob({key!r})\n"
        f"print(pysequoia.Cert.from_bytes({key!r}.encode()).fingerprint == "
        "str(key.fingerprint).lower(), jwt.__version__)"
    )
    run = ran(unpacked, code, PYTHONWARNINGS="ignore")
    assert run.stdout.startswith("True"), run.stderr


def test_an_archive_does_not_depend_on_times_and_order(tmp_path):
    for name, files in (("a", ("x", "y")), ("b", ("y", "x"))):
        (tmp_path / name).mkdir()
        for at, file in enumerate(files):
            (tmp_path / name / file).write_text(file)
            os.utime(tmp_path / name / file, (at * 1000, at * 1000))
        pack(tmp_path / name, tmp_path / f"{name}.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_what_is_no_library_is_left_as_it_is(tmp_path):
    text = tmp_path / "libtext.so"
    text.write_bytes(b"INPUT(libother.so)")
    blank(text)
    assert text.read_bytes() == b"INPUT(libother.so)"


@pytest.fixture
def older(monkeypatch, tmp_path) -> Path:
    """A machine whose one Python is 3.11, and a folder where it looks for programs."""
    monkeypatch.setattr(sys, "version_info", (3, 11, 9))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    return tmp_path


def test_another_python_does_not_build(older):
    """Its bytecode would be passed over."""
    with pytest.raises(CannotBuild, match=r"run on python3\.12.*this is python3\.11"):
        build(older)


def test_another_python_builds_with_the_functions_own_beside_it(older):
    (older / RUNTIME).symlink_to(sys.executable)
    assert interpreter.find() == RUNTIME


def test_a_name_that_runs_nothing_is_passed_over(older, monkeypatch):
    shim, chosen = older / RUNTIME, older / "versions" / "3.12.1" / "bin" / RUNTIME
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert interpreter.find() is None
    chosen.parent.mkdir(parents=True)
    chosen.symlink_to(sys.executable)
    monkeypatch.setenv("PYENV_ROOT", str(older))
    assert interpreter.find() == str(chosen)
