"""Pages about the code, written from it: `python -m infra.describe.docs` makes those in `docs/`."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.indexes import GlobalSecondaryIndex, Index

from chalicelib.settings import settings
from chalicelib.storage.base import Table, TimestampAttribute
from chalicelib.storage.changes.unversioned import is_unversioned
from chalicelib.tables import catalogue
from chalicelib.views.logs.log_events import LogEventJson
from chalicelib.web.envelope import UNKNOWN_ACTION
from chalicelib.web.route import Route
from infra.describe import costs, modules, pages
from infra.describe.schemas import PREFIX, Schemas
from infra.endpoints import Served, every_endpoint, every_scim_route

DOCS = Path(__file__).parents[2] / "docs"
_WRITTEN = "This page is written from the code by `make docs`; a test compares the two.\n"
_KINDS = {
    "S": "text",
    "N": "number",
    "BOOL": "boolean",
    "M": "map",
    "L": "list",
    "SS": "set of texts",
}


def endpoints() -> str:
    """`docs/endpoints.md`: every endpoint, by path."""
    served = sorted(every_endpoint(), key=lambda each: (each.route.path, each.route.method))
    head = ("Method", "Path", "Action", "Access", "CSRF pair", "Group")
    lines = _table(head, (_endpoint(each) for each in served))
    first = ["# Endpoints", "", _WRITTEN, _ABOUT_ENDPOINTS, *lines]
    return "\n".join([*first, "", "## SCIM", "", _ABOUT_SCIM, *_of_scim()]) + "\n"


def _of_scim() -> Sequence[str]:
    """What directories ask for, but for what does nothing."""
    done = [each for each in every_scim_route() if each.route.action != UNKNOWN_ACTION]
    served = sorted(done, key=lambda each: (each.route.path, each.route.method))
    rows = (
        (each.route.method, f"`{each.route.path}`", each.route.action, each.group.name)
        for each in served
    )
    return _table(("Method", "Path", "Action", "Group"), rows)


_ABOUT_SCIM = """\
Directories ask for these by the token of the SCIM settings (provisioner). They answer in the form
of RFC 7644, without the envelope; what they take and answer, the service says of itself at
`Schemas`, `ResourceTypes` and `ServiceProviderConfig`, so that `GET /openapi.json` leaves them
out ([ADR 40](adr/0040-provisioning-by-scim.md)).
"""


_ABOUT_ENDPOINTS = """\
What each takes and answers says `GET /openapi.json`. *Access* is who may call it at all:
anyone unasked (public), anyone, who is then told apart (anyone), only who is not signed in
(guest), users, or administrators. The *CSRF pair* is what a change needs that comes by cookie
or from a guest. The *group* is the function that serves it in the cloud.
"""


def tables() -> str:
    """`docs/tables.md`: every table, by name."""
    parts = ["# Tables", "", _WRITTEN, *map(_table_page, catalogue.tables())]
    return "\n".join(parts).rstrip() + "\n"


def log_events() -> str:
    """`docs/log-events.schema.json`: JSON Schema of a line that auditors are given."""
    schemas = Schemas()
    event = schemas.named[schemas.of(LogEventJson)["$ref"].removeprefix(PREFIX)]
    for each in schemas.named.values():
        del each["additionalProperties"]  # a later release may tell more
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An event of the logs of Keyhaven",
        **event,
        "$defs": {name: each for name, each in sorted(schemas.named.items()) if each is not event},
    }
    return json.dumps(schema, indent=2).replace(PREFIX, "#/$defs/") + "\n"


def _endpoint(served: Served) -> tuple[str, ...]:
    route = served.route
    needs_csrf = "needed" if _needs_csrf(route) else ""
    access = route.access.value
    return route.method, f"`{route.path}`", route.action, access, needs_csrf, served.group.name


def _needs_csrf(route: Route) -> bool:
    is_of_tokens = route.path.startswith("/auth/jwt/")
    return route.csrf and route.method not in ("GET", "HEAD") and not is_of_tokens


def _table_page(table: type[Table]) -> str:
    name = table.stored_as().removeprefix(settings.table_prefix)
    about = (inspect.getdoc(inspect.getmodule(table)) or "").partition("\n\n")[0]
    key = ", ".join(f"`{each}`" for each in table.key_names() if each)
    notes = _notes(table)
    attributes = sorted(table.get_attributes().items(), key=lambda item: _order(table, item[0]))
    rows = ((f"`{each}`", _kind(kind), notes.get(each, "")) for each, kind in attributes)
    head = _table(("Attribute", "Type", "Meaning"), rows)
    indexes = [f"\nIndex {_index(each)}" for each in table._indexes.values()]  # noqa: SLF001
    return "\n".join([f"## {name}", "", about, "", f"Key: {key}", "", *head, *indexes, ""])


def _order(table: type[Table], name: str) -> int:
    """Where an attribute is declared, so that the page reads as the module does."""
    return [each for kind in _ours(table) for each in vars(kind)].index(name)


def _ours(table: type[Table]) -> Sequence[type]:
    """The classes an attribute may be declared in: the table, and what it has in common."""
    return table.__mro__[: table.__mro__.index(Table)]


def _kind(attribute: Attribute[Any]) -> str:
    is_moment = isinstance(attribute, TimestampAttribute)
    kind = "moment" if is_moment else _KINDS.get(attribute.attr_type, attribute.attr_type)
    optional = ", optional" if attribute.null else ""
    version = ", unversioned" if is_unversioned(attribute) else ""
    return f"{kind}{optional}{version}"


def _index(index: Index[Any]) -> str:
    attributes = sorted(index.Meta.attributes.items(), key=lambda item: item[1].is_range_key)
    keys = ", ".join(f"`{name}`" for name, _ in attributes)
    kind = "global" if isinstance(index, GlobalSecondaryIndex) else "local"
    about = (inspect.getdoc(type(index)) or "").partition("\n\n")[0].replace("\n", " ")
    return f"`{index.Meta.index_name}` ({kind}): {keys}. {about}"


def _notes(table: type[Table]) -> Mapping[str, str]:
    """The docstrings that stand below attributes, which Python itself does not keep."""
    bodies = [_body(kind) for kind in _ours(table)]
    pairs = [pair for body in bodies for pair in pairwise(body)]
    return {name: note for each, below in pairs for name, note in _note(each, below)}


def _body(kind: type) -> list[ast.stmt]:
    [definition] = ast.parse(inspect.getsource(kind)).body
    return definition.body if isinstance(definition, ast.ClassDef) else []


def _note(statement: ast.stmt, below: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.AnnAssign):
        target: ast.expr = statement.target
    elif isinstance(statement, ast.Assign):
        target = statement.targets[0]
    else:
        return
    is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    if isinstance(target, ast.Name) and is_text:
        yield target.id, " ".join(str(below.value.value).split())  # type: ignore[attr-defined]


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> list[str]:
    return [_line(head), _line("---" for _ in head), *map(_line, rows)]


def _line(cells: Any) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


PAGES = {
    "endpoints.md": endpoints,
    "tables.md": tables,
    "iam.md": pages.iam,
    "quotas.md": pages.quotas,
    "costs.md": costs.page,
    "log-events.schema.json": log_events,
    "modules.md": modules.page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
