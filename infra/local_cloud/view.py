"""Templates as the local cloud takes them: the same stacks, said in ways it understands.

- It reads neither gateway responses nor binary types from the document of an API, so they are
  resources, which a deployment waits for, and a property.
- A reference to a secret gives it the name where AWS gives the ARN, so it is asked for the ARN.
- It has no gradual releases, no sums in alarms, no selections of what is backed up, no dashboards
  or saved queries, no policies of topics and no issuers of tokens, and it speaks plain HTTP; what
  needs these is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from infra.checks.reading import of_kind
from infra.template.elements import Json, Resources, attribute, logical, ref, resource

_UNKNOWN = frozenset(
    {
        *("AWS::Backup::BackupSelection", "AWS::WAFv2::WebACLAssociation"),
        *("AWS::Logs::QueryDefinition", "AWS::CloudWatch::Dashboard", "AWS::SNS::TopicPolicy"),
        "AWS::IAM::OIDCProvider",
    }
)
_GRADUAL = "AWS::CodeDeploy::"
_ALARM = "AWS::CloudWatch::Alarm"
_API = "AWS::ApiGateway::RestApi"
_BUCKET_POLICY = "AWS::S3::BucketPolicy"
"""Ours refuses whoever comes without TLS."""
_BINARY_TYPES = "x-amazon-apigateway-binary-media-types"
_RESPONSES = "x-amazon-apigateway-gateway-responses"


def view(template: Json) -> Json:
    """The template of the same stack for the local cloud."""
    taken = {
        name: _taken(declared)
        for name, declared in template["Resources"].items()
        if not is_left_out(declared)
    }
    responses = _gateway_responses(taken)
    for name, _ in of_kind(template, "ApiGateway::Deployment"):
        taken[name]["DependsOn"] = sorted(responses)
    secrets = {name for name, _ in of_kind(template, "SecretsManager::Secret")}
    said: Json = {**template, "Resources": taken | responses}
    return {name: _by_arn(value, secrets) for name, value in said.items()}


def is_left_out(declared: Json) -> bool:
    kind = declared["Type"]
    is_sum = kind == _ALARM and "Metrics" in declared["Properties"]
    return is_sum or kind in _UNKNOWN | {_BUCKET_POLICY} or kind.startswith(_GRADUAL)


def _taken(declared: Json) -> Json:
    said = {name: value for name, value in declared.items() if name != "UpdatePolicy"}
    if declared["Type"] != _API:
        return said
    properties = declared["Properties"]
    types = properties["Body"][_BINARY_TYPES]
    return {**said, "Properties": {**properties, "BinaryMediaTypes": types}}


def _gateway_responses(resources: Resources) -> Resources:
    return {
        logical("refusal", kind.lower()): _gateway_response(api, kind, said)
        for api, document in _documents(resources)
        for kind, said in document[_RESPONSES].items()
    }


def _documents(resources: Resources) -> Iterator[tuple[str, Json]]:
    for name, declared in resources.items():
        if declared["Type"] == _API:
            yield name, declared["Properties"]["Body"]


def _gateway_response(api: str, kind: str, said: Json) -> Json:
    properties = {
        "RestApiId": ref(api),
        "ResponseType": kind,
        "StatusCode": said["statusCode"],
        "ResponseParameters": said["responseParameters"],
        "ResponseTemplates": said["responseTemplates"],
    }
    return resource("ApiGateway::GatewayResponse", properties)


def _by_arn(value: Any, secrets: Collection[str]) -> Any:
    """The same value, with the ARN of each secret asked for by name."""
    if isinstance(value, list):
        return [_by_arn(each, secrets) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"Ref"} and value["Ref"] in secrets:
        return attribute(value["Ref"], "Id")
    return {name: _by_arn(each, secrets) for name, each in value.items()}
