"""The page about the company's directory: its settings as a form, and what a run or a trial told.

No password is on it. Whatever the directory or a client says is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from chalicelib.domain.directory.directory import Directory, Person, Team
from chalicelib.domain.directory.directory_settings import DEFAULT_FIELDS
from chalicelib.domain.errors import FieldErrors
from chalicelib.domain.ids import UserId, find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.services.directory.directory_settings import Stored
from chalicelib.services.directory.reports import Outcome, Report
from chalicelib.tables.users.users import User
from chalicelib.views import fields, pages
from chalicelib.views.pages import Document

MOST_SHOWN = 1_000
"""Lines of a list; what is more is counted."""
_FIRST_DOMAIN = "main"
_JOBS = (
    ("sync_users_create", "Invite people who are new in the directory"),
    ("sync_users_update", "Rename people as the directory has them"),
    ("sync_users_delete", "Remove people whom the directory does not have any more"),
    ("sync_groups_create", "Make groups that are new in the directory"),
    ("sync_groups_update", "Rename groups, and let members join and leave"),
    ("sync_groups_delete", "Delete groups that the directory does not have any more"),
)
_TEXTS = (
    ("user_path", "Path of people, under the base"),
    ("user_object_class", "Object class of people"),
    ("user_custom_filters", "Filter of people"),
    ("users_parent_group", "Take only people who are in this group"),
    ("group_path", "Path of groups, under the base"),
    ("group_object_class", "Object class of groups"),
    ("group_custom_filters", "Filter of groups"),
    ("groups_parent_group", "Take only groups that are in this group"),
    ("email_prefix", "Attribute that an address begins with"),
    ("email_suffix", "Text that an address ends with"),
)
_KINDS = (("openldap", "OpenLDAP"), ("ad", "Active Directory"))
_TRANSPORTS = (("tls", "StartTLS"), ("ssl", "LDAPS"), ("plain", "none"))
_REMOVALS = (("delete", "Delete them"), ("disable", "Suspend them"))
_PORT = "389"


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the page is made of."""

    token: str
    told: str
    """HTML: what became of what was asked for."""
    form: Mapping[str, Any]
    """As it is saved, or as it was sent and refused."""
    stored: Stored | None
    people: Mapping[UserId, User]
    """Who may be chosen to act for a run, whoever asks among them."""
    asker: str
    words: str | None
    """Which words would confirm a run that was refused."""


def page(shown: Shown) -> Document:
    is_on = shown.stored is not None
    return pages.users_directory(
        token=escape(shown.token),
        told=shown.told,
        state=f"Directory synchronisation is switched {'on' if is_on else 'off'}.",
        run=_run(shown) if is_on else "",
        form="\n".join(_form(shown)),
        off=_off(shown) if is_on else "",
    )


def named(form: Mapping[str, Any]) -> Iterator[str]:
    """Whom settings name, as far as these are identifiers."""
    for name in ("default_user", "default_group_admin_user"):
        user_id = find_uuid(form.get(name))
        if user_id is not None:
            yield user_id


def said(told: str) -> str:
    return f'<p role="status">{escape(told)}</p>' if told else ""


def refused(message: str, causes: Sequence[str]) -> str:
    listed = _list(map(escape, causes))
    return f'<div class="refused" role="alert"><p>{escape(message)}</p>{listed}</div>'


def messages(errors: FieldErrors | None) -> list[str]:
    """What is wrong with a form, field by field."""
    return list(_messages((), errors or {}))


def words_asked(errors: FieldErrors | None) -> str | None:
    """The words that would confirm a run, where that is what it was refused for."""
    asked = (errors or {}).get("confirm")
    words = asked.get("isConfirmed") if isinstance(asked, Mapping) else None
    return words if isinstance(words, str) else None


def would_do(outcome: Outcome) -> str:
    return said("This is what a run would do now; nothing was done.") + _reports(outcome)


def done(outcome: Outcome) -> str:
    return said("The run is over; this was done.") + _reports(outcome)


def tested(directory: Directory) -> str:
    """How much was read, what is wrong with it, and who is among it."""
    everything: list[Person | Team] = [*directory.people, *directory.teams]
    faults = [each for each in everything if each.errors]
    count = f"{len(directory.people)} people and {len(directory.teams)} groups"
    wrong = (f"{escape(e.name)}: {escape(' '.join(messages(e.errors)))}" for e in faults)
    people = (escape(f"{each.username or each.name}") for each in directory.people)
    teams = (escape(f"{each.title or each.name}") for each in directory.teams)
    return (
        said(
            f"The directory answers {count}, {len(faults)} of them with errors. Nothing was saved."
        )
        + _details("Entries with errors", wrong, len(faults))
        + _details("People", people, len(directory.people))
        + _details("Groups", teams, len(directory.teams))
    )


def _messages(way: tuple[str, ...], errors: Any) -> Iterator[str]:
    if isinstance(errors, str):
        where = " ".join(way[:-2])
        yield f"{errors} ({where})" if where else errors
    elif isinstance(errors, Mapping):
        for name, inside in errors.items():
            yield from _messages((*way, str(name)), inside)
    elif isinstance(errors, Iterable):
        for inside in errors:
            yield from _messages((*way, ""), inside)


def _reports(outcome: Outcome) -> str:
    users = _details("Users", map(_report, outcome.users), len(outcome.users), is_open=True)
    groups = _details("Groups", map(_report, outcome.groups), len(outcome.groups), is_open=True)
    return users + groups or "<p>Nothing is to be done.</p>"


def _report(report: Report) -> str:
    return f"<strong>{escape(report.status.value)}</strong> {escape(report.message)}"


def _details(title: str, items: Iterable[str], count: int, *, is_open: bool = False) -> str:
    """A list that can be folded; `items` are HTML."""
    if not count:
        return ""
    shown = [each for each, _ in zip(items, range(MOST_SHOWN), strict=False)]
    more = f"<p>And {count - MOST_SHOWN} more.</p>" if count > MOST_SHOWN else ""
    attribute = " open" if is_open else ""
    return f"<details{attribute}><summary>{title} ({count})</summary>{_list(shown)}{more}</details>"


def _list(items: Iterable[str]) -> str:
    listed = "".join(f"<li>{each}</li>" for each in items)
    return f"<ul>{listed}</ul>" if listed else ""


def _run(shown: Shown) -> str:
    confirmation = ""
    if shown.words is not None:
        words = escape(shown.words)
        hint = f"If that is meant, repeat these words and run it: <code>{words}</code>"
        confirmation = f"<p>{hint}</p>{fields.text('confirm', 'The words', '', 'autocomplete=off')}"
    return _sent(
        shown.token,
        confirmation + _button("dry-run", "Show what a run would do") + _button("run", "Run now"),
    )


def _off(shown: Shown) -> str:
    what = "<p>Users and groups stay as they are. The settings are forgotten, passwords too.</p>"
    return _sent(shown.token, what + _button("disable", "Switch off"))


def _sent(token: str, inside: str) -> str:
    hidden = fields.hidden("_csrfToken", token)
    return (
        f'<form method="post" action="/app/administration/users-directory">{hidden}{inside}</form>'
    )


def _form(shown: Shown) -> Iterator[str]:
    form = shown.form
    kept = {} if shown.stored is None else shown.stored.sealed
    for name, domain in _domains(form).items():
        yield from _domain(name, domain, has_password=name in kept)
    yield _people(shown)
    yield fields.fieldset("Whom and what a run takes", *_taken(form))
    yield fields.fieldset("What a run does", *_jobs(form))
    yield _details_of("Attributes", *_mapping(form))


def _domains(form: Mapping[str, Any]) -> Mapping[str, Any]:
    found = form.get("domains")
    return found if isinstance(found, Mapping) and found else {_FIRST_DOMAIN: {}}


def _domain(name: str, domain: Any, *, has_password: bool) -> Iterator[str]:
    known: Mapping[str, Any] = domain if isinstance(domain, Mapping) else {}
    at = f"domains[{name}]"
    hosts = known.get("hosts")
    servers = " ".join(map(str, hosts)) if isinstance(hosts, list) else ""
    yield fields.fieldset(
        f"Directory {name}",
        fields.choice(f"{at}[directory_type]", "Kind", _KINDS, _value(known, "directory_type")),
        fields.text(f"{at}[domain_name]", "Domain", _value(known, "domain_name")),
        fields.text(f"{at}[hosts]", "Servers, with spaces between them", servers),
        fields.text(f"{at}[port]", "Port", _value(known, "port") or _PORT, "inputmode=numeric"),
        fields.choice(
            f"{at}[connection_type]", "Protection", _TRANSPORTS, _value(known, "connection_type")
        ),
        fields.hidden(f"{at}[authentication_type]", "basic"),
        fields.text(f"{at}[username]", "Sign in as", _value(known, "username"), "autocomplete=off"),
        fields.password(f"{at}[password]", is_kept=has_password),
        fields.text(f"{at}[base_dn]", "Base", _value(known, "base_dn")),
        fields.area(
            f"{at}[ca_certificate]",
            "Certificate authority of the servers (PEM); leave empty to trust the public ones",
            _value(known, "ca_certificate"),
        ),
    )


def _people(shown: Shown) -> str:
    order = sorted(shown.people.values(), key=lambda user: user.id != shown.asker)
    choices = [(user.id, user.username) for user in order]
    return fields.fieldset(
        "Who acts for a run",
        fields.choice(
            "default_user",
            "In whose name it acts",
            choices,
            _value(shown.form, "default_user"),
        ),
        fields.choice(
            "default_group_admin_user",
            "Who manages new groups",
            choices,
            _value(shown.form, "default_group_admin_user"),
        ),
        fields.hidden("enabled", "1"),
    )


def _taken(form: Mapping[str, Any]) -> Iterator[str]:
    for name, label in _TEXTS:
        yield fields.text(name, label, _value(form, name))
    yield fields.box(
        "use_email_prefix_suffix", "Make addresses of these two, where the directory has none", form
    )
    yield fields.box(
        "enabled_users_only", "Take only accounts that Active Directory has enabled", form
    )


def _jobs(form: Mapping[str, Any]) -> Iterator[str]:
    for name, label in _JOBS:
        yield fields.box(name, label, form, is_usual=True)
    yield fields.choice(
        "delete_user_behavior",
        "People who are to be removed",
        _REMOVALS,
        _value(form, "delete_user_behavior"),
    )
    yield fields.text(
        "removal_limit",
        "Percent of users or groups that a run removes unasked",
        _value(form, "removal_limit") or "20",
        "inputmode=numeric",
    )


def _mapping(form: Mapping[str, Any]) -> Iterator[str]:
    """By which attributes fields are read, for both kinds of directory."""
    for kind, known in DEFAULT_FIELDS.items():
        for thing, attributes in (("user", known.user), ("group", known.group)):
            for name, usual in attributes.items():
                way = ("fields_mapping", kind.value, thing, name)
                yield _attribute(form, way, f"{thing}: {name}", usual)
        fallback = ("field_fallbacks", kind.value, "username")
        yield _attribute(form, fallback, "user: username where it is empty", "")


def _attribute(form: Mapping[str, Any], way: Sequence[str], label: str, usual: str) -> str:
    kind = dict(_KINDS)[way[1]]
    return fields.text(_spelt(way), f"{kind}, {label}", _value(form, *way) or usual)


def _spelt(way: Sequence[str]) -> str:
    first, *others = way
    return first + "".join(f"[{each}]" for each in others)


def _value(form: Mapping[str, Any], *way: str) -> str:
    """What a form says, as text; of what makes no sense nothing."""
    found: Any = form
    for name in way:
        found = found.get(name) if isinstance(found, Mapping) else None
    return str(found) if isinstance(found, str | int) else ""


def _details_of(summary: str, *inside: str) -> str:
    return f"<details><summary>{summary}</summary>{''.join(inside)}</details>"


def _button(do: str, label: str) -> str:
    return f'<button name="do" value="{do}" type="submit">{label}</button> '
