"""What a stack is told: of a tenant when it is made, of a cell's platform when it is set up."""

from __future__ import annotations

from typing import Any

from infra.template.elements import Json, equals, is_given
from infra.template.tiers import Tier

_MAIL_DOMAIN = "([a-z0-9-]+[.])+[a-z0-9-]{2,}"
MAIL_SENDER = f"^(|[A-Za-z0-9._+-]+@{_MAIL_DOMAIN})$"
"""None of the signs that mean something in a policy."""
MAIL_IDENTITY = f"^(|{_MAIL_DOMAIN})$"
ARN = "^arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:[0-9]*:.+$"
OPTIONAL_ARN = "^(|arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:[0-9]*:.+)$"
NAME = "^(|([a-z0-9-]+[.])+[a-z]{2,})$"
"""Of a host, in small letters, as API Gateway wants it."""
ZONE = "^(|Z[A-Z0-9]{1,31})$"
SUBNETS = "^(|subnet-[0-9a-f]{8,17}(,subnet-[0-9a-f]{8,17}){0,15})$"
VPC_ENDPOINTS = "^(|vpce-[0-9a-f]{8,17}(,vpce-[0-9a-f]{8,17}){0,15})$"
DAYS = "^(0|[1-9][0-9]{0,3})$"
DAYS_OF_EXPORTS = "^([3-9][0-9]|[1-9][0-9]{2,3})$"
OTHER_REGION = "^(|[a-z]{2}(-[a-z]+)+-[0-9]{1,2})$"
OTHER_KEY = "^(|arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-z0-9-]+)$"
_PERSON = "([0-9]{12}|arn:aws[a-z-]*:iam::[0-9]{12}:(root|user/[A-Za-z0-9+=.@_/-]+))"
PEOPLE = f"^(|{_PERSON}(,{_PERSON}){{0,19}})$"
"""Accounts, or users in them. Whoever comes from another role would choose their own name."""
SUBJECT = "^(|[A-Za-z0-9_./:@+=,%#-]{3,255})$"
"""One subject as a whole: nothing that means others, or something in a policy or in JSON."""
SECURITY_GROUP = "^(|sg-[0-9a-f]{8,17})$"


def _text(about: str, **further: Any) -> Json:
    return {"Type": "String", "Description": about, **further}


def _unless_yes(about: str) -> Json:
    """What is not so unless it is said."""
    return _text(about, AllowedValues=["yes", "no"], Default="no")


def tenant_parameters(tier: Tier) -> Json:
    parameters = {
        "TenantId": _text(
            "Names everything of the tenant: letters, digits and hyphens.",
            AllowedPattern="^[a-z][a-z0-9-]{1,30}$",
        ),
        "BaseUrl": _text(
            "Where people and clients find the tenant, without a slash at the end.",
            AllowedPattern="^(https://[a-z0-9.-]+|http://127[.]0[.]0[.]1:[0-9]+)(/[a-z0-9._-]+)*$",
            MaxLength=200,
        ),
        "Dialect": _text(
            "How the API speaks where its specification and deployed clients differ.",
            AllowedValues=["specification", "clients"],
            Default="specification",
        ),
        "SupportAddress": _text("Where people of the tenant ask for help.", Default=""),
        "MailSender": _text(
            "The address the tenant's mails come from, verified in SES; without it, none leave.",
            Default="",
            AllowedPattern=MAIL_SENDER,
            MaxLength=254,
        ),
        "MailIdentity": _text(
            "The domain of that address, if the stack is to make it an identity of SES.",
            Default="",
            AllowedPattern=MAIL_IDENTITY,
            MaxLength=253,
        ),
        "MailZone": _text(
            "The zone in which the stack makes the records of MailIdentity, if it is to.",
            Default="",
            AllowedPattern=ZONE,
        ),
        "DomainName": _text(
            "The tenant's own domain name, if it has one.", Default="", AllowedPattern=NAME
        ),
        "HostedZone": _text(
            "The zone in which the stack makes the record of that name, if it is to.",
            Default="",
            AllowedPattern=ZONE,
        ),
        "BucketNamedByRegion": _unless_yes(
            "Whether the bucket's name has its region; for good, as the bucket holds objects.",
        ),
        "CertificateArn": _text(
            "The certificate of that name, from the platform.",
            Default="",
            AllowedPattern=OPTIONAL_ARN,
        ),
        "FirewallArn": _text(
            "The platform's firewall, if it has one.", Default="", AllowedPattern=OPTIONAL_ARN
        ),
        "VpcEndpoints": _text(
            "VPC endpoints through which alone the API is reached, with commas between them.",
            Default="",
            AllowedPattern=VPC_ENDPOINTS,
        ),
        "DirectorySubnets": _text(
            "Subnets from which the company's directory is reached, with commas between them.",
            Default="",
            AllowedPattern=SUBNETS,
        ),
        "DirectorySecurityGroup": _text(
            "The security group of what asks the directory there; goes with DirectorySubnets.",
            Default="",
            AllowedPattern=SECURITY_GROUP,
        ),
        "ReadingDays": _text(
            "For how many days logs tell who read a secret; 0 is for ever.",
            Default="0",
            AllowedPattern=DAYS,
        ),
        "LogExport": _unless_yes(
            "Whether each day of the logs is left in the bucket for auditors.",
        ),
        "LogExportDays": _text(
            "For how many days the bucket keeps what was left there for auditors.",
            Default="400",
            AllowedPattern=DAYS_OF_EXPORTS,
        ),
        "SnapStart": _unless_yes(
            "Whether functions that answer requests begin from a snapshot, paid by the hour.",
        ),
        "Traces": _unless_yes(
            "Whether the logs have the spans of each request, for a collector of traces.",
        ),
        "OtherRegion": _text(
            "A region that has replicas of the private keys; goes with OtherRegionKey.",
            Default="",
            AllowedPattern=OTHER_REGION,
        ),
        "OtherRegionKey": _text(
            "The key of that region which the replicas are under.",
            Default="",
            AllowedPattern=OTHER_KEY,
        ),
        "CodeBucket": _text("The platform's bucket with the code."),
        "LayerArn": _text("The platform's layer version.", AllowedPattern=ARN),
        "AlarmTopic": _text("The platform's topic of alarms.", AllowedPattern=ARN),
        "PermissionsBoundary": _text(
            "The platform's bound of what roles may do.", AllowedPattern=ARN
        ),
    }
    if tier.may_be_removable:
        parameters["Removable"] = _unless_yes(
            "Whether tables may be deleted: yes for a trial that is to be removed.",
        )
    return parameters


def tenant_conditions(tier: Tier) -> Json:
    conditions = {
        "HasDomain": is_given("DomainName"),
        "HasRecord": {"Fn::And": [is_given("DomainName"), is_given("HostedZone")]},
        "HasRegionInName": equals("BucketNamedByRegion", "yes"),
        "HasFirewall": is_given("FirewallArn"),
        "HasMailSender": is_given("MailSender"),
        "HasMailIdentity": is_given("MailIdentity"),
        "HasMailZone": {"Fn::And": [is_given("MailIdentity"), is_given("MailZone")]},
        "IsPrivate": is_given("VpcEndpoints"),
        "HasSnapStart": equals("SnapStart", "yes"),
        "HasOtherRegion": {"Fn::And": [is_given("OtherRegion"), is_given("OtherRegionKey")]},
        "HasDirectoryNetwork": {
            "Fn::And": [is_given("DirectorySubnets"), is_given("DirectorySecurityGroup")]
        },
    }
    if tier.may_be_removable:
        conditions["IsRemovable"] = equals("Removable", "yes")
    return conditions


def platform_parameters() -> Json:
    return {
        "HasLayerInBucket": _unless_yes(
            "Whether the layer lies in the code bucket.",
        ),
        "AlarmAddress": _text(
            "Who is told of alarms by mail.",
            Default="",
            AllowedPattern="^(|[^@ ]+@[^@ ]+[.][^@ ]+)$",
        ),
        "Domain": _text(
            "The domain of tenants' names, such as keyhaven.example.",
            Default="",
            AllowedPattern=NAME,
        ),
        "HostedZone": _text(
            "The hosted zone of that domain.",
            Default="",
            AllowedPattern=ZONE,
        ),
        "OtherVault": _text(
            "A vault elsewhere, for copies of backups.",
            Default="",
            AllowedPattern=OPTIONAL_ARN,
        ),
        "Deployers": _text(
            "Who runs tenants: accounts or ARNs of users, with commas; no roles.",
            Default="",
            AllowedPattern=PEOPLE,
        ),
        "CiIssuer": _text(
            "Who signs the tokens of CI, such as token.actions.githubusercontent.com.",
            Default="",
            AllowedPattern=NAME,
        ),
        "CiSubject": _text(
            "The subject of these tokens, such as repo:acme/keyhaven:environment:production.",
            Default="",
            AllowedPattern=SUBJECT,
        ),
        "CiProvider": _text(
            "Whether that issuer's provider is made, or is there.",
            AllowedValues=["made", "there"],
            Default="made",
        ),
    }


def platform_conditions() -> Json:
    return {
        "HasLayer": equals("HasLayerInBucket", "yes"),
        "HasAlarmAddress": is_given("AlarmAddress"),
        "HasCertificate": {"Fn::And": [is_given("Domain"), is_given("HostedZone")]},
        "HasOtherVault": is_given("OtherVault"),
        "HasDeployers": is_given("Deployers"),
        "HasCi": {"Fn::And": [is_given("CiIssuer"), is_given("CiSubject")]},
        "MakesCiProvider": {
            "Fn::And": [
                *(is_given("CiIssuer"), is_given("CiSubject")),
                equals("CiProvider", "made"),
            ]
        },
    }
