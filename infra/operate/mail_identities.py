"""The domain a tenant's mails come from, as SES knows it: whether it is verified, and by what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.operate import builds
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.steps import Failed
from infra.template.identity import RECORDS


def lines(account: Account, entry: Entry) -> list[str]:
    """How it stands with the domain of a tenant that has one, and what is still to be done."""
    domain = entry.parameters.get("MailIdentity")
    if not domain:
        return []
    if is_verified(account, domain):
        sender = entry.parameters.get("MailSender")
        further = f"mails come from {sender}" if sender else "set MailSender, and mails leave"
        return [f"SES has verified {domain}: {further}"]
    return [
        f"SES has not verified {domain} yet; until then, no MailSender",
        *_records(account, entry),
    ]


def is_verified(account: Account, domain: str) -> bool:
    return bool((_identity(account, domain) or {}).get("VerifiedForSendingStatus"))


def require_verified(account: Account, wanted: Mapping[str, str]) -> None:
    """Refuse a sender whose mails SES would refuse for good."""
    domain = wanted.get("MailIdentity")
    if wanted.get("MailSender") and domain and not is_verified(account, domain):
        raise Failed(
            f"SES has not verified {domain}, and would refuse mails from {wanted['MailSender']}. "
            "Set MailIdentity without a sender first (`--set MailSender=`); `status` shows the "
            "records to make, and when to go on."
        )


def require_free(account: Account, entry: Entry, domain: str) -> None:
    """Refuse a domain that SES knows already: no second identity of it can be made here."""
    if domain and _identity(account, domain) is not None and not _is_ours(account, entry, domain):
        raise Failed(
            f"SES has {domain} as an identity already in this region, made by hand or of another "
            "tenant. Leave MailIdentity out, and mails leave by that; or delete it first."
        )


def zone_of(domain: str, platform_says: Mapping[str, str]) -> str:
    """The cell's zone, where the domain lies below that of the cell; else nothing."""
    above = platform_says.get("Domain")
    return platform_says.get("HostedZone", "") if above and domain.endswith(f".{above}") else ""


def _is_ours(account: Account, entry: Entry, domain: str) -> bool:
    stack = builds.stack_of(account, entry.tenant)
    return stack.find() is not None and domain in stack.resources("SES::EmailIdentity").values()


def _records(account: Account, entry: Entry) -> list[str]:
    told = builds.stack_of(account, entry.tenant).outputs()
    made = "the stack has made" if entry.parameters.get("MailZone") else "to be made"
    return [
        f"{made}: {told[f'MailRecordName{number}']} CNAME {told[f'MailRecordValue{number}']}"
        for number in RECORDS
    ]


def _identity(account: Account, domain: str) -> Any:
    client = account.client("sesv2")
    try:
        return client.get_email_identity(EmailIdentity=domain)
    except client.exceptions.NotFoundException:
        return None
