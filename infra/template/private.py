"""An API that is not on the internet: reached through VPC endpoints alone, where some are named.

The policy of such an API is part of its document: when the document changes, the gateway takes it
as a whole, so a policy goes with the endpoints. Taken from a property, it would stay, and refuse
everybody.
"""

from __future__ import annotations

from infra.template.elements import Json, either, ref

IS_PRIVATE = "IsPrivate"
POLICY = "x-amazon-apigateway-policy"
_HOST = "https://${Api}-${Endpoint}.execute-api.${AWS::Region}.${AWS::URLSuffix}/"
_CAME_BY = "aws:SourceVpce"


def endpoint_configuration() -> Json:
    private = {"Types": ["PRIVATE"], "VpcEndpointIds": _endpoints()}
    return either(IS_PRIVATE, private, {"Types": ["REGIONAL"]})


def policy() -> Json:
    """Whoever comes by one of these endpoints may ask; everybody else is denied besides.

    A denial counts whatever else allows, such as a right of somebody in this account.
    """
    statements = [
        _invoking("Allow", {"StringEquals": {_CAME_BY: _endpoints()}}),
        _invoking("Deny", {"StringNotEquals": {_CAME_BY: _endpoints()}}),
    ]
    return either(IS_PRIVATE, {"Version": "2012-10-17", "Statement": statements})


def address(stage: str) -> Json:
    """By the first endpoint: a name that leads to it wherever it is asked for."""
    first = {"Fn::Select": [0, _endpoints()]}
    return {"Fn::Sub": [f"{_HOST}{stage}", {"Endpoint": first}]}


def _endpoints() -> Json:
    return {"Fn::Split": [",", ref("VpcEndpoints")]}


def _invoking(effect: str, condition: Json) -> Json:
    return {
        "Effect": effect,
        "Principal": "*",
        "Action": "execute-api:Invoke",
        "Resource": "execute-api:/*",
        "Condition": condition,
    }
