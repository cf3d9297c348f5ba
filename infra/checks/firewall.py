"""The firewall of a cell: each of its rules refuses, and everything else passes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infra.checks.reading import of_kind
from infra.endpoints import every_endpoint
from infra.template.api import SIGN_IN_RATE, SIGN_INS
from infra.template.elements import Json

_BLOCK: Json = {"Block": {}}
_AS_ITS_OWNER_SAYS: Json = {"None": {}}
_MINUTES = 5
"""Of which the firewall counts what a source sends."""


def rules_refuse(template: Json) -> Iterator[str]:
    """A rule that counts looks like one that refuses, and refuses nobody."""
    for name, acl in of_kind(template, "WAFv2::WebACL"):
        if not acl.get("Rules"):
            yield f"{name} has no rules."
        for rule in acl.get("Rules", []):
            if "ManagedRuleGroupStatement" in rule["Statement"]:
                acts = rule.get("OverrideAction") == _AS_ITS_OWNER_SAYS
            else:
                acts = rule.get("Action") == _BLOCK
            if not acts:
                yield f"{name}: the rule {rule['Name']} refuses nobody."
        if acl.get("DefaultAction") != {"Allow": {}}:
            yield f"{name} refuses everybody."


def requests_stay_unseen(template: Json) -> Iterator[str]:
    """Samples are whole requests, and these hold secrets."""
    for name, acl in of_kind(template, "WAFv2::WebACL"):
        for each in (acl, *acl.get("Rules", [])):
            if each["VisibilityConfig"].get("SampledRequestsEnabled") is not False:
                yield f"{name} keeps samples of requests."


def sign_ins_are_bounded(template: Json) -> Iterator[str]:
    """A source that sends as much as the gateway takes of a tenant keeps everybody from signing in.

    Each way to sign in is bounded there by itself, so each is counted here.
    """
    most = SIGN_IN_RATE * 60 * _MINUTES
    for name, acl in of_kind(template, "WAFv2::WebACL"):
        limits = [each["Statement"].get("RateBasedStatement", {}) for each in acl.get("Rules", [])]
        bounds = [each for each in limits if each.get("Limit", most) < most]
        for served in every_endpoint():
            if served.route.action in SIGN_INS:
                for path in served.route.gateway_paths():
                    if not any(_counts(each, path) for each in bounds):
                        yield f"{name} bounds no source of {served.route.method} {path}."


def _counts(limit: Json, path: str) -> bool:
    """Whether a limit counts what is sent to a path."""
    if "ScopeDownStatement" not in limit:
        return True
    pattern: str = limit["ScopeDownStatement"]["RegexMatchStatement"]["RegexString"]
    return re.search(pattern, path) is not None
