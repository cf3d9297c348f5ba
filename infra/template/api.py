"""The REST API of a tenant: how many requests a second it takes, what it logs, its name."""

from __future__ import annotations

import json
from collections.abc import Iterator

from infra.endpoints import every_endpoint
from infra.template import gateway, private
from infra.template.elements import (
    Json,
    Resources,
    arn,
    attribute,
    digest,
    either,
    kept,
    ref,
    resource,
    sub,
)
from infra.template.given import Given

STAGE = "api"
RATE, BURST = 200, 400
SIGN_IN_RATE, SIGN_IN_BURST = 10, 20
"""Requests a second and at once: of the tenant, and of each way to sign in, which costs a core."""
SIGN_INS = frozenset({"AuthLogin.loginPost", "JwtLogin.loginPost"})
"""Actions that open a message somebody unknown has made."""
LOGGED = {
    "id": "$context.requestId",
    "ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.resourcePath",
    "status": "$context.status",
    "ms": "$context.responseLatency",
    "bytes": "$context.responseLength",
    "integration": "$context.integration.status",
    "refused": "$context.error.responseType",
}
"""Of each request: neither query string nor headers nor body, and of the path what we wrote."""


def api(parameters: Given) -> Resources:
    """The API of a tenant with these parameters.

    Of what is deployed the gateway keeps a copy, also of who may come, and by which address: so
    its name follows all that the API comes to.
    """
    properties = _api(gateway.document())
    deployment = f"Deployment{digest(parameters.settled(properties))}"
    return {
        "Api": resource("ApiGateway::RestApi", properties),
        deployment: resource("ApiGateway::Deployment", {"RestApiId": ref("Api")}),
        "Stage": resource("ApiGateway::Stage", _stage(deployment)),
        "AccessLogs": kept("Logs::LogGroup", log_group("access")),
        **_permissions(),
        **_domain(),
        **_firewall(),
    }


def log_group(name: str) -> Json:
    return {
        "LogGroupName": sub(f"/keyhaven/${{TenantId}}/{name}"),
        "RetentionInDays": 90,
        "KmsKeyId": arn("TenantKey"),
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }


def _api(body: Json) -> Json:
    return {
        "Name": sub("keyhaven-${TenantId}"),
        "EndpointConfiguration": private.endpoint_configuration(),
        "DisableExecuteApiEndpoint": either("HasDomain", yes=True, no=False),
        "FailOnWarnings": True,
        "Body": body,
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }


def _stage(deployment: str) -> Json:
    """The stage, which is not traced: its traces hold addresses as they were asked for.

    Links to a setup, and what a phone asks while it gets a key, have tokens in them. Functions
    are traced, and know of no address.
    """
    return {
        "RestApiId": ref("Api"),
        "DeploymentId": ref(deployment),
        "StageName": STAGE,
        "TracingEnabled": False,
        "AccessLogSetting": {"DestinationArn": arn("AccessLogs"), "Format": json.dumps(LOGGED)},
        "MethodSettings": [
            _bounds("*", "/*", RATE, BURST),
            *(_bounds(method, path, SIGN_IN_RATE, SIGN_IN_BURST) for method, path in _sign_ins()),
        ],
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }


def _bounds(method: str, path: str, rate: int, burst: int) -> Json:
    """Bounds of a method; bodies are secrets, so the gateway never logs them.

    Nor does it count each method by itself: each would cost seven metrics a month. What it would
    log of its own work goes to a group that nobody can declare before it is there, and that
    nothing encrypts or ends; the access log has the status of the function, and what refused.
    """
    return {
        "HttpMethod": method,
        "ResourcePath": path,
        "ThrottlingRateLimit": rate,
        "ThrottlingBurstLimit": burst,
        "LoggingLevel": "OFF",
        "DataTraceEnabled": False,
        "MetricsEnabled": False,
    }


def _sign_ins() -> Iterator[tuple[str, str]]:
    for served in every_endpoint():
        if served.route.action in SIGN_INS:
            for path in served.route.gateway_paths():
                yield served.route.method, "/" + path.replace("/", "~1")


def _permissions() -> Resources:
    """Let the API call each function it leads to, and nobody else's API."""
    source = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*"
    return {
        f"{function.id}Permission": resource(
            "Lambda::Permission",
            {
                "FunctionName": ref(function.alias),
                "Action": "lambda:InvokeFunction",
                "Principal": "apigateway.amazonaws.com",
                "SourceArn": sub(source),
            },
        )
        for function in gateway.called()
    }


def _domain() -> Resources:
    domain: Json = {
        "DomainName": ref("DomainName"),
        "RegionalCertificateArn": ref("CertificateArn"),
        "EndpointConfiguration": {"Types": ["REGIONAL"]},
        "SecurityPolicy": "TLS_1_2",
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }
    mapping: Json = {
        "DomainName": ref("Domain"),
        "RestApiId": ref("Api"),
        "Stage": ref("Stage"),
    }
    record: Json = {
        "HostedZoneId": ref("HostedZone"),
        "Name": ref("DomainName"),
        "Type": "A",
        "AliasTarget": {
            "DNSName": attribute("Domain", "RegionalDomainName"),
            "HostedZoneId": attribute("Domain", "RegionalHostedZoneId"),
            "EvaluateTargetHealth": False,
        },
    }
    only_if = {"Condition": "HasDomain"}
    return {
        "Domain": resource("ApiGateway::DomainName", domain, **only_if),
        "DomainMapping": resource("ApiGateway::BasePathMapping", mapping, **only_if),
        "DomainRecord": resource("Route53::RecordSet", record, Condition="HasRecord"),
    }


def _firewall() -> Resources:
    stage = "arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${Api}/stages/${Stage}"
    link: Json = {"ResourceArn": sub(stage), "WebACLArn": ref("FirewallArn")}
    kind = "WAFv2::WebACLAssociation"
    return {"FirewallLink": resource(kind, link, Condition="HasFirewall")}
