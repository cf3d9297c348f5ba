"""The description of the API in OpenAPI 3.1, made from routes, bodies and views.

`python -m infra.describe.openapi` writes it where `GET /openapi.json` finds it: making it imports
every route, which the group that serves it does not.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, get_args, get_type_hints

from chalicelib.domain.actor import Access
from chalicelib.domain.ids import named_id
from chalicelib.endpoint_groups import GROUPS
from chalicelib.services.operator.description import FILE
from chalicelib.web import filters
from chalicelib.web.access import CSRF_COOKIE, SAFE_METHODS, SESSION_COOKIE
from chalicelib.web.filters import Filter, Takes
from chalicelib.web.query import LARGEST_LIMIT, LARGEST_PAGE
from chalicelib.web.reply import Bare, Moved, Picture, Reply
from chalicelib.web.request import LONGEST_IDEMPOTENCY_KEY
from chalicelib.web.route import Route, View, as_is
from infra.describe.schemas import Schema, Schemas
from infra.endpoints import every_endpoint

ABOUT = """\
A password manager for teams. Secrets and metadata are OpenPGP messages that only clients
can read.

Answers come in an envelope of `header` and `body`. A path also works without `.json` when
the request accepts `application/json`. Bodies may be JSON, URL-encoded or multipart forms.
A caller is known by an access token, or by a session cookie; with the cookie, and for
guests, a change needs the CSRF token twice, as cookie and as header.

Whoever is not signed in gets 403, or 401 where the service is set up for deployed clients.
Names and usernames of v4 resources have 64 characters at most, or 255 where it is set up so.
"""
_UUID: Schema = {"type": "string", "format": "uuid"}
_SWITCH: Schema = {"type": "string", "enum": ["1", "0", "true", "false"]}
_KINDS: Mapping[str, Schema] = {
    "ids": _UUID,
    "ids or root": {"anyOf": [_UUID, {"type": "string", "enum": ["0", "false"]}]},
    "id": _UUID,
    "boolean": _SWITCH,
    "timestamp": {"type": "string", "pattern": "^[0-9]{1,19}$"},
    "search": {"type": "string", "minLength": 1, "maxLength": filters.LONGEST_SEARCH},
    "text": {"type": "string", "minLength": 1, "maxLength": filters.LONGEST_TEXT},
}
_REFUSALS: Mapping[int, tuple[str, str]] = {
    HTTPStatus.BAD_REQUEST: ("Invalid", "What was sent is invalid; the body names the fields."),
    HTTPStatus.UNAUTHORIZED: ("Unauthenticated", "The caller is not signed in."),
    HTTPStatus.FORBIDDEN: ("Forbidden", "The caller is not signed in, or may not do this."),
    HTTPStatus.NOT_FOUND: ("NotFound", "There is no such thing, or none the caller may see."),
    HTTPStatus.CONFLICT: ("Conflict", "Somebody else changes the same data."),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("TooLarge", "The request is too large."),
    HTTPStatus.TOO_MANY_REQUESTS: ("TooMany", "There are too many requests from one source."),
    HTTPStatus.INTERNAL_SERVER_ERROR: ("Accident", "The service has failed."),
    HTTPStatus.SERVICE_UNAVAILABLE: ("Unavailable", "The service is busy."),
}
_ELSEWHERE = "Elsewhere"
_LED = "SecondFactorMissing"
_LISTING = frozenset(module for group in GROUPS if group.leaves_answers for module in group.modules)
"""Modules whose answers may be too large for a function."""
_BEARER: Schema = {"bearer": []}
_SESSION: Schema = {"session": []}
_CSRF: Schema = {"csrfCookie": [], "csrfHeader": []}


def description() -> dict[str, Any]:
    """The whole document."""
    schemas = Schemas()
    paths: dict[str, dict[str, Any]] = {}
    routes = [served.route for served in every_endpoint()]
    for route, name in zip(routes, _names(routes), strict=True):
        item = paths.setdefault(route.path, {})
        item[route.method.lower()] = _operation(route, name, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Keyhaven", "version": "1.0.0", "description": ABOUT},
        "paths": dict(sorted(paths.items())),
        "components": {
            "securitySchemes": _security_schemes(),
            "parameters": {"ApiVersion": _api_version(), "IdempotencyKey": _idempotency_key()},
            "responses": {
                **{name: _refusal(text) for name, text in _REFUSALS.values()},
                _ELSEWHERE: _elsewhere(),
                _LED: _led(),
            },
            "schemas": dict(sorted({**schemas.named, **_envelopes()}.items())),
        },
    }


def text() -> str:
    return json.dumps(description(), indent=1, ensure_ascii=False) + "\n"


def body_schema(route: Route, schemas: Schemas) -> Schema:
    """The schema of an answer's body: of the type its view returns."""
    if route.shape is not None:
        return schemas.of(route.shape)
    speaker = route.handler if route.view is as_is else route.view
    returned = get_type_hints(speaker, include_extras=True)["return"]
    if isinstance(returned, type) and issubclass(returned, Reply):
        raise TypeError(f"Neither view nor handler say what {route.method} {route.path} returns.")
    return schemas.of(returned)


def _names(routes: Sequence[Route]) -> Iterator[str]:
    """Operation ids such as `users.index`, numbered where a function has several endpoints."""
    plain = [_function(route) for route in routes]
    total, met = Counter(plain), Counter[str]()
    for name in plain:
        met[name] += 1
        yield name if total[name] == 1 else f"{name}.{met[name]}"


def _function(route: Route) -> str:
    return f"{route.noun}.{route.handler.__name__}"


def _operation(route: Route, name: str, schemas: Schemas) -> dict[str, Any]:
    operation = {
        "operationId": name,
        "tags": [route.noun],
        "summary": inspect.getdoc(route.handler),
        "x-action": {"name": route.action, "id": named_id(route.action)},
        "security": _security(route),
        "parameters": [
            *_path_parameters(route),
            *_query_parameters(route),
            *_header_parameters(route),
        ],
        "responses": dict(sorted(_responses(route, schemas).items())),
    }
    if route.body is not None:
        schema = schemas.of(route.body)
        operation["requestBody"] = {
            "required": all(schemas.requires(each) for each in schema.get("anyOf", [schema])),
            "content": {"application/json": {"schema": schema}},
        }
    return operation


def _path_parameters(route: Route) -> Iterator[Schema]:
    for name in route.path_names:
        schema = _UUID if name.endswith("_id") else {"type": "string", "minLength": 1}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(route: Route) -> Iterator[Schema]:
    options = route.query
    yield {"$ref": "#/components/parameters/ApiVersion"}
    for name in sorted(options.contains):
        default = "1" if name in options.default_contains else "0"
        yield _parameter(f"contain[{name}]", {**_SWITCH, "default": default})
    for name, kind in sorted(options.filters.items()):
        yield _filter(name, kind)
    for name in sorted(options.flags):
        yield _parameter(name, {**_SWITCH, "default": "0"})
    if options.sortable:
        yield _parameter("sort", {"type": "string", "enum": list(options.sortable)})
        yield _parameter("direction", {"type": "string", "enum": ["asc", "desc"]})
    if options.is_paginated:
        if options.page_size is None:
            yield _parameter("limit", _up_to(LARGEST_LIMIT))
        yield _parameter("page", _up_to(LARGEST_PAGE))


def _header_parameters(route: Route) -> Iterator[Schema]:
    if route.again is not None:
        yield {"$ref": "#/components/parameters/IdempotencyKey"}


def _filter(name: str, kind: Filter) -> Schema:
    schema = {"type": "string", "enum": list(kind.choices)} if kind.choices else _KINDS[kind.kind]
    about = {"description": kind.about} if kind.about else {}
    if kind.takes is not Takes.ALL:
        return _parameter(f"filter[{name}]", schema) | about
    several = {"type": "array", "items": schema, "minItems": 1, "maxItems": filters.MOST_VALUES}
    return {**_parameter(f"filter[{name}][]", several), "style": "form", "explode": True} | about


def _parameter(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _up_to(most: int) -> Schema:
    about = "What is less, or no number, counts as 1; what is more as the most."
    return {"type": "integer", "minimum": 1, "maximum": most, "description": about}


def _responses(route: Route, schemas: Schemas) -> dict[str, Any]:
    refusals = {
        str(int(status)): {"$ref": f"#/components/responses/{_REFUSALS[status][0]}"}
        for status in _refusals(route)
    }
    if route.blocked is not None:
        refusals["400"] = _blocked(route.blocked, schemas)
    success = _success(route, schemas)
    if route.status == HTTPStatus.FORBIDDEN:
        return {**refusals, "403": _either(success["200"])}
    if route.access is not Access.PUBLIC and not route.before_second_factor:
        success["302"] = {"$ref": f"#/components/responses/{_LED}"}
    if route.module in _LISTING and "200" in success:
        success["303"] = {"$ref": f"#/components/responses/{_ELSEWHERE}"}
    return {**success, **refusals}


def _either(told: Schema) -> Schema:
    """A refusal, or what an endpoint tells by the status of one."""
    schema = told["content"]["application/json"]["schema"]
    either = {"anyOf": [{"$ref": "#/components/schemas/Refusal"}, schema]}
    about = "The caller is not signed in, or has to do something first; the body says what."
    return {"description": about, "content": {"application/json": {"schema": either}}}


def _blocked(view: View, schemas: Schemas) -> Schema:
    """The refusal of what is invalid, or of what something stands in the way of."""
    shape = schemas.of(get_type_hints(view, include_extras=True)["return"])
    invalid = {"$ref": "#/components/schemas/Refusal"}
    either = {"anyOf": [invalid, _envelope(shape, is_paginated=False)]}
    about = "Invalid, or something has to be done first; the body says what."
    return {"description": about, "content": {"application/json": {"schema": either}}}


def _success(route: Route, schemas: Schemas) -> dict[str, Any]:
    returned = _returned(route)
    if Picture in returned:
        return {"200": {"description": "Done.", "content": {"image/*": {}}}}
    schema = body_schema(route, schemas)
    if Moved in returned:
        return {"301": {"description": "Found elsewhere.", "headers": {"Location": _location()}}}
    if route.method == "HEAD":
        return {"200": {"description": "Done."}}
    in_envelope = _envelope(schema, is_paginated=route.query.is_paginated)
    if Bare in returned:
        schema = {"oneOf": [schema, in_envelope]} if Reply in returned else schema
    else:
        schema = in_envelope
    return {"200": {"description": "Done.", "content": {"application/json": {"schema": schema}}}}


def _returned(route: Route) -> tuple[Any, ...]:
    """The kinds of answer a handler's annotation names."""
    returned = get_type_hints(route.handler)["return"]
    return get_args(returned) or (returned,)


def _refusals(route: Route) -> Iterator[HTTPStatus]:
    is_change = route.method not in SAFE_METHODS
    knows_callers = route.access is not Access.PUBLIC
    yield HTTPStatus.BAD_REQUEST
    if knows_callers:
        yield HTTPStatus.UNAUTHORIZED
    if knows_callers or is_change:
        yield HTTPStatus.FORBIDDEN
        yield HTTPStatus.CONFLICT
    yield HTTPStatus.NOT_FOUND
    if is_change:
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    yield HTTPStatus.TOO_MANY_REQUESTS
    yield HTTPStatus.INTERNAL_SERVER_ERROR
    yield HTTPStatus.SERVICE_UNAVAILABLE


def _security(route: Route) -> list[Schema]:
    """The ways to be known, of which one is needed; an empty one stands for nobody."""
    needs_csrf = route.csrf and route.method not in SAFE_METHODS
    csrf: Schema = _CSRF if needs_csrf else {}
    known = [_BEARER] if route.no_bearer is None else []
    known.append({**_SESSION, **csrf})
    if route.access in (Access.USER, Access.ADMIN):
        return known
    return [csrf, *known] if route.access is Access.ANYONE else [csrf]


def _security_schemes() -> Schema:
    return {
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        "session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE},
        "csrfCookie": {"type": "apiKey", "in": "cookie", "name": CSRF_COOKIE},
        "csrfHeader": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
    }


def _api_version() -> Schema:
    refused = {"not": {"enum": ["1", "v1"]}}
    about = "Clients say `v2`; version 1 is refused."
    return {**_parameter("api-version", {"type": "string", **refused}), "description": about}


def _idempotency_key() -> Schema:
    about = (
        "Names this request. For a week, a repetition with the same key and the same content "
        "makes nothing more, and shows what the first one made; with other content it is refused."
    )
    schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_IDEMPOTENCY_KEY}
    key = {**_parameter("Idempotency-Key", schema), "in": "header"}
    return {**key, "description": about}


def _envelope(body: Schema, *, is_paginated: bool) -> Schema:
    header = "PaginatedHeader" if is_paginated else "Header"
    return {
        "type": "object",
        "properties": {"header": {"$ref": f"#/components/schemas/{header}"}, "body": body},
        "required": ["header", "body"],
        "additionalProperties": False,
    }


def _refusal(about: str) -> Schema:
    schema = {"$ref": "#/components/schemas/Refusal"}
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _led() -> Schema:
    about = "The caller has to give their second factor first; `Location` says how."
    return {**_refusal(about), "headers": {"Location": _location()}}


def _elsewhere() -> Schema:
    about = (
        "The answer is too large to be sent from here. `Location` has it for a minute, compressed "
        "by gzip, as it would come with 200; it is asked for without token or cookie."
    )
    return {
        "description": about,
        "headers": {"Location": _location()},
        "content": {
            "application/json": {"schema": _envelope({"type": "null"}, is_paginated=False)}
        },
    }


def _location() -> Schema:
    return {"schema": {"type": "string", "format": "uri"}, "required": True}


def _envelopes() -> dict[str, Schema]:
    """What answers have in common."""
    errors = {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Errors"}}
    sentence = {"type": "string", "description": "What rule the field breaks."}
    sentences = {"type": "array", "items": sentence, "minItems": 1}
    entries = {"type": "array", "items": {"anyOf": [errors, sentences]}, "minItems": 1}
    body = {"anyOf": [{"type": "string", "const": ""}, {"type": "null"}, errors, entries]}
    return {
        "Header": _header({}),
        "PaginatedHeader": _header({"pagination": _pagination()}),
        "Refusal": _envelope(body, is_paginated=False),
        "Errors": {"anyOf": [sentence, sentences, errors, entries]},
    }


def _header(more: dict[str, Schema]) -> Schema:
    members: dict[str, Schema] = {
        "id": _UUID,
        "status": {"type": "string", "enum": ["success", "error"]},
        "servertime": {"type": "integer"},
        "action": _UUID,
        "message": {"type": "string"},
        "url": {"type": "string"},
        "code": {"type": "integer"},
        **more,
    }
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _pagination() -> Schema:
    members = {
        "count": {"type": "integer", "minimum": 0},
        "page": {"type": "integer", "minimum": 1},
        "limit": {"type": ["integer", "null"], "minimum": 1},
    }
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
