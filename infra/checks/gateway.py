"""The API: each route leads to its function, and nothing is seen, served or called beyond."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chalicelib.endpoint_groups import CATCH_ALL
from chalicelib.web.envelope import SECURITY_HEADERS
from infra.checks.reading import as_list, named, of_kind, only
from infra.endpoints import everything
from infra.template.elements import Json

METHODS = {"get", "head", "post", "put", "patch", "delete"}
ANYWHERE = {"/", "/{proxy+}"}
_SEEN_BY_LOGS = {
    *("requestId", "identity.sourceIp", "httpMethod", "resourcePath", "status"),
    *("responseLatency", "responseLength", "integration.status", "error.responseType"),
}
_INTEGRATION = "x-amazon-apigateway-integration"
_POLICY = "x-amazon-apigateway-policy"
_ENDPOINTS = {"Fn::Split": [",", {"Ref": "VpcEndpoints"}]}
_BY_ENDPOINTS = {
    "Fn::If": [
        "IsPrivate",
        {"Types": ["PRIVATE"], "VpcEndpointIds": _ENDPOINTS},
        {"Types": ["REGIONAL"]},
    ]
}
_THESE = {"StringEquals": {"aws:SourceVpce": _ENDPOINTS}}
_OTHERS = {"StringNotEquals": {"aws:SourceVpce": _ENDPOINTS}}


def every_route_leads_to_its_function(template: Json) -> Iterator[str]:
    wanted = _wanted()
    for (path, method), alias in _leads(template).items():
        group = _group_behind(template, alias)
        if group != wanted.get((path, method), CATCH_ALL):
            yield f"{method} {path} is of {wanted.get((path, method))} and leads to {group}."


def nothing_else_is_served(template: Json) -> Iterator[str]:
    """Each path has every method, so that no refusal is the gateway's own."""
    ours = {path for path, _ in _wanted()} | ANYWHERE
    paths = _document(template).get("paths", {})
    for path in paths.keys() ^ ours:
        yield f"{path} is served, but no route." if path in paths else f"{path} is not served."
    for path, methods in paths.items():
        if methods.keys() != METHODS:
            yield f"{path} has other methods than {', '.join(sorted(METHODS))}."
    if "*/*" in _document(template).get("x-amazon-apigateway-binary-media-types", []):
        yield "All bodies are sent as base64."


def functions_may_be_called(template: Json) -> Iterator[str]:
    """By this API and no other; without it, every request is an error of the gateway."""
    allowed = {
        name
        for _, each in of_kind(template, "Lambda::Permission")
        if each["Principal"] == "apigateway.amazonaws.com" and "Api" in named(each.get("SourceArn"))
        for name in named(each["FunctionName"])
    }
    for alias in sorted({alias for alias in _leads(template).values() if alias} - allowed):
        yield f"The API may not call {alias}."
    for name, each in of_kind(template, "Lambda::Permission"):
        if "SourceArn" not in each or each["Action"] != "lambda:InvokeFunction":
            yield f"{name} lets others call than who it is for."


def private_apis_are_closed(template: Json) -> Iterator[str]:
    """An API is private where endpoints are named, and then nobody comes by another way."""
    if only(template, "ApiGateway::RestApi").get("EndpointConfiguration") != _BY_ENDPOINTS:
        yield "The API is on the internet, or not, whatever endpoints are named."
    choice = _document(template).get(_POLICY, {}).get("Fn::If", [])
    if [*choice[:1], *choice[2:]] != ["IsPrivate", {"Ref": "AWS::NoValue"}]:
        yield "A private API has no policy, or a public one has it too."
        return
    statements = as_list(choice[1].get("Statement"))
    for each in statements:
        if each.get("Effect") != "Deny" and each.get("Condition") != _THESE:
            yield "A private API answers whoever comes, by whatever way."
    if not any(_denies_others(each) for each in statements):
        yield "A private API denies nobody who comes by another way."


def _denies_others(statement: Json) -> bool:
    is_of_all = statement.get("Principal") == "*" and statement.get("Resource") == "execute-api:/*"
    return (
        statement.get("Effect") == "Deny"
        and is_of_all
        and statement.get("Action") == "execute-api:Invoke"
        and statement.get("Condition") == _OTHERS
    )


def names_are_reached_by_tls(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "ApiGateway::DomainName"):
        if each.get("SecurityPolicy") != "TLS_1_2":
            yield f"{name} is reached by a TLS that is too old."


def bodies_stay_unseen(template: Json) -> Iterator[str]:
    stage = only(template, "ApiGateway::Stage")
    for each in stage.get("MethodSettings", []):
        if each.get("DataTraceEnabled") is not False:
            yield f"Bodies of {each.get('HttpMethod')} {each.get('ResourcePath')} are logged."
        if each.get("LoggingLevel") != "OFF":
            yield "The gateway logs its own work, to a group that nothing encrypts or ends."
    if stage.get("TracingEnabled") is not False:
        yield "Traces of the stage hold addresses, and so the tokens of links."
    log = stage.get("AccessLogSetting", {})
    if not log.get("DestinationArn"):
        yield "There is no access log."
    for value in json.loads(log.get("Format", "{}")).values():
        if value.removeprefix("$context.") not in _SEEN_BY_LOGS:
            yield f"The access log shows {value}."


def requests_are_bounded(template: Json) -> Iterator[str]:
    stage = only(template, "ApiGateway::Stage")
    bounds = {
        (each.get("HttpMethod"), each.get("ResourcePath")): each.get("ThrottlingRateLimit")
        for each in stage.get("MethodSettings", [])
        if each.get("ThrottlingBurstLimit")
    }
    usual = bounds.get(("*", "/*"))
    if not usual:
        yield "Requests are not throttled."
    for served in everything():
        if "Login.loginPost" in served.route.action:
            for path in served.route.gateway_paths():
                bound = bounds.get((served.route.method, "/" + path.replace("/", "~1")))
                if not bound or not usual or bound >= usual:
                    yield f"{served.route.method} {path} is not throttled by itself."


def refusals_wear_the_envelope(template: Json) -> Iterator[str]:
    refusals = _document(template).get("x-amazon-apigateway-gateway-responses", {})
    for kind in ("DEFAULT_4XX", "DEFAULT_5XX", "MISSING_AUTHENTICATION_TOKEN", "THROTTLED"):
        if kind not in refusals:
            yield f"{kind} is answered in the gateway's own words."
    for kind, refusal in refusals.items():
        answer = json.loads(refusal["responseTemplates"]["application/json"])
        if str(answer["header"]["code"]) != refusal["statusCode"] or answer["body"] != "":
            yield f"{kind} is not answered in the envelope."
        for name, value in SECURITY_HEADERS.items():
            sent = refusal["responseParameters"].get(f"gatewayresponse.header.{name}")
            if sent != f"'{value}'":
                yield f"{kind} is answered without {name}."


def _wanted() -> dict[tuple[str, str], str]:
    """The group of each path and method that is a route."""
    return {
        (path, served.route.method.lower()): served.group.name
        for served in everything()
        for path in served.route.gateway_paths()
    }


def _document(template: Json) -> Json:
    body: Json = only(template, "ApiGateway::RestApi").get("Body", {})
    return body


def _leads(template: Json) -> dict[tuple[str, str], str | None]:
    """The alias each path and method leads to."""
    return {
        (path, method): _alias_in(declared.get(_INTEGRATION, {}).get("uri"))
        for path, methods in _document(template).get("paths", {}).items()
        for method, declared in methods.items()
    }


def _alias_in(uri: Any) -> str | None:
    names = [name for name in named(uri) if not name.startswith("AWS::")]
    return names[0] if len(names) == 1 else None


def _group_behind(template: Json, alias: str | None) -> str | None:
    resources = template["Resources"]
    function = named(resources.get(alias, {}).get("Properties", {}).get("FunctionName"))
    for name in function & resources.keys():
        variables = resources[name]["Properties"]["Environment"]["Variables"]
        return str(variables.get("ENDPOINT_GROUP"))
    return None
