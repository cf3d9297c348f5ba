"""How settings of the directory are saved: tried first, and a password goes to no other servers.

They are one row, which is there exactly while directory synchronisation is switched on. What is
saved has worked once: every host was signed in to, and bases, paths and filters were tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from chalicelib.bodies.directory.directory_settings import (
    DirectorySettingsBody,
    errors_of,
    form_of,
    is_enabled,
)
from chalicelib.bodies.draft import Draft
from chalicelib.bodies.servers import MASK
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.directory.directory import Directory, Unreadable
from chalicelib.domain.directory.directory_settings import (
    Connection,
    DirectorySettings,
    Fields,
    Kind,
    Search,
    Transport,
)
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.ids import UserId, find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.directory import source
from chalicelib.services.directory.source import NoSuchPlace
from chalicelib.services.operator import passwords
from chalicelib.services.operator.passwords import DIRECTORY
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import DIRECTORY_SYNC, Setting, as_read, value_of, value_or_new
from chalicelib.tables.users.users import User

KEY = Setting.named(DIRECTORY_SYNC)
"""The row `settings_in` needs, to be read together with others."""
INVALID = "Could not validate the directory settings."
SWITCHED_OFF = "directory synchronisation is switched off"
NOT_SAVED = "The settings were not saved"
DO_NOT_WORK = "The settings do not work"
NO_SASL = "Of SASL, no mechanism is at hand: sign in with a name and a password, over TLS."
_GIVE_AGAIN = "The password should be given again, as the servers are not those it was given for."
_USERS: Mapping[str, tuple[str, str, Callable[[Any], bool]]] = {
    "default_user": (
        "isValidAdmin",
        "The default user should be an active administrator.",
        lambda user: bool(user.is_admin),
    ),
    "default_group_admin_user": (
        "isValidUser",
        "The default group administrator should be an active user.",
        lambda _: True,
    ),
}
"""Who acts for a run, by field: rule and message for somebody unfit, and what they must be."""
T = TypeVar("T")
Form = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """The form as it was saved, and sealed passwords by connections."""

    form: Form
    sealed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Standing:
    """The settings of a run, and the row that they were read from."""

    settings: DirectorySettings
    row: Setting | None

    def still_stand(self) -> Check:
        """The settings are as they were read."""
        return Check(KEY, as_read(self.row))


def find() -> DirectorySettings | None:
    """The settings, with passwords opened; None while directory synchronisation is switched off."""
    return settings_in(reading.read([KEY]))


def standing() -> Standing | None:
    """The same for a run, which holds them."""
    rows = reading.read([KEY])
    settings = settings_in(rows)
    return None if settings is None else Standing(settings, rows.find(Setting, DIRECTORY_SYNC))


def settings_in(rows: Rows) -> DirectorySettings | None:
    stored = _stored(rows.find(Setting, DIRECTORY_SYNC))
    if stored is None:
        return None
    return _settings(
        stored.form,
        {name: passwords.opened(DIRECTORY, name, sealed) for name, sealed in stored.sealed.items()},
    )


def view() -> Stored | None:
    return _stored(reading.read([KEY]).find(Setting, DIRECTORY_SYNC))


def save(actor: Actor, draft: Draft[DirectorySettingsBody]) -> None:
    """Store how the directory is asked from now on, once it was asked like that.

    It is written over what was read, by whoever is an administrator then, as long as the default
    user is one too and whoever manages new groups is active.
    """
    wanted = _read(draft, NOT_SAVED)
    settings = _settings(wanted.form, wanted.passwords)
    _try(lambda: source.probe(settings), NOT_SAVED)
    value = {
        **value_or_new(wanted.before, actor.id),
        "form": wanted.form,
        "passwords": {
            name: passwords.seal(DIRECTORY, name, p) for name, p in wanted.passwords.items()
        },
    }
    changes = differences.names(value_of(wanted.before).get("form", {}), wanted.form)
    if wanted.has_new_passwords:
        changes.append(("password",))
    now = clock.now()
    administrators = dict.fromkeys((actor.id, settings.default_user))
    with Transaction() as tx:
        for user_id in administrators:
            tx.require(User.is_administrator(user_id, now))
        if settings.default_group_admin_user not in administrators:
            tx.require(User.is_able(settings.default_group_admin_user, now))
        tx.update(KEY, *Setting.says(value, actor.id), provided=as_read(wanted.before))
        log = ("DirectorySync.updated", actor.id, actor.caller)
        tx.create(ActionLog.of(value["id"], *log, changes=changes))
        notices.tell_of_settings(tx, Event.DIRECTORY_SETTINGS_SAVED, actor)
    audit.succeeded("directory-settings", actor, value["id"])


def delete(actor: Actor) -> None:
    """Switch directory synchronisation off, and forget how the directory was asked."""
    row = reading.read([KEY]).find(Setting, DIRECTORY_SYNC)
    if row is None:
        return
    subject = value_of(row)["id"]
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.delete(KEY, provided=as_read(row))
        tx.create(ActionLog.of(subject, "DirectorySync.deleted", actor.id, actor.caller))
        notices.tell_of_settings(tx, Event.DIRECTORY_SETTINGS_SAVED, actor, off="yes")
    audit.succeeded("directory-settings-deleted", actor, subject)


def try_out(draft: Draft[DirectorySettingsBody]) -> Directory:
    """Return what the directory says by these settings; nothing is stored."""
    wanted = _read(draft, DO_NOT_WORK)
    settings = _settings(wanted.form, wanted.passwords)
    _try(lambda: source.probe(settings), DO_NOT_WORK)
    return _try(lambda: source.read(settings), "Reading users and groups failed")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a client wants the settings to be, over what they were."""

    before: Setting | None
    form: Form
    """Without passwords."""
    passwords: Mapping[str, str]
    """Those that were given, and those that stay."""
    has_new_passwords: bool
    """Whether any was given."""


def _read(draft: Draft[DirectorySettingsBody], failed: str) -> _Wanted:
    users = {find_uuid(draft.members.get(name)) for name in _USERS}
    rows = reading.read([KEY, *(User.by_id(user) for user in users if user)])
    errors = errors_of(draft)
    for name in _USERS:
        errors |= _user_errors(draft, name, rows, errors)
    if errors:
        raise Invalid(INVALID, errors)
    if not is_enabled(draft):
        raise Invalid(f"{failed}: {SWITCHED_OFF}.")
    before = rows.find(Setting, DIRECTORY_SYNC)
    form = form_of(draft)
    _require_mechanism(form, failed)
    stored = _stored(before)
    if stored is not None:
        _keep_certificates(form, draft, stored)
    given = _given_passwords(form)
    taken = _taken_passwords(form, given, stored, failed)
    return _Wanted(before, form, taken, has_new_passwords=bool(given))


def _user_errors(
    draft: Draft[DirectorySettingsBody], name: str, rows: Rows, errors: Mapping[str, Any]
) -> dict[str, FieldErrors]:
    """That somebody may not act for a run; told beside an identifier that is none."""
    rule, message, is_needed = _USERS[name]
    user_id = find_uuid(draft.members.get(name))
    user = rows.find(User, user_id) if user_id else None
    is_able = user is not None and user.may_sign_in(clock.now())
    if draft.members.get(name) in (None, "", []) or (is_able and is_needed(user)):
        return {}
    return {name: {**errors.get(name, {}), rule: message}}


def _require_mechanism(form: Form, failed: str) -> None:
    """SASL needs a mechanism that a function has: neither tickets nor keytabs are there."""
    errors = {
        name: {"authentication_type": {"mechanism": NO_SASL}}
        for name, domain in form["domains"].items()
        if domain["authentication_type"] == "sasl"
    }
    if errors:
        raise Invalid(f"{failed}: {NO_SASL}", {"domains": errors})


def _keep_certificates(form: Form, draft: Draft[DirectorySettingsBody], stored: Stored) -> None:
    """Keep the authority of a connection where a client does not know of that field."""
    for name, domain in form["domains"].items():
        kept = stored.form["domains"].get(name, {}).get("ca_certificate")
        if kept and "ca_certificate" not in draft.members["domains"][name]:
            domain["ca_certificate"] = kept


def _given_passwords(form: Form) -> dict[str, str]:
    """The passwords that a client gives by connections, taken out of the form."""
    said = {name: domain.pop("password", MASK) for name, domain in form["domains"].items()}
    return {name: password for name, password in said.items() if password != MASK}


def _taken_passwords(
    form: Form, given: Mapping[str, str], stored: Stored | None, failed: str
) -> dict[str, str]:
    """The passwords by connections. One that was not given stays, for the same servers.

    It goes to no other server: whoever may change the settings may not learn by that what they say.
    """
    taken: dict[str, str] = {}
    errors: dict[str, FieldErrors] = {}
    for name, domain in form["domains"].items():
        if name in given:
            taken[name] = given[name]
        elif stored is not None and name in stored.sealed:
            if _asks_others(domain, stored.form["domains"][name]):
                errors[name] = {"password": {"_required": _GIVE_AGAIN}}
            else:
                taken[name] = passwords.opened(DIRECTORY, name, stored.sealed[name])
    if errors:
        raise Invalid(f"{failed}: {_GIVE_AGAIN}", {"domains": errors})
    return taken


def _asks_others(domain: Form, before: Form) -> bool:
    """Whether a password would go where it did not go before, or be less protected."""
    same = ("port", "connection_type", "ca_certificate")
    is_same = all(domain.get(name) == before.get(name) for name in same)
    return not is_same or not set(domain["hosts"]) <= set(before["hosts"])


def _try(ask: Callable[[], T], failed: str) -> T:
    try:
        return ask()
    except NoSuchPlace as error:
        broken: FieldErrors = {error.field: {"exists": error.message}}
        if error.field == "base_dn":
            broken = {"domains": {error.connection: broken}}
        raise Invalid(f"{failed}: {error.message}", broken) from error
    except Unreadable as error:
        raise Invalid(f"{failed}: {error.message}") from error


def _stored(row: Setting | None) -> Stored | None:
    value = value_of(row)
    return Stored(value["form"], value["passwords"]) if value else None


def _settings(form: Form, given: Mapping[str, str]) -> DirectorySettings:
    connections = [
        _connection(name, domain, given.get(name)) for name, domain in form["domains"].items()
    ]
    makes_addresses = form.get("use_email_prefix_suffix", False)
    return DirectorySettings(
        connections=tuple(connections),
        default_user=UserId(form["default_user"]),
        default_group_admin_user=UserId(form["default_group_admin_user"]),
        people=_search(form, "user"),
        teams=_search(form, "group"),
        fields={kind: _fields(form, kind) for kind in Kind},
        email_prefix=form.get("email_prefix") if makes_addresses else None,
        email_suffix=form.get("email_suffix") if makes_addresses else None,
        enabled_users_only=form.get("enabled_users_only", False),
        creates_users=form["sync_users_create"],
        updates_users=form["sync_users_update"],
        deletes_users=form["sync_users_delete"],
        creates_groups=form["sync_groups_create"],
        updates_groups=form["sync_groups_update"],
        deletes_groups=form["sync_groups_delete"],
        suspends_users=form.get("delete_user_behavior") == "disable",
        **({"removal_limit": form["removal_limit"]} if "removal_limit" in form else {}),
    )


def _connection(name: str, domain: Form, password: str | None) -> Connection:
    return Connection(
        name=name,
        kind=Kind(domain["directory_type"]),
        domain_name=domain["domain_name"],
        hosts=tuple(domain["hosts"]),
        port=domain["port"],
        transport=Transport(domain["connection_type"]),
        username=domain.get("username"),
        password=password,
        base_dn=domain.get("base_dn"),
        ca_certificate=domain.get("ca_certificate"),
    )


def _search(form: Form, thing: str) -> Search:
    return Search(
        object_class=form.get(f"{thing}_object_class"),
        path=form.get(f"{thing}_path"),
        filter=form.get(f"{thing}_custom_filters"),
        parent_group=form.get(f"{thing}s_parent_group"),
    )


def _fields(form: Form, kind: Kind) -> Fields:
    mapped = form["fields_mapping"][kind.value]
    fallback = form["field_fallbacks"].get(kind.value, {}).get("username")
    return Fields(mapped["user"], mapped["group"], fallback)
