"""What settings of the directory may say, and which attributes must never be asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import (
    UNSET,
    Rule,
    TakenAs,
    Unset,
    an_object,
    array,
    at_most,
    boolean,
    has_some,
    in_list,
    max_length,
    meant,
    not_empty,
    required,
    utf8,
    uuid,
)
from chalicelib.bodies.servers import LONGEST_CERTIFICATES, certificates, host, numeric, port_from
from chalicelib.bodies.users.policies import between
from chalicelib.domain.directory.directory_filters import Malformed, parsed
from chalicelib.domain.directory.directory_names import canonical
from chalicelib.domain.directory.directory_settings import DEFAULT_FIELDS, Kind
from chalicelib.domain.errors import FieldErrors
from chalicelib.domain.light import dataclass

MOST_DOMAINS = 10
MOST_HOSTS = 10
LONGEST_TEXT = 1_000
LONGEST_FILTER = 10_000
KINDS = ("ad", "openldap")

_ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+")
FORBIDDEN = frozenset(
    {
        *("userpassword", "unicodepwd", "unixuserpassword", "mspkiaccountcredentials"),
        *("dbcspwd", "lmpwdhistory", "ntpwdhistory", "supplementalcredentials", "authpassword"),
        *("ms-pki-accountcredentials", "ms-mcs-admpwd", "mslaps-password", "pwdhistory"),
        *("mslaps-encryptedpassword", "krbprincipalkey", "sambantpassword", "sambalmpassword"),
        *("2.5.4.35", "1.2.840.113556.1.4.90", "1.2.840.113556.1.4.55"),
        *("1.2.840.113556.1.4.1910", "1.2.840.113556.1.4.1894"),
    }
)
"""Attributes that hold passwords or what makes them, in lower case, some by number."""

unless_empty = TakenAs(lambda sent: UNSET if sent in (None, "") else sent)
"""For members that count as not sent where nothing was filled in."""


def _is_allowed(value: Any) -> bool:
    return not isinstance(value, str) or value.strip().lower() not in FORBIDDEN


def _asks_what_is_allowed(value: Any) -> bool:
    """Whether a filter asks for no password; of what is no filter, no name of one may be in it."""
    if not isinstance(value, str):
        return True
    try:
        return parsed(value).attributes.isdisjoint(FORBIDDEN)
    except Malformed:
        text = value.lower()
        return not any(name in text for name in FORBIDDEN)


def _is_filter(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(parsed(value).text)
    except Malformed:
        return False


_forbidden = Rule(
    "forbiddenField", "The {field} should not name an attribute of passwords.", _is_allowed
)
_asks_allowed = Rule(
    "containsForbiddenField",
    "The {field} should not ask for an attribute of passwords.",
    _asks_what_is_allowed,
)
_filter = Rule("filter", "The {field} should be a well-formed filter, in brackets.", _is_filter)
_attribute = Rule(
    "attribute",
    "The {field} should be the name of an attribute.",
    lambda value: not isinstance(value, str) or _ATTRIBUTE.fullmatch(value) is not None,
)
_scalar = Rule(
    "scalar", "The {field} should be a single value.", lambda v: not isinstance(v, list | dict)
)
_object = array.saying("The {field} should be an object.")
"""Where clients know the refusal of what is no object by this name."""
_name = Rule(
    "dn",
    "The {field} should be a distinguished name.",
    lambda value: isinstance(value, str) and canonical(value) is not None,
)

Text = Annotated[str | Unset, unless_empty, utf8, max_length(LONGEST_TEXT)]
Path = Annotated[str | Unset, unless_empty, utf8, max_length(LONGEST_TEXT), _name]
Switch = Annotated[bool | Unset, unless_empty, boolean]
Class = Annotated[str | Unset, unless_empty, utf8, max_length(128), _forbidden]
Custom = Annotated[
    str | Unset, unless_empty, utf8, max_length(LONGEST_FILTER), _asks_allowed, _filter
]
_ATTRIBUTE_RULES = (_scalar, utf8, max_length(128), _forbidden, _attribute)
Attribute = Annotated[str | Unset, unless_empty, utf8, max_length(128), _forbidden, _attribute]


@dataclass(frozen=True, slots=True, repr=False)
class DomainBody:
    """One domain: its servers, and how to sign in to them."""

    directory_type: Annotated[str, required, not_empty, in_list(*KINDS)]
    domain_name: Annotated[str, required, not_empty, utf8, max_length(LONGEST_TEXT)]
    hosts: Annotated[list[Annotated[str, host]], required, has_some, at_most(MOST_HOSTS)]
    port: Annotated[int, required, not_empty, numeric, port_from(0)]
    connection_type: Annotated[str, required, not_empty, in_list("plain", "ssl", "tls")]
    authentication_type: Annotated[str, required, not_empty, in_list("basic", "sasl")]
    username: Text = UNSET
    password: Text = UNSET
    base_dn: Path = UNSET
    ca_certificate: Annotated[
        str | Unset, unless_empty, max_length(LONGEST_CERTIFICATES), certificates
    ] = UNSET


@dataclass(frozen=True, slots=True, repr=False)
class DirectorySettingsBody:
    """The settings, but for what is by names of the client's own: `domains` and the mapping."""

    default_user: Annotated[str, required, not_empty, uuid]
    default_group_admin_user: Annotated[str, required, not_empty, uuid]
    enabled: Annotated[object, meant(boolean)] = False
    domains: Annotated[object, meant(required, an_object)] = None
    group_object_class: Class = UNSET
    user_object_class: Class = UNSET
    group_path: Path = UNSET
    user_path: Path = UNSET
    group_custom_filters: Custom = UNSET
    user_custom_filters: Custom = UNSET
    use_email_prefix_suffix: Switch = UNSET
    email_prefix: Attribute = UNSET
    email_suffix: Text = UNSET
    enabled_users_only: Switch = UNSET
    users_parent_group: Text = UNSET
    groups_parent_group: Text = UNSET
    sync_users_create: Switch = UNSET
    sync_users_update: Switch = UNSET
    sync_users_delete: Switch = UNSET
    sync_groups_create: Switch = UNSET
    sync_groups_update: Switch = UNSET
    sync_groups_delete: Switch = UNSET
    delete_user_behavior: Annotated[str | Unset, unless_empty, in_list("delete", "disable")] = UNSET
    removal_limit: Annotated[int | Unset, unless_empty, between(0, 100)] = UNSET
    fields_mapping: Annotated[object, meant(an_object)] = None
    field_fallbacks: Annotated[object, meant(an_object)] = None


Form = Mapping[str, Any]
"""The form as it is stored and shown: plain JSON, without what was left empty."""

_BY_NAMES = ("domains", "fields_mapping", "field_fallbacks")
_SWITCHES = tuple(
    f"sync_{kind}_{job}" for kind in ("users", "groups") for job in ("create", "update", "delete")
)


def is_enabled(draft: Draft[DirectorySettingsBody]) -> bool:
    return draft.members.get("enabled") not in (None, False, "", 0, "0", "false")


def errors_of(draft: Draft[DirectorySettingsBody]) -> dict[str, FieldErrors]:
    """Every broken rule of every field, also of those that have names of the client's own."""
    errors = draft.errors()
    for name, broken in (
        ("domains", _domains_errors(draft.members.get("domains"))),
        ("fields_mapping", _mapping_errors(draft.members.get("fields_mapping"))),
        ("field_fallbacks", _fallback_errors(draft.members.get("field_fallbacks"))),
    ):
        if broken:
            errors[name] = broken
    return errors


def form_of(draft: Draft[DirectorySettingsBody]) -> dict[str, Any]:
    """What a draft without errors says, as it is stored; passwords are among it."""
    form = _filled(draft.read(""))
    domains = draft.members["domains"]
    form["domains"] = {
        name: _filled(Draft(DomainBody, domain).read("")) for name, domain in domains.items()
    }
    form["enabled"] = True
    form |= {name: form.get(name, True) for name in _SWITCHES}
    form["fields_mapping"] = _mapping(draft.members.get("fields_mapping"))
    form["field_fallbacks"] = _fallbacks(draft.members.get("field_fallbacks"))
    return form


def _filled(body: Any) -> dict[str, Any]:
    values = {each.name: getattr(body, each.name) for each in fields(body)}
    return {
        name: value
        for name, value in values.items()
        if value is not UNSET and name not in _BY_NAMES
    }


def _domains_errors(sent: Any) -> FieldErrors:
    if sent in (None, ""):
        return required.broken("domains")
    if sent in ([], {}):
        return has_some.broken("domains")
    if not isinstance(sent, dict):
        return _object.broken("domains")
    if len(sent) > MOST_DOMAINS:
        return at_most(MOST_DOMAINS).broken("domains")
    if not all(_is_connection_name(name) for name in sent):
        return {"connection_names": "The domains should have names without dots."}
    return _each(sent, lambda _, domain: _domain_errors(domain))


def _is_connection_name(name: str) -> bool:
    return 0 < len(name) <= 64 and "." not in name and utf8.holds(name)  # noqa: PLR2004


def _domain_errors(sent: Any) -> FieldErrors:
    if not isinstance(sent, dict):
        return _object.broken("domain")
    return Draft(DomainBody, sent).errors()


def _each(sent: Mapping[str, Any], errors: Callable[[str, Any], FieldErrors]) -> FieldErrors:
    broken = {name: errors(name, value) for name, value in sent.items()}
    return {name: found for name, found in broken.items() if found}


def _mapping_errors(sent: Any) -> FieldErrors:
    if sent in (None, "", [], {}):
        return {}
    if not isinstance(sent, dict):
        return an_object.broken("fields_mapping")
    return _each(
        {kind: sent[kind] for kind in KINDS if kind in sent},
        lambda kind, of_kind: (
            _each(
                {thing: of_kind[thing] for thing in ("user", "group") if thing in of_kind},
                lambda thing, mapped: _fields_errors(kind, thing, mapped),
            )
            if isinstance(of_kind, dict)
            else an_object.broken(kind)
        ),
    )


def _fields_errors(kind: str, thing: str, mapped: Any) -> FieldErrors:
    if not isinstance(mapped, dict):
        return an_object.broken(thing)
    known = _defaults(kind)[thing]
    return _each(
        {name: mapped.get(name, UNSET) for name in known},
        _attribute_errors,
    )


def _attribute_errors(name: str, value: Any) -> FieldErrors:
    if value is UNSET:
        return required.broken(name)
    if value in (None, "", []):
        return not_empty.broken(name)
    broken: dict[str, str] = {}
    for rule in _ATTRIBUTE_RULES:
        if not rule.holds(value):
            broken |= rule.broken(name)
    return broken


def _fallback_errors(sent: Any) -> FieldErrors:
    if sent in (None, "", [], {}):
        return {}
    if not isinstance(sent, dict):
        return _object.broken("field_fallbacks")
    return _each(sent, _fallbacks_of_kind_errors)


def _fallbacks_of_kind_errors(kind: str, sent: Any) -> FieldErrors:
    if kind not in KINDS:
        return {"invalidDirectoryType": "The field fallbacks should be of ad or openldap."}
    if not isinstance(sent, dict):
        return _object.broken(kind)
    if not sent:
        return {"notEmptyArray": f"The fallbacks of {kind} should not be empty."}
    username = sent.get("username")
    if username in (None, ""):
        return {}
    broken = _attribute_errors("username", username)
    return {"username": broken} if broken else {}


def _defaults(kind: str) -> dict[str, Mapping[str, str]]:
    found = DEFAULT_FIELDS[Kind(kind)]
    return {"user": found.user, "group": found.group}


def _mapping(sent: Any) -> dict[str, Any]:
    """The mapping of both kinds: what was sent, else the defaults."""
    given = sent if isinstance(sent, dict) else {}
    return {
        kind: {
            thing: {
                name: given.get(kind, {}).get(thing, {}).get(name, default)
                for name, default in known.items()
            }
            for thing, known in _defaults(kind).items()
        }
        for kind in KINDS
    }


def _fallbacks(sent: Any) -> dict[str, Any]:
    given = sent if isinstance(sent, dict) else {}
    return dict(_each_fallback(given))


def _each_fallback(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for kind, fallbacks in given.items():
        if fallbacks.get("username"):
            yield kind, {"username": fallbacks["username"]}
