"""The firewall of a cell: each of its rules refuses, and everything else passes."""

from __future__ import annotations

from collections.abc import Iterator

from infra.checks.reading import of_kind
from infra.template.elements import Json

_BLOCK: Json = {"Block": {}}
_AS_ITS_OWNER_SAYS: Json = {"None": {}}


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
