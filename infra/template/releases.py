"""How a release reaches a tenant: a tenth of the requests first, and back when an alarm rings."""

from __future__ import annotations

from infra.template.alarms import of_release
from infra.template.compute import release_of
from infra.template.elements import Json, Resources, arn, ref, resource, sub
from infra.template.functions import ALIAS, FUNCTIONS, PROBER, Function
from infra.template.roles import allow, policy, trust
from infra.template.tiers import Tier

CANARY = "CodeDeployDefault.LambdaCanary10Percent5Minutes"


def releases(tier: Tier) -> Resources:
    if not tier.is_gradual:
        return {}
    served = [function for function in FUNCTIONS if function.is_served]
    return {
        "Releases": resource("CodeDeploy::Application", {"ComputePlatform": "Lambda"}),
        "ReleasesRole": resource("IAM::Role", _role(served)),
        **{
            release_of(each): resource("CodeDeploy::DeploymentGroup", _group(each))
            for each in served
        },
    }


def _group(function: Function) -> Json:
    return {
        "ApplicationName": ref("Releases"),
        "ServiceRoleArn": arn("ReleasesRole"),
        "DeploymentConfigName": CANARY,
        "DeploymentStyle": {
            "DeploymentType": "BLUE_GREEN",
            "DeploymentOption": "WITH_TRAFFIC_CONTROL",
        },
        "AlarmConfiguration": {
            "Enabled": True,
            "Alarms": [{"Name": ref(name)} for name in of_release(function)],
        },
        "AutoRollbackConfiguration": {
            "Enabled": True,
            "Events": [
                "DEPLOYMENT_FAILURE",
                "DEPLOYMENT_STOP_ON_ALARM",
                "DEPLOYMENT_STOP_ON_REQUEST",
            ],
        },
    }


def _role(served: list[Function]) -> Json:
    """May move the aliases of the tenant's functions, look at alarms, and have the prober ask.

    CodeDeploy calls the prober as this role, and leads back what it could not have asked.
    """
    aliases = [sub(f"${{{each.id}.Arn}}:{ALIAS}") for each in served]
    functions = [arn(each.id) for each in served]
    alarms = [
        sub("arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*"),
    ]
    statements = (
        allow(["lambda:GetAlias", "lambda:UpdateAlias"], [*functions, *aliases]),
        allow(["lambda:GetProvisionedConcurrencyConfig"], aliases),
        allow(["cloudwatch:DescribeAlarms"], alarms),
        allow(["lambda:InvokeFunction"], [arn(PROBER)]),
    )
    return {
        "Path": "/keyhaven/",
        "AssumeRolePolicyDocument": trust("codedeploy.amazonaws.com"),
        "PermissionsBoundary": ref("PermissionsBoundary"),
        "Policies": [policy("release", statements)],
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }
