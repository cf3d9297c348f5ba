"""`serve`: Keyhaven on this machine."""

from __future__ import annotations

import argparse
import os

from infra.local_server import serve

DETAILS = """\
Serves Keyhaven on the loopback address of this machine, for trying and developing, until Ctrl-C.
What is stored, keys and mails lie in one folder; deleting it begins anew. `make serve` does the
same. An option that is not given is read from the environment, by the name in capitals.
"""
_CHOICES = {
    "--port": "where to listen, 0 for any that is free (default: 8000)",
    "--data": "the folder of all that is stored (default: .local/ in the project's folder)",
    "--dialect": "`specification` (default), or `clients` as deployed clients speak",
    "--admin": "the first administrator's e-mail address",
    "--first-name": "of the first administrator",
    "--last-name": "of the first administrator",
    "--base-url": "the address people use, where it is another than this machine's",
    "--server-key": "first change the server's key: `next`, `use`, `retire`, `remove`, `replace`, "
    "`reseal`; `look` says how it stands",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    for option, about in _CHOICES.items():
        name = _variable(option)
        parser.add_argument(option, dest=name, metavar=name, help=about)


def run(options: argparse.Namespace) -> None:
    given = {name: getattr(options, name) for name in map(_variable, _CHOICES)}
    serve.main({**os.environ, **{name: value for name, value in given.items() if value}})


def _variable(option: str) -> str:
    """`--first-name` is `FIRST_NAME` of the environment."""
    return option.removeprefix("--").replace("-", "_").upper()
