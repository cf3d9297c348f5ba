"""The stack of one tenant, composed from the code: what is written here is what is deployed.

Plain CloudFormation, without transformations: what is linted, tested and reviewed is what
CloudFormation gets (ADR 14).
"""

from __future__ import annotations

from collections.abc import Mapping

from infra.bundle.bundle import Bundle
from infra.template.alarms import alarms
from infra.template.api import STAGE, api
from infra.template.compute import Release, functions
from infra.template.elements import Json, arn, attribute, either, merged, ref, sub
from infra.template.given import given
from infra.template.identity import HAS_IDENTITY, identity, record_outputs
from infra.template.parameters import tenant_conditions, tenant_parameters
from infra.template.private import IS_PRIVATE, address
from infra.template.releases import releases
from infra.template.seeing import queries
from infra.template.stores import SECRETS, stores
from infra.template.tables import prefix, tables
from infra.template.tiers import Tier

FIRST_EPOCH = 1


def tenant(
    tier: Tier,
    bundle: Bundle,
    epoch: int = FIRST_EPOCH,
    values: Mapping[str, str] | None = None,
) -> Json:
    """The template of a tier's tenants, with the tables of an epoch.

    `values` are the tenant's parameters: when one changes that a function reads, the name of its
    version does, as CloudFormation would not notice by itself.
    """
    declared, conditions = tenant_parameters(tier), tenant_conditions(tier)
    parameters = given(declared, conditions, values or {})
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"Keyhaven, one tenant, {tier.name}",
        "Parameters": declared,
        "Conditions": conditions,
        "Resources": merged(
            stores(),
            tables(epoch, may_be_removable=tier.may_be_removable),
            functions(Release(tier, bundle, epoch, parameters)),
            api(parameters),
            releases(tier),
            alarms(tier, epoch),
            identity(),
            queries(),
        ),
        "Outputs": outputs(epoch),
    }


def outputs(epoch: int) -> Json:
    public = sub(f"https://${{Api}}.execute-api.${{AWS::Region}}.${{AWS::URLSuffix}}/{STAGE}")
    values = {
        "ApiId": ref("Api"),
        "ApiUrl": either(IS_PRIVATE, address(STAGE), public),
        "BaseUrl": ref("BaseUrl"),
        "TablePrefix": sub(prefix(epoch)),
        "TenantKeyArn": arn("TenantKey"),
        "ObjectsBucket": ref("Objects"),
        "DeadLettersUrl": ref("DeadLetters"),
        **{name: ref(name) for name in SECRETS},
    }
    where = {
        "DomainTarget": attribute("Domain", "RegionalDomainName"),
        "DomainTargetZone": attribute("Domain", "RegionalHostedZoneId"),
    }
    return {
        **{name: {"Value": value} for name, value in values.items()},
        **_only_if("HasDomain", where),
        **_only_if(HAS_IDENTITY, record_outputs()),
    }


def _only_if(condition: str, values: Json) -> Json:
    return {name: {"Value": each, "Condition": condition} for name, each in values.items()}
