"""The stack all tenants of a cell share: code, layer, firewall, alarms, backups, and the bound
of what any role may do. A cell is an account with a region.
"""

from __future__ import annotations

from infra.bundle.bundle import Bundle
from infra.bundle.runtime import ARCHITECTURE, RUNTIME
from infra.template.buckets import bucket, only_encrypted_ways
from infra.template.cell.alarms import cell_alarms
from infra.template.cell.backups import VAULT, backups
from infra.template.cell.boundary import boundary
from infra.template.cell.ci import CI, ci
from infra.template.cell.deployers import DEPLOYER, deployers
from infra.template.cell.firewall import firewall
from infra.template.cell.tenants_role import ROLE, tenants_role
from infra.template.elements import Json, Resources, arn, kept, merged, ref, resource, sub
from infra.template.parameters import platform_conditions, platform_parameters
from infra.template.roles import trust
from infra.template.seeing import dashboards

REGISTRY = "keyhaven.registry"
"""The table of tenants. Its name lies outside of what the bound of roles allows."""
CODE = "code"
"""What the cell's bucket is called, where that of a tenant has the tenant's name."""


def platform(bundle: Bundle) -> Json:
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Keyhaven, what the tenants of a cell share",
        "Parameters": platform_parameters(),
        "Conditions": platform_conditions(),
        "Resources": merged(
            _registry(),
            _code(bundle),
            _alarms(),
            cell_alarms(),
            dashboards(),
            boundary(),
            tenants_role(),
            deployers(),
            ci(),
            _gateway(),
            firewall(),
            _certificate(),
            backups(),
        ),
        "Outputs": _outputs(bundle),
    }


def _outputs(bundle: Bundle) -> Json:
    values: Json = {
        "CodeBucket": {"Value": ref("Code")},
        "LayerArn": {"Value": ref(_layer_id(bundle)), "Condition": "HasLayer"},
        "AlarmTopic": {"Value": ref("AlarmTopic")},
        "PermissionsBoundary": {"Value": ref("Boundary")},
        "FirewallArn": {"Value": arn("Firewall")},
        "CertificateArn": {"Value": ref("Certificate"), "Condition": "HasCertificate"},
        "Domain": {"Value": ref("Domain"), "Condition": "HasCertificate"},
        "HostedZone": {"Value": ref("HostedZone"), "Condition": "HasCertificate"},
        "VaultName": {"Value": ref(VAULT)},
        "CopiesKeyArn": {"Value": arn("VaultKey")},
        "RestoreRoleArn": {"Value": arn("RestoreRole")},
        ROLE: {"Value": arn(ROLE)},
        DEPLOYER: {"Value": arn(DEPLOYER), "Condition": "HasDeployers"},
        CI: {"Value": arn(CI), "Condition": "HasCi"},
    }
    return values


def _registry() -> Resources:
    """Which tenants the cell has, and how far each has come; no function may reach it."""
    table: Json = {
        "TableName": REGISTRY,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "tenant", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "tenant", "KeyType": "HASH"}],
        "SSESpecification": {"SSEEnabled": True},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "DeletionProtectionEnabled": True,
        "Tags": [{"Key": "keyhaven-backup", "Value": "yes"}],
    }
    return {"Registry": kept("DynamoDB::Table", table)}


def _code(bundle: Bundle) -> Resources:
    name = sub(f"keyhaven-{CODE}-${{AWS::AccountId}}-${{AWS::Region}}")
    by_s3_key = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    layer: Json = {
        "LayerName": "keyhaven",
        "Description": f"What Keyhaven imports, {bundle.layer_digest}",
        "CompatibleRuntimes": [RUNTIME],
        "CompatibleArchitectures": [ARCHITECTURE],
        "Content": {"S3Bucket": ref("Code"), "S3Key": bundle.layer_key},
    }
    # The bucket is there first, then what lies in it, then the layer made of that.
    version = kept("Lambda::LayerVersion", layer, Condition="HasLayer")
    return {
        "Code": bucket(name, by_s3_key),
        "CodePolicy": only_encrypted_ways("Code"),
        _layer_id(bundle): version,
    }


def _layer_id(bundle: Bundle) -> str:
    """Another for other content, so that functions of the last release keep theirs."""
    return f"Layer{bundle.layer_digest}"


def _alarms() -> Resources:
    topic: Json = {"DisplayName": "Keyhaven", "KmsMasterKeyId": ref("AlarmKey")}
    mail: Json = {
        "TopicArn": ref("AlarmTopic"),
        "Protocol": "email",
        "Endpoint": ref("AlarmAddress"),
    }
    return {
        "AlarmKey": resource("KMS::Key", _alarm_key(), DeletionPolicy="Delete", **_REPLACED),
        "AlarmTopic": resource("SNS::Topic", topic),
        "AlarmMail": resource("SNS::Subscription", mail, Condition="HasAlarmAddress"),
    }


_REPLACED = {"UpdateReplacePolicy": "Delete"}


def _alarm_key() -> Json:
    """A key of the cell, since alarms and events cannot use AWS's own for topics."""
    return {
        "Description": "Keyhaven, alarms",
        "EnableKeyRotation": True,
        "KeyPolicy": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "Account",
                    "Effect": "Allow",
                    "Principal": {"AWS": sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:root")},
                    "Action": "kms:*",
                    "Resource": "*",
                },
                {
                    "Sid": "Alarms",
                    "Effect": "Allow",
                    "Principal": {"Service": ["cloudwatch.amazonaws.com", "events.amazonaws.com"]},
                    "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
                    "Resource": "*",
                },
            ],
        },
    }


def _gateway() -> Resources:
    """Let the gateways of the account write logs."""
    role: Json = {
        "Path": "/keyhaven/",
        "AssumeRolePolicyDocument": trust("apigateway.amazonaws.com"),
        "ManagedPolicyArns": [
            sub(
                "arn:${AWS::Partition}:iam::aws:policy/service-role/"
                "AmazonAPIGatewayPushToCloudWatchLogs"
            )
        ],
    }
    account: Json = {"CloudWatchRoleArn": arn("GatewayRole")}
    return {
        "GatewayRole": resource("IAM::Role", role),
        "GatewayAccount": resource("ApiGateway::Account", account),
    }


def _certificate() -> Resources:
    certificate: Json = {
        "DomainName": sub("*.${Domain}"),
        "ValidationMethod": "DNS",
        "DomainValidationOptions": [
            {"DomainName": sub("*.${Domain}"), "HostedZoneId": ref("HostedZone")}
        ],
    }
    kind = "CertificateManager::Certificate"
    return {"Certificate": resource(kind, certificate, Condition="HasCertificate")}
