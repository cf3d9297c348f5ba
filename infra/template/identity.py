"""The domain a tenant's mails come from, as an identity of SES of its own, where one is named.

Its configuration set counts what comes back for this tenant alone. It is the default of the
identity, so whoever sends by it need not name it, and needs a right to it all the same.
"""

from __future__ import annotations

from infra.template.elements import Json, Resources, attribute, ref, resource, sub

IDENTITY, SENDING = "SenderIdentity", "SenderSet"
HAS_IDENTITY = "HasMailIdentity"
SET_NAME = "keyhaven-${TenantId}"
DIMENSION = "ses:configuration-set"
"""A tag that SES gives each mail by itself."""
RECORDS = (1, 2, 3)
"""By which SES sees that the domain is the sender's; each is a key that mails are signed with."""
_EVENTS = "SenderEvents"
_AN_HOUR = 3600


def identity() -> Resources:
    """SES wants to be told how else one hears of it before it forwards nothing: so events first."""
    only_if = {"Condition": HAS_IDENTITY}
    counted = {"DependsOn": [_EVENTS], **only_if}
    return {
        IDENTITY: resource("SES::EmailIdentity", _identity(), **counted),
        SENDING: resource("SES::ConfigurationSet", {"Name": sub(SET_NAME)}, **only_if),
        _EVENTS: resource("SES::ConfigurationSetEventDestination", _events(), **only_if),
        **{
            f"SenderRecord{number}": resource(
                "Route53::RecordSet", _record(number), Condition="HasMailZone"
            )
            for number in RECORDS
        },
    }


def record_outputs() -> Json:
    """What has to stand in the zone of the domain, whoever puts it there."""
    return {
        f"MailRecord{part}{number}": attribute(IDENTITY, f"DkimDNSToken{part}{number}")
        for number in RECORDS
        for part in ("Name", "Value")
    }


def _identity() -> Json:
    """What comes back is counted, and not sent on: it has the mail in it, and so its link."""
    return {
        "EmailIdentity": ref("MailIdentity"),
        "DkimAttributes": {"SigningEnabled": True},
        "DkimSigningAttributes": {"NextSigningKeyLength": "RSA_2048_BIT"},
        "FeedbackAttributes": {"EmailForwardingEnabled": False},
        "ConfigurationSetAttributes": {"ConfigurationSetName": ref(SENDING)},
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }


def _events() -> Json:
    """Counted without an address."""
    dimension = {
        "DimensionName": DIMENSION,
        "DimensionValueSource": "messageTag",
        "DefaultDimensionValue": sub(SET_NAME),
    }
    return {
        "ConfigurationSetName": ref(SENDING),
        "EventDestination": {
            "Name": "counts",
            "Enabled": True,
            "MatchingEventTypes": ["bounce", "complaint"],
            "CloudWatchDestination": {"DimensionConfigurations": [dimension]},
        },
    }


def _record(number: int) -> Json:
    return {
        "HostedZoneId": ref("MailZone"),
        "Name": attribute(IDENTITY, f"DkimDNSTokenName{number}"),
        "Type": "CNAME",
        "TTL": str(_AN_HOUR),
        "ResourceRecords": [attribute(IDENTITY, f"DkimDNSTokenValue{number}")],
    }
