"""Arguments that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path

from infra.installed import ROOT
from infra.operate import builds
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.steps import Failed

FOLDER = ROOT / "build"
_DAY = re.compile(r"(2[0-9]{3})-([0-9]{2})-([0-9]{2})", re.ASCII)
_TENANT = re.compile(r"[a-z][a-z0-9-]{1,30}")


def of_account(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--region",
        help="the region of the cell (default: AWS_DEFAULT_REGION, AWS_REGION, the profile's)",
    )


def of_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        *("--folder",),
        type=Path,
        default=FOLDER,
        help="where the build lies (default: build/ in the project's folder)",
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


def minutes(text: str) -> int:
    """Fewer than none would watch nothing and say that no alarm rings."""
    if not re.fullmatch("[0-9]{1,4}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of minutes")
    return int(text)


def day(text: str) -> date:
    """A day of the calendar, such as 2026-11-30."""
    parts = _DAY.fullmatch(text)
    with suppress(ValueError):
        if parts is not None:
            return date(*map(int, parts.groups()))
    raise argparse.ArgumentTypeError(f"{text!r} is no day; one is given as 2026-11-30")


def moment(text: str) -> datetime:
    """A second, with its zone said: whoever gives it may sit in another one."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"no moment: {text}") from None
    if read.tzinfo is None:
        raise argparse.ArgumentTypeError("a moment ends with its zone, as in 2026-11-21T08:00:00Z")
    return read.astimezone(UTC).replace(microsecond=0)


def account(options: argparse.Namespace) -> Account:
    """Of AWS, unless whoever gave the command has another."""
    made: Account = (options.account or Account)(options.region)
    return made


def build(options: argparse.Namespace) -> Build:
    return builds.read(options.folder)


def settings(given: Iterable[str]) -> dict[str, str]:
    """`NAME=VALUE`, several times."""
    pairs = [each.partition("=") for each in given]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise Failed(f"Not NAME=VALUE: {', '.join(wrong)}.")
    names = [name for name, _, _ in pairs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Failed(f"Given more than once: {', '.join(twice)}.")
    return {name: value for name, _, value in pairs}
