"""`python -m infra` where nothing is installed, or nothing is set: help, or what is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from infra.bundle.bundle import built
from infra.checks.stacks import write
from infra.command_line.tree import INFRA
from tests.support.wire.served import ROOT

WITHOUT_PACKAGES = ("-S",)
"""Python without `site`, which is what finds the installed packages."""

NO_CREDENTIALS = (
    "This asks the account, and no credentials are found: set AWS_PROFILE, or take a role.\n"
)


def said(*words, module="infra", options=WITHOUT_PACKAGES, **environment):
    """Exit code, output and errors of a python that knows our code alone."""
    done = subprocess.run(
        [sys.executable, *options, "-m", module, *words],
        cwd=ROOT,
        env={"AWS_EC2_METADATA_DISABLED": "true", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_needs_nothing_installed(word):
    code, shown, errors = said(word)

    assert (code, errors) == (0, "")
    assert all(name in shown for name in INFRA.places)


@pytest.mark.parametrize("name", INFRA.places)
def test_help_of_a_command_says_what_it_is_for_and_what_its_arguments_wait_for(name):
    code, shown, errors = said(name, "--help")

    assert (code, errors) == (0, "")
    assert INFRA.places[name].about in " ".join(shown.split())
    assert "build` installs all of it" in " ".join(shown.split())


@pytest.mark.parametrize(
    "words", [("status",), ("check",), ("onboard", "acme", "--admin", "ada@example.com")]
)
def test_a_command_says_what_is_missing(words):
    code, shown, errors = said(*words)

    assert (code, shown) == (2, "")
    assert errors.startswith("Keyhaven needs 'botocore', which ")
    assert f": `make -C {ROOT} build` installs all of it, for " in errors
    assert errors.endswith(f"{ROOT}/.venv/bin/keyhaven, which takes the same words.\n")
    assert errors.count("\n") == 1


def test_serving_says_what_is_missing():
    code, shown, errors = said(module="infra.local_server")

    assert (code, shown) == (2, "")
    assert errors.startswith("Keyhaven needs 'uvicorn', which ")
    assert errors.count("\n") == 1


_HELPING = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from infra.command_line.entry import infra

helped = {}
for words in sys.argv[1:]:
    with redirect_stdout(StringIO()) as shown, redirect_stderr(StringIO()) as errors:
        try:
            infra(words.split())
        except SystemExit as end:
            helped[words] = end.code, shown.getvalue(), errors.getvalue()
print(json.dumps(helped))
"""
HELPS = ["--help", *(f"{name} --help" for name in INFRA.places)]


@pytest.fixture(scope="module")
def helped():
    """How commands end that are asked for help, and what they say: one python asks all of them."""
    done = subprocess.run(
        [sys.executable, "-c", _HELPING, *HELPS],
        cwd=ROOT,
        env={"AWS_EC2_METADATA_DISABLED": "true"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("words", HELPS)
def test_help_needs_no_environment(words, helped):
    code, shown, errors = helped[words]

    assert (code, errors) == (0, "")
    assert shown.startswith("usage: python -m infra")


def test_an_account_that_nothing_names_is_one_sentence():
    code, shown, errors = said("status", options=())

    assert (code, shown) == (1, "")
    assert errors == "No region is named: give --region, or set AWS_REGION.\n"


@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_an_account_without_credentials_is_one_sentence(name):
    code, shown, errors = said("status", options=(), HOME=os.devnull, **{name: "eu-west-1"})

    assert (code, shown) == (1, "")
    assert errors == NO_CREDENTIALS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A build, as far as the commands look at it."""
    folder = tmp_path_factory.mktemp("build")
    for archive in ("code.zip", "layer.zip"):
        (folder / archive).touch()
    write(folder, built(folder))
    return str(folder)


ONBOARD = ("onboard", "acme", "--admin", "ada@example.com", "--first-name", "A", "--last-name", "L")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("deploy",), "1/4 create what the tenants share, if it is not there\n"),
        (ONBOARD, ""),
        ((*ONBOARD, "--dry-run"), "What is given is right. The account is asked for the rest.\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_without_credentials_the_rest_is_told_first(words, told, folder):
    at = {"HOME": os.devnull, "AWS_REGION": "eu-west-1"}

    code, shown, errors = said(*words, "--folder", folder, options=(), **at)

    assert (code, shown, errors) == (1, told, NO_CREDENTIALS)
