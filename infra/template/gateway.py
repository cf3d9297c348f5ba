"""The API in front of the functions: every path with every method, and answers of its own.

What is no endpoint reaches the least privileged group too, so that every refusal is ours.
A method that is not spelled out, or a path without a catch-all, API Gateway would answer by
itself; and of an Authorization header on such a path it would make an AWS signature, and
repeat it in its answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from chalicelib.domain.ids import named_id
from chalicelib.endpoint_groups import CATCH_ALL, GROUPS
from chalicelib.web.envelope import JSON_TYPE, SECURITY_HEADERS, UNKNOWN_ACTION
from infra.endpoints import Served, everything
from infra.template.elements import Json, sub
from infra.template.functions import Function, of_group
from infra.template.private import POLICY, policy

METHODS = ("get", "head", "post", "put", "patch", "delete")
ANYWHERE = ("/", "/{proxy+}")
INVOKE = (
    "arn:${AWS::Partition}:apigateway:${AWS::Region}"
    ":lambda:path/2015-03-31/functions/${%s}/invocations"
)
BINARY_TYPES = (
    "image/apng",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/webp",
    "image/*",
    "multipart/form-data",
)
"""What browsers name first in Accept where they want a picture, and forms with a file. All
types together would make base64 of every body, and a 400 of requests without Accept."""
REFUSALS: Mapping[str, tuple[int, str]] = {
    "MISSING_AUTHENTICATION_TOKEN": (HTTPStatus.NOT_FOUND, "Not Found"),
    "RESOURCE_NOT_FOUND": (HTTPStatus.NOT_FOUND, "Not Found"),
    "INVALID_SIGNATURE": (HTTPStatus.NOT_FOUND, "Not Found"),
    "THROTTLED": (HTTPStatus.TOO_MANY_REQUESTS, "There are too many requests; please wait."),
    "REQUEST_TOO_LARGE": (
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "The request is larger than the service reads.",
    ),
    "UNSUPPORTED_MEDIA_TYPE": (HTTPStatus.BAD_REQUEST, "Bad Request"),
    "INTEGRATION_FAILURE": (HTTPStatus.BAD_GATEWAY, "An Internal Error Has Occurred."),
    "INTEGRATION_TIMEOUT": (HTTPStatus.GATEWAY_TIMEOUT, "The service is busy."),
    "WAF_FILTERED": (HTTPStatus.FORBIDDEN, "The request is refused."),
    "DEFAULT_4XX": (HTTPStatus.BAD_REQUEST, "Bad Request"),
    "DEFAULT_5XX": (HTTPStatus.INTERNAL_SERVER_ERROR, "An Internal Error Has Occurred."),
}
"""What the gateway answers by itself, in our words."""


def document() -> Json:
    """The API as the gateway imports it."""
    return {
        "swagger": "2.0",
        "info": {"title": sub("keyhaven-${TenantId}"), "version": "1.0"},
        "schemes": ["https"],
        "paths": paths(),
        POLICY: policy(),
        "x-amazon-apigateway-binary-media-types": list(BINARY_TYPES),
        "x-amazon-apigateway-gateway-responses": {
            kind: _refusal(*said) for kind, said in REFUSALS.items()
        },
    }


def paths() -> Json:
    """Every path, each with all methods; what is no route leads to the least privileged group."""
    routes: dict[str, dict[str, Served]] = {path: {} for path in ANYWHERE}
    routes |= served_paths()
    return {path: _methods(path, methods) for path, methods in routes.items()}


def served_paths() -> dict[str, dict[str, Served]]:
    """The routes and pages by path, as the gateway takes it, and method."""
    found: dict[str, dict[str, Served]] = {}
    for served in everything():
        for path in served.route.gateway_paths():
            found.setdefault(path, {})[served.route.method.lower()] = served
    return dict(sorted(found.items()))


def called() -> frozenset[Function]:
    """The functions the API leads to."""
    return frozenset(of_group(group) for group in GROUPS)


def _catch_all() -> Function:
    [group] = (group for group in GROUPS if group.name == CATCH_ALL)
    return of_group(group)


def _methods(path: str, methods: Mapping[str, Served]) -> Json:
    leads_to = {name: of_group(served.group) for name, served in methods.items()}
    otherwise = _catch_all()
    return {name: _method(path, leads_to.get(name, otherwise)) for name in METHODS}


def _method(path: str, function: Function) -> Json:
    parameters = [
        {"name": name, "in": "path", "required": True, "type": "string"} for name in _names(path)
    ]
    return {
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "responses": {},
        **({"parameters": parameters} if parameters else {}),
        "x-amazon-apigateway-integration": {
            "type": "aws_proxy",
            "httpMethod": "POST",
            "passthroughBehavior": "when_no_match",
            "uri": sub(INVOKE % function.alias),
        },
    }


def _names(path: str) -> Iterator[str]:
    for segment in path.split("/"):
        if segment.startswith("{"):
            yield segment.strip("{}+")


def _refusal(status: int, message: str) -> Json:
    headers = {"Content-Type": JSON_TYPE, **SECURITY_HEADERS}
    return {
        "statusCode": str(int(status)),
        "responseParameters": {
            f"gatewayresponse.header.{name}": f"'{value}'" for name, value in headers.items()
        },
        "responseTemplates": {"application/json": _envelope(int(status), message)},
    }


def _envelope(status: int, message: str) -> str:
    """The envelope but for `servertime`: the gateway knows only milliseconds.

    It puts in what begins with a dollar sign; of the path only the part we have written.
    """
    header: dict[str, Any] = {
        "id": "$context.requestId",
        "status": "error",
        "action": named_id(UNKNOWN_ACTION),
        "message": message,
        "url": "$context.resourcePath",
        "code": status,
    }
    return json.dumps({"header": header, "body": ""})
