"""How far the rows of a tenant are brought to the forms that its release writes."""

from __future__ import annotations

from typing import Any

from chalicelib.services.operator.upgrades import READINGS_IN_LOGS
from chalicelib.tables.settings import UPGRADE
from infra.checks import forms
from infra.checks.forms import Manifest
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.steps import Failed
from infra.operate.tables import rows

Json = dict[str, Any]


def lines(account: Account, entry: Entry) -> list[str]:
    """A line for each table whose rows have been, or are being, brought to another form."""
    return [_line(table, told) for table, told in sorted(_progress(account, entry).items())]


def require_readable(account: Account, entry: Entry, after: Manifest) -> None:
    """Raise `Failed` where code that knows these forms may not follow what the tenant runs."""
    refused = forms.refusals(entry.forms, after)
    if refused:
        raise Failed("\n".join(["The release is refused for the forms of rows:", *refused]))
    progress = _progress(account, entry)
    tables = sorted({*entry.forms, *after})
    if left := [each for each in tables if _may_be_left(entry.forms, after, each, progress)]:
        raise Failed(
            f"Rows of {', '.join(left)} may still be of a form that the release does not read: "
            "wait until `status` says that their upgrade has ended."
        )


def _may_be_left(before: Manifest, after: Manifest, table: str, progress: Json) -> bool:
    """Whether there may be rows of a form that is no longer read.

    Rows of the highest form are there once the release after this one has run: then the upgrade
    brings them back, and has found some, or is about to look.
    """
    lowest, highest = forms.forgotten(before, after, table)
    told = progress.get(table)
    if told is None:
        return lowest
    is_idle = told["after"] is None and not told["rows"]
    return (lowest or (highest and not is_idle)) and told["ended"] is None


def _line(table: str, told: Json) -> str:
    done = _done(table, told)
    if told["ended"]:
        return f"{done}; all are of it since {told['ended']}"
    amid = "" if told["after"] is None else ", in which it is"
    return f"{done}; pass {told['passes']} from {told['due']}{amid}"


def _done(table: str, told: Json) -> str:
    if table == READINGS_IN_LOGS:
        days = f"{told['form']} days" if told["form"] else "ever"
        return f"{table}: {told['rows']} counted as known, and kept for {days}"
    return f"rows of {table}: {told['rows']} brought to form {told['form']}"


def _progress(account: Account, entry: Entry) -> Json:
    """What the tenant's sweeper has noted, by table."""
    return rows.setting(account, entry, UPGRADE)
