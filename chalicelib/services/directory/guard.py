"""The guard against mass removal: how many a run may take away unless somebody confirms it (P10).

A mistyped base, a narrower filter or a group that is not read any more look like many people who
have left. So what a run would take away is counted before it begins. A run that would remove too
many, or whose directory answers nothing at all, is refused until an administrator repeats in so
many words what it would do; the words hold for exactly these users, groups and memberships.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterator
from hashlib import sha256

from chalicelib.domain.directory.directory import Directory
from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass
from chalicelib.services.directory import members, people, teams
from chalicelib.services.directory.known import Known

MOST_REMOVED = 10
"""Users, or groups, that a run removes unasked, however many there are."""
A_FEW = 1
"""This many may be removed unasked, whatever share of all they are."""
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Removals:
    """What a run would take away, by the entries and memberships that go."""

    users: Collection[str]
    groups: Collection[str]
    memberships: Collection[str]
    is_silent: bool
    """Whether the directory answers nothing at all."""
    is_too_much: bool

    @property
    def words(self) -> str:
        """What an administrator repeats, with a mark that holds for exactly this."""
        counts = [(len(self.users), "users"), (len(self.groups), "groups")]
        counts += [(len(self.memberships), "memberships")] if self.memberships else []
        told = " and ".join(f"{count} {name}" for count, name in counts)
        ids = sorted([*self.users, *self.groups, *self.memberships])
        return f"remove {told} ({sha256(' '.join(ids).encode()).hexdigest()[:8]})"

    @property
    def sentence(self) -> str:
        cause = "the directory answers nothing at all" if self.is_silent else "this is a lot"
        return (
            f"It would {self.words.partition(' (')[0]} whom the directory does not have any more, "
            f"and {cause}: a base, a filter or a parent group may be wrong. If it is meant, send "
            f'the run with {{"confirm": "{self.words}"}}.'
        )

    @property
    def needs_words(self) -> bool:
        return self.is_silent or self.is_too_much


def removals(known: Known, directory: Directory) -> Removals:
    """Count what a run would take away."""
    users, groups = set(_users(known, directory)), set(_groups(known, directory))
    ended = set(_memberships(known, directory, {str(known.people[e].subject) for e in users}))
    related = sum(len(each) for each in known.relations.values())
    share = known.settings.removal_limit
    is_too_much = (
        _is_too_many(len(users), len(known.people), share)
        or _is_too_many(len(groups), len(known.teams), share)
        or (len(ended) > MOST_REMOVED and len(ended) * _PERCENT > share * related)
    )
    is_silent = not (directory.people or directory.teams)
    return Removals(users, groups, ended, is_silent, is_too_much)


def require_words(found: Removals, confirmed: str | None) -> None:
    """Refuse a run that would take away too much, unless somebody has said that it is meant."""
    if not found.needs_words:
        return
    if confirmed is None or not hmac.compare_digest(
        confirmed.strip().encode(), found.words.encode()
    ):
        raise Invalid(found.sentence, {"confirm": {"isConfirmed": found.words}})


def _is_too_many(going: int, linked: int, share: int) -> bool:
    return going > MOST_REMOVED or (going > A_FEW and going * _PERCENT > share * linked)


def _users(known: Known, directory: Directory) -> Iterator[str]:
    present = {person.id for person in directory.people}
    if known.settings.deletes_users:
        for entry, link in known.people.items():
            if entry not in present and people.removes(people.removal(known, link)):
                yield entry


def _groups(known: Known, directory: Directory) -> Iterator[str]:
    present = {team.id for team in directory.teams}
    if known.settings.deletes_groups:
        for entry, link in known.teams.items():
            if entry not in present and teams.removes(teams.removal(known, link)):
                yield entry


def _memberships(known: Known, directory: Directory, going: Collection[str]) -> Iterator[str]:
    """Memberships that end because the directory's group has somebody no more, who stays."""
    if not known.settings.updates_groups:
        return
    for team in directory.teams:
        link = known.teams.get(team.id)
        group = None if link is None else known.groups.get(str(link.subject))
        if group is not None and not group.deleted:
            for user, relation in members.ending(known, team, group):
                if user.id not in going:
                    yield relation.id
