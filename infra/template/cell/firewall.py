"""The firewall of a cell: what one source may send, and requests nobody honest makes."""

from __future__ import annotations

from infra.template.elements import Json, Resources, resource

SOURCE_LIMIT = 20_000
"""Requests of one address in five minutes; a whole office may stand behind it."""
SIGN_IN_LIMIT = 800
"""The same of requests to sign in, of which the handshake needs three, after a look at our key."""
SIGN_IN_PATHS = "/login|/auth/verify"
"""What the paths of all ways to sign in have in them."""


def firewall() -> Resources:
    acl: Json = {
        "Scope": "REGIONAL",
        "DefaultAction": {"Allow": {}},
        "VisibilityConfig": _seen("keyhaven"),
        "Rules": [
            _limit("sign-in", 1, SIGN_IN_LIMIT, ScopeDownStatement=path_has(SIGN_IN_PATHS)),
            _limit("source", 2, SOURCE_LIMIT),
            _bad_inputs(3),
        ],
    }
    return {"Firewall": resource("WAFv2::WebACL", acl)}


def _limit(name: str, priority: int, limit: int, **further: Json) -> Json:
    """Refuse a source for a while that sends more than this in five minutes."""
    statement = {"Limit": limit, "AggregateKeyType": "IP", **further}
    return {
        "Name": name,
        "Priority": priority,
        "Action": {"Block": {}},
        "Statement": {"RateBasedStatement": statement},
        "VisibilityConfig": _seen(name),
    }


def path_has(pattern: str) -> Json:
    """Anywhere in it: the name of the stage may stand before, the suffix behind."""
    return {
        "RegexMatchStatement": {
            "FieldToMatch": {"UriPath": {}},
            "RegexString": pattern,
            "TextTransformations": [{"Priority": 0, "Type": "LOWERCASE"}],
        }
    }


def _bad_inputs(priority: int) -> Json:
    rules = {"VendorName": "AWS", "Name": "AWSManagedRulesKnownBadInputsRuleSet"}
    return {
        "Name": "bad-inputs",
        "Priority": priority,
        "OverrideAction": {"None": {}},
        "Statement": {"ManagedRuleGroupStatement": rules},
        "VisibilityConfig": _seen("bad-inputs"),
    }


def _seen(metric: str) -> Json:
    """Counted, but no request is kept as a sample: requests hold secrets."""
    return {
        "SampledRequestsEnabled": False,
        "CloudWatchMetricsEnabled": True,
        "MetricName": metric,
    }
