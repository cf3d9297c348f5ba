"""What is set of a tenant or a cell, checked before anything is done.

CloudFormation would refuse it too, but late: when a name is taken and half of the steps are done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from infra.command_line.nearest import meant
from infra.operate.registry import Entry
from infra.operate.steps import Failed
from infra.template.api import STAGE
from infra.template.elements import Json
from infra.template.parameters import tenant_parameters
from infra.template.tiers import TIERS, Tier

LEAST_READING_DAYS = 14
"""Of a tenant whose logs are exported."""
_TOGETHER = (
    ("DirectorySubnets", "DirectorySecurityGroup"),
    ("OtherRegion", "OtherRegionKey"),
)
NOT_OURS_TO_SET = frozenset(
    {
        *("TenantId", "CodeBucket", "LayerArn", "AlarmTopic", "PermissionsBoundary"),
        *("FirewallArn", "CertificateArn", "BucketNamedByRegion"),
    }
)
"""What names things, and what the platform says: a change would be lost, or do harm."""


def require_possible(given: Mapping[str, str]) -> None:
    """Refuse what is right of no tier, before it is known of which the tenant is."""
    declared: Json = {}
    for tier in TIERS.values():
        declared |= _free(tier)
    require_valid(declared, given, "of any tier")


def of_tenant(entry: Entry, given: Mapping[str, str]) -> dict[str, str]:
    """Settings of a tenant as they may be given; raises `Failed` for any that may not.

    A name of its own is the address people find it at, unless another is given.
    """
    require_valid(_free(TIERS[entry.tier]), given, f"of the tier {entry.tier}")
    if given.get("MailIdentity") == "":
        given = {"MailZone": "", **given}
    together = {**entry.parameters, **given}
    require_agreeing(together)
    _require_elsewhere(entry, together)
    _require_address(entry, given)
    _require_sender_goes_too(entry, given)
    if name := given.get("DomainName"):
        return {"BaseUrl": f"https://{name}", **given}
    if name is not None and entry.parameters.get("DomainName") and "BaseUrl" not in given:
        raise Failed(
            "Without a name of its own the tenant has another address: give it too, as "
            "--set BaseUrl=… (the output ApiUrl of its stack)."
        )
    return dict(given)


def _require_elsewhere(entry: Entry, wanted: Mapping[str, str]) -> None:
    """A replica lies in another region than the secret, under a key of its own region."""
    region = wanted.get("OtherRegion")
    if not region:
        return
    if region == entry.cell.partition("/")[2]:
        raise Failed(f"{region} is the tenant's own region, and no other.")
    if f":kms:{region}:" not in wanted["OtherRegionKey"]:
        raise Failed(f"OtherRegionKey is no key of {region}: the output CopiesKeyArn there is one.")


def require_agreeing(wanted: Mapping[str, str]) -> None:
    """Refuse settings that may each be given, but not together."""
    for one, other in _TOGETHER:
        if bool(wanted.get(one)) != bool(wanted.get(other)):
            raise Failed(f"{one} and {other} go together.")
    if wanted.get("VpcEndpoints") and wanted.get("DomainName"):
        raise Failed(
            "VpcEndpoints and DomainName exclude each other: API Gateway leads no name of the "
            "cell's to an API that is not on the internet."
        )
    _require_sender_of_identity(wanted)
    _require_exported_in_time(wanted)


def _require_sender_of_identity(wanted: Mapping[str, str]) -> None:
    """A sender elsewhere would be refused: the mailer sends by that identity alone."""
    domain, sender = wanted.get("MailIdentity"), wanted.get("MailSender")
    if wanted.get("MailZone") and not domain:
        raise Failed("MailZone is of MailIdentity: give that too.")
    if domain and sender and sender.partition("@")[2] != domain:
        raise Failed(f"MailSender is an address at {domain}, the MailIdentity; not {sender}.")


def _require_sender_goes_too(entry: Entry, given: Mapping[str, str]) -> None:
    """Without the identity, SES does not know its sender any more."""
    is_taken_away = given.get("MailIdentity") == "" and entry.parameters.get("MailIdentity")
    if is_taken_away and entry.parameters.get("MailSender") and "MailSender" not in given:
        raise Failed(
            "Without MailIdentity its MailSender is verified by nobody: give that too, as "
            "--set MailSender=, or another that SES has verified."
        )


def _require_address(entry: Entry, given: Mapping[str, str]) -> None:
    """Other endpoints are another address, which is not guessed."""
    wanted = given.get("VpcEndpoints")
    if wanted is None or "BaseUrl" in given or wanted == entry.parameters.get("VpcEndpoints", ""):
        return
    first, region = wanted.partition(",")[0], entry.cell.partition("/")[2]
    host = f"<ApiId>-{first}" if first else "<ApiId>"
    raise Failed(
        "With other VpcEndpoints the tenant has another address: give it too, as --set "
        f"BaseUrl=https://{host}.execute-api.{region}.amazonaws.com/{STAGE} (ApiId is an output "
        "of its stack)."
    )


def _free(tier: Tier) -> Json:
    """The parameters of a tier that are set by hand."""
    declared = tenant_parameters(tier)
    return {name: each for name, each in declared.items() if name not in NOT_OURS_TO_SET}


def _require_exported_in_time(wanted: Mapping[str, str]) -> None:
    """A line is exported within two days; somebody has to have the time to mend what keeps it."""
    days = int(wanted.get("ReadingDays", "0"))
    if wanted.get("LogExport") == "yes" and 0 < days < LEAST_READING_DAYS:
        raise Failed(
            f"With LogExport=yes, ReadingDays is {LEAST_READING_DAYS} at least, or 0: readings "
            "must not expire before they are exported."
        )


def require_valid(declared: Json, given: Mapping[str, str], whose: str) -> None:
    """Raise `Failed` with all that is wrong of names and values."""
    if wrong := [fault for name in given for fault in _faults(declared, given, name, whose)]:
        raise Failed("\n".join(wrong))


def require_covered(domain: str, platform_says: Mapping[str, str]) -> None:
    """A tenant's name is one label below the cell's domain: for these it has a certificate."""
    if not platform_says.get("CertificateArn"):
        raise Failed("The platform has no certificate; `deploy` it with --domain and --zone.")
    below = platform_says.get("Domain")
    if below and domain.partition(".")[2] != below:
        raise Failed(f"The cell's certificate is for names such as acme.{below}, not {domain}.")


def _faults(declared: Json, given: Mapping[str, str], name: str, whose: str) -> Iterator[str]:
    if name not in declared:
        yield f"No parameter {whose}: {name}. {meant(name, declared)}"
        return
    about, value = declared[name], given[name]
    allowed = about.get("AllowedValues")
    if allowed and value not in allowed:
        yield f"{name} is {value!r}. {meant(value, allowed)}"
    if not re.fullmatch(about.get("AllowedPattern", ".*"), value):
        yield f"{name} cannot be {value!r}. {about['Description']}"
    if len(value) > about.get("MaxLength", len(value)):
        yield f"{name} has {len(value)} characters, of at most {about['MaxLength']}."
