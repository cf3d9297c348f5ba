"""What a company's directory says, in tests that need no server of one; and runs over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.directory.directory import Directory, EntryId, Person, Team
from chalicelib.domain.directory.directory_settings import DirectorySettings
from chalicelib.domain.ids import named_id
from chalicelib.endpoint_groups import GROUPS
from chalicelib.services.directory import synchronisation
from chalicelib.services.directory.directory_settings import Standing
from chalicelib.services.directory.reports import Outcome, Report
from chalicelib.services.directory.synchronisation import Asked
from chalicelib.storage import reading
from chalicelib.tables.claims import GROUP, Claim
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User
from tests.support.faults.rights import rights_of_group
from tests.support.world.make import Somebody

LONG_AGO = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
"""When entries were made that say nothing else: before anything of a test's own."""
[DIRECTORY] = (group for group in GROUPS if group.name == "directory")
LATER = datetime(2027, 6, 1, tzinfo=UTC)


def entry_id(name: str) -> EntryId:
    return EntryId(named_id(f"entry of {name}"))


def person(
    name: str,
    first: str | None = None,
    last: str | None = "Lovelace",
    *,
    created: datetime = LONG_AGO,
    **further: Any,
) -> Person:
    return Person(
        **{
            "id": entry_id(name),
            "name": f"uid={name},ou=people,dc=example,dc=org",
            "created": created,
            "modified": created,
            "username": f"{name}@example.com",
            "first_name": name.title() if first is None else first,
            "last_name": last,
            **further,
        }
    )


def team(
    title: str,
    *members: Person,
    created: datetime = LONG_AGO,
    modified: datetime | None = None,
    **further: Any,
) -> Team:
    names = [member.name for member in members]
    return Team(
        **{
            "id": entry_id(f"group {title}"),
            "name": f"cn={title},ou=groups,dc=example,dc=org",
            "created": created,
            "modified": modified or created,
            "title": title,
            "members": names,
            "people": names,
            **further,
        }
    )


def directory(*entries: Person | Team) -> Directory:
    return Directory(
        [each for each in entries if isinstance(each, Person)],
        [each for each in entries if isinstance(each, Team)],
    )


def settings(administrator: Somebody, **further: Any) -> DirectorySettings:
    """Settings of a directory that nobody asks; a run may remove anybody, unless they say less."""
    names = dict.fromkeys(("default_user", "default_group_admin_user"), administrator.id)
    return DirectorySettings((), **{**names, "removal_limit": 100, **further})


def run(
    administrator: Somebody,
    *entries: Person | Team,
    confirm: str | None = None,
    row: Setting | None = None,
    meanwhile: Callable[[], object] = bool,
    **further: Any,
) -> Outcome:
    """Bring users and groups in step with a directory of these entries.

    It holds this row of the settings, or that there is none. What happens meanwhile does so while
    the directory is asked, once it has these entries to answer.
    """
    standing = Standing(settings(administrator, **further), row)
    actor = administrator.actor
    with rights_of_group(DIRECTORY):
        return synchronisation.carry_out(actor, standing, _asked(entries, meanwhile), confirm)


def rehearse(
    administrator: Somebody,
    *entries: Person | Team,
    meanwhile: Callable[[], object] = bool,
    **further: Any,
) -> Outcome:
    wanted = settings(administrator, **further)
    with rights_of_group(DIRECTORY):
        answer = _asked(entries, meanwhile)
        return synchronisation.rehearse(administrator.actor, wanted, answer)


def _asked(entries: Sequence[Person | Team], meanwhile: Callable[[], object]) -> Asked:
    def ask() -> Directory:
        Context().run(meanwhile)
        return directory(*entries)

    return synchronisation.asked(ask)


def told(reports: Sequence[Report]) -> list[tuple[str, str]]:
    """What was done and what came of it, of each report."""
    return [(report.action.value, report.status.value) for report in reports]


def user_named(name: str) -> User | None:
    """Who has this address now."""
    user_id = Claim.find_user_id(f"{name}@example.com")
    return None if user_id is None else reading.read([User.by_id(user_id)]).find(User, user_id)


def group_named(name: str) -> Group | None:
    key = Claim.group(name, "").key
    claim = reading.read([key]).find(Claim, GROUP, key.range_key)
    if claim is None:
        return None
    return reading.read([Group.by_id(claim.subject)]).find(Group, claim.subject)


def link_of(entry: Person | Team) -> DirectoryLink | None:
    model = Model.USERS if isinstance(entry, Person) else Model.GROUPS
    rows = reading.read([DirectoryLink.by_id(model, entry.id)])
    return rows.find(DirectoryLink, model.value, entry.id)


def later(moment: datetime, **span: float) -> datetime:
    return moment + timedelta(**span)
