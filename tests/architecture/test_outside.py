"""`python -m infra` where nothing is installed, or nothing is set: help, or what is missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from infra import overview
from tests.support.wire.served import ROOT

WITHOUT_PACKAGES = ("-S",)
"""Python without `site`, which is what finds the installed packages."""


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
    assert all(name in shown for name in overview.COMMANDS)


@pytest.mark.parametrize("name", overview.COMMANDS)
def test_help_of_a_command_says_what_it_is_for_and_what_its_arguments_wait_for(name):
    code, shown, errors = said(name, "--help")

    assert (code, errors) == (0, "")
    assert overview.COMMANDS[name] in " ".join(shown.split())
    assert "`make setup` installs all of it" in " ".join(shown.split())


@pytest.mark.parametrize(
    "words", [("status",), ("check",), ("onboard", "acme", "--admin", "ada@example.com")]
)
def test_a_command_says_what_is_missing(words):
    code, shown, errors = said(*words)

    assert (code, shown) == (2, "")
    assert errors.startswith("Keyhaven needs 'botocore', which ")
    assert errors.endswith(": `make setup` installs all of it, for .venv/bin/python.\n")
    assert errors.count("\n") == 1


def test_serving_says_what_is_missing():
    code, shown, errors = said(module="infra.local_server")

    assert (code, shown) == (2, "")
    assert errors.startswith("Keyhaven needs 'uvicorn', which ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    "words", [("--help",), *((name, "--help") for name in overview.COMMANDS)], ids=" ".join
)
def test_help_needs_no_environment(words):
    code, shown, errors = said(*words, options=())

    assert (code, errors) == (0, "")
    assert shown.startswith("usage: python -m infra")


def test_an_account_that_nothing_names_is_one_sentence():
    code, shown, errors = said("status", options=())

    assert (code, shown) == (1, "")
    assert errors == "AWS cannot be asked: You must specify a region.\n"


def test_an_account_without_credentials_is_one_sentence():
    code, shown, errors = said(
        "status", options=(), AWS_DEFAULT_REGION="eu-west-1", HOME=os.devnull
    )

    assert (code, shown) == (1, "")
    assert errors == "AWS cannot be asked: Unable to locate credentials\n"
