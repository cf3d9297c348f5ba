"""The API as a page for people, made from its OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any

from chalicelib.services.operator.description import FILE as DESCRIPTION
from infra.describe.openapi import description

FILE = DESCRIPTION.parent / "views" / "pages" / "api.html"
_SCHEMAS = "#/components/schemas/"

_INTRODUCTION = """\
<p>What clients may ask, and what they are answered. A program reads
<a href="/openapi.json">the same in OpenAPI 3.1</a>.</p>"""

Json = Mapping[str, Any]


def text() -> str:
    """The content of the page, for a template: its dollar signs are doubled."""
    document = description()
    operations = [
        (operation["tags"][0], method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    operations.sort(key=lambda each: (each[0], each[2], each[1]))
    schemas = document["components"]["schemas"]
    lines = [_INTRODUCTION]
    for tag, group in groupby(operations, key=lambda each: str(each[0])):
        lines.append(f"<h2>{escape(tag.replace('_', ' ').capitalize())}</h2>")
        for _, method, path, operation in group:
            lines += _operation(method, path, operation, schemas)
    return "\n".join(lines).replace("$", "$$") + "\n"


def _operation(method: str, path: str, operation: Json, schemas: Json) -> Iterator[str]:
    yield "<details>"
    yield f"<summary><code>{method} {escape(path)}</code> {escape(operation['summary'])}</summary>"
    if told := operation.get("description"):
        yield f"<p>{escape(told)}</p>"
    asked = [each for each in operation.get("parameters", ()) if "name" in each]
    if asked:
        yield "<h3>Parameters</h3>"
        yield from _list((each["name"], _parameter(each, schemas)) for each in asked)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        yield "<h3>Body</h3>"
        yield from _body(body["schema"], schemas)
    yield "<h3>Answers</h3>"
    yield from _list(
        (status, escape(str(answer.get("description", answer.get("$ref", "").rpartition("/")[2]))))
        for status, answer in sorted(operation["responses"].items())
    )
    yield "</details>"


def _parameter(parameter: Json, schemas: Json) -> str:
    kind = _kind(parameter["schema"], schemas)
    about = escape(parameter.get("description", ""))
    return f"{kind}. {about}" if about else kind


def _body(schema: Json, schemas: Json) -> Iterator[str]:
    known = _resolved(schema, schemas)
    needed = known.get("required", ())
    if "properties" not in known:
        yield f"<p>{_kind(schema, schemas)}</p>"
        return
    yield from _list(
        (name, _kind(member, schemas) + (", required" if name in needed else ""))
        for name, member in known["properties"].items()
    )


def _list(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "<ul>"
    for name, said in rows:
        yield f"<li><code>{escape(name)}</code>: {said}</li>"
    yield "</ul>"


def _resolved(schema: Json, schemas: Json) -> Json:
    while "$ref" in schema:
        schema = schemas[schema["$ref"].removeprefix(_SCHEMAS)]
    return schema


def _kind(schema: Json, schemas: Json) -> str:
    """What a value is, in a few words of HTML."""
    if "$ref" in schema:
        members = _resolved(schema, schemas).get("properties")
        within = f" of {', '.join(members)}" if members else ""
        return escape(f"object{within}")
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(each, schemas) for each in schema["anyOf"]))
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if "enum" in schema:
        return " or ".join(f"<code>{escape(_told(value))}</code>" for value in schema["enum"])
    kinds = schema.get("type", "anything")
    named = [kinds] if isinstance(kinds, str) else kinds
    if named[0] == "array":
        listed = f"list of: {_kind(schema.get('items', {}), schemas)}"
        return " or ".join([*named[1:], listed])
    words = " or ".join(named)
    bounds = [f"{word} {schema[key]}" for key, word in _BOUNDS.items() if key in schema]
    form = [schema["format"]] if "format" in schema else []
    return escape(", ".join([words, *form, *bounds]))


_BOUNDS = {
    "minLength": "at least this long:",
    "maxLength": "at most this long:",
    "minimum": "at least",
    "maximum": "at most",
    "minItems": "items at least:",
    "maxItems": "items at most:",
}


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
