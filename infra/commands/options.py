"""Arguments that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path

from infra.operate import builds
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.steps import Failed

_TENANT = re.compile(r"[a-z][a-z0-9-]{1,30}")


def of_account(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--region", help="the region of the cell (default: as boto3 finds it)")


def of_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", type=Path, default=Path("build"), help="where the build lies (default: build)"
    )


def of_change(parser: argparse.ArgumentParser) -> None:
    """Of whatever changes something in an account."""
    of_account(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and do nothing"
    )


def of_tenant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tenant", metavar="TENANT", type=tenant_id, help="the tenant's name")


def of_work(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--instead",
        action="store_true",
        help="begin although another command on the tenant was not finished",
    )


def tenant_id(text: str) -> str:
    if not _TENANT.fullmatch(text):
        raise argparse.ArgumentTypeError(
            "a tenant's name is 2 to 31 lower-case letters, digits and hyphens, a letter first"
        )
    return text


def account(options: argparse.Namespace) -> Account:
    made: Account = options.account(options.region)
    return made


def build(options: argparse.Namespace) -> Build:
    return builds.read(options.folder)


def settings(given: Iterable[str]) -> dict[str, str]:
    """`NAME=VALUE`, several times."""
    pairs = [each.partition("=") for each in given]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise Failed(f"Not NAME=VALUE: {', '.join(wrong)}.")
    return {name: value for name, _, value in pairs}
