"""The shapes of the templates: all that is so, kind by kind, compared with what was reviewed.

Other checks know what they look for. This one knows nothing: each property of each resource is
a line of a file that people have reviewed (`infra/checks/shapes/`), and whatever differs from it
is told. A change on purpose is written into the file by `make docs`, and seen in review.

A line is a property with its value, and who of its kind has it, unless all have. Names that a
resource shares with nobody are left open, so that functions and tables have one shape each; and
so are digests and the epoch of the tables, which change with each build and each restore.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from chalicelib.endpoint_groups import CATCH_ALL
from infra.endpoints import every_endpoint, every_page
from infra.template.elements import Json, logical
from infra.template.functions import FUNCTIONS, of_group
from infra.template.tables import our_tables

FOLDER = Path(__file__).parent / "shapes"
MOST_TOLD = 30
_METHOD = "API method"
_RESPONSES = "x-amazon-apigateway-gateway-responses"
_LABELS = ("Sid", "Id", "Key", "Name", "AttributeName", "IndexName", "RuleName", "PolicyName")
_DIGEST = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])|(?<=Version|loyment)[0-9a-f]{12}\b"
    r"|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=(?!=)"
)
_BESIDE = ("Properties", "Type")
Fact = tuple[str, str]
"""Where in a resource, and what stands there."""
Open = tuple[tuple[str, str], ...]
"""Patterns of names that are left open, and what is written instead."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is compared as a whole: a resource, a method of the API, a parameter, an output."""

    kind: str
    name: str
    value: Any
    open: Open

    def facts(self) -> frozenset[Fact]:
        return frozenset(_facts(self.value, self.open, ""))


def units(template: Json) -> Iterator[Unit]:
    epoch = _epoch(template)
    for name, declared in template["Resources"].items():
        kind = declared["Type"].removeprefix("AWS::")
        own = _own(name)
        if own is None:
            yield Unit(kind, _shown(name, epoch), _bare(declared), epoch)
        else:
            rest = _shown(name.removeprefix(own.camel), epoch)
            yield Unit(f"{kind} <Noun>{rest}", own.camel, _bare(declared), (*own.open, *epoch))
        if kind == "ApiGateway::RestApi":
            yield from _parts_of_the_api(declared["Properties"].get("Body", {}), epoch)
    for part in ("Parameters", "Conditions", "Outputs"):
        for name, declared in template.get(part, {}).items():
            yield Unit(part, name, declared, epoch)


def lines(template: Json) -> list[tuple[str, str]]:
    """The shape of a template: kinds, and a line of each; in the order in which they are told."""
    known: dict[str, set[str]] = defaultdict(set)
    who: dict[tuple[str, Fact], set[str]] = defaultdict(set)
    for unit in units(template):
        known[unit.kind].add(unit.name)
        for fact in _facts_once(unit.kind, json.dumps(unit.value), unit.open):
            who[unit.kind, fact].add(unit.name)
    named = [
        (kind, f"- {name}")
        for kind, names in known.items()
        if not kind.startswith(_METHOD)
        for name in names
    ]
    told = [
        (kind, f"{place} = {value}{_whose(names, known[kind])}")
        for (kind, (place, value)), names in who.items()
    ]
    return sorted([*named, *told])


def unreviewed(template: Json) -> Iterator[str]:
    """What differs from the reviewed shape of such a template."""
    reviewed = _reviewed().get(str(template.get("Description")))
    if reviewed is None:
        yield f"Of «{template.get('Description')}» no shape was reviewed."
        return
    found = set(lines(template))
    differing = [
        *(f"{kind}: {line} — is new." for kind, line in sorted(found - reviewed)),
        *(f"{kind}: {line} — was reviewed, and is not so." for kind, line in reviewed - found),
    ]
    yield from differing[:MOST_TOLD]
    if differing:
        yield (
            f"{len(differing)} lines differ from what was reviewed. When they are meant so, "
            "`make docs` writes them into infra/checks/shapes, and a reviewer sees them."
        )


def written(templates: Mapping[str, Json]) -> str:
    """A file of the shapes of templates that differ little, such as those of the tiers."""
    found = {name: set(lines(template)) for name, template in templates.items()}
    whose: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, said in found.items():
        for each in said:
            whose[each].append(name)
    told, last = [_HEAD], ""
    told += [f"template {name}: {of['Description']}" for name, of in templates.items()]
    for (kind, line), names in sorted(whose.items()):
        if kind != last:
            told += ["", f"== {kind}"]
            last = kind
        only = "" if len(names) == len(templates) else f"  ({' '.join(names)})"
        told.append(line + only)
    return "\n".join(told) + "\n"


_HEAD = """\
# What was reviewed of templates. `make docs` writes this file and a test compares it; look at
# its changes as at those of code. A line is a property, its value and, behind |, who has it."""


def _whose(names: Iterable[str], all_of_kind: set[str]) -> str:
    """Nobody where it is all of them; never those who have it not, so that a new one of the kind
    changes no line but its own.
    """
    having = set(names)
    return "" if having == all_of_kind else f"  | {', '.join(sorted(having))}"


@cache
def _reviewed() -> Mapping[str, frozenset[tuple[str, str]]]:
    """Reviewed lines by the description of the template."""
    return {
        about: said
        for path in sorted(FOLDER.glob("*.txt"))
        for about, said in _read(path.read_text(encoding="utf-8"))
    }


def _read(text: str) -> Iterator[tuple[str, frozenset[tuple[str, str]]]]:
    about = dict(re.findall(r"^template (\S+): (.*)$", text, re.MULTILINE))
    told: dict[str, set[tuple[str, str]]] = {name: set() for name in about}
    kind = ""
    for line in text.partition("\n== ")[2].splitlines():
        if not line:
            continue
        if line.startswith("== ") or not kind:
            kind = line.removeprefix("== ")
            continue
        bare, only = _only(line, about.keys())
        for name in only:
            told[name].add((kind, bare))
    return ((about[name], frozenset(said)) for name, said in told.items())


def _only(line: str, names: Iterable[str]) -> tuple[str, list[str]]:
    """A line without the names of the templates it is of, and these."""
    bare, mark, only = line.rpartition("  (")
    chosen = only.removesuffix(")").split()
    if mark and only.endswith(")") and set(chosen) <= set(names):
        return bare, chosen
    return line, list(names)


@lru_cache(maxsize=20_000)
def _facts_once(kind: str, value: str, left_open: Open) -> frozenset[Fact]:
    return Unit(kind, "", json.loads(value), left_open).facts()


def _facts(value: Any, left_open: Open, place: str) -> Iterator[Fact]:
    if isinstance(value, dict) and value and not _is_function(value):
        for name, each in value.items():
            yield from _facts(each, left_open, f"{place}.{_shown(name, left_open)}".lstrip("."))
    elif isinstance(value, list) and value:
        for label, each in _labelled(value, left_open):
            yield from _facts(each, left_open, f"{place}[{label}]")
    else:
        yield place, _text(value, left_open)


def _is_function(value: Json) -> bool:
    """Whether CloudFormation computes it: such a value is told as one."""
    [name, *others] = value
    return not others and (name == "Ref" or name.startswith("Fn::"))


def _labelled(values: list[Any], left_open: Open) -> Iterator[tuple[str, Any]]:
    """Members of a list, by what each is called where it has a name, else by their place."""
    if not any(isinstance(each, (dict, list)) and not _computed(each) for each in values):
        yield from (("", each) for each in values)
        return
    seen: dict[str, int] = defaultdict(int)
    for number, each in enumerate(values):
        label = _label(each, left_open)
        if label is None:
            yield str(number), each
            continue
        seen[label] += 1
        yield label if seen[label] == 1 else f"{label} {seen[label]}", each


def _computed(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and _is_function(value)


def _label(value: Any, left_open: Open) -> str | None:
    if not isinstance(value, dict) or "KeyType" in value:  # keys have an order
        return None
    if "Action" in value and "Sid" not in value:
        actions = value["Action"] if isinstance(value["Action"], list) else [value["Action"]]
        return " ".join([str(value.get("Effect")), ",".join(map(str, actions))])
    if "ResourcePath" in value:
        return f"{value.get('HttpMethod')} {value['ResourcePath']}"
    for name in (*_LABELS, "name"):
        if isinstance(value.get(name), str):
            return _shown(value[name], left_open)
    return None


def _text(value: Any, left_open: Open) -> str:
    if isinstance(value, dict) and value.keys() == {"Ref"}:
        said = f"!{json.dumps(value['Ref'])[1:-1]}"
    elif isinstance(value, dict) and value.keys() == {"Fn::GetAtt"}:
        said = f"!{'.'.join(map(str, value['Fn::GetAtt']))}"
    elif isinstance(value, dict) and isinstance(value.get("Fn::Sub"), str):
        said = f"!{json.dumps(value['Fn::Sub'])}"
    else:
        said = json.dumps(value, sort_keys=True)
    return _shown(said, left_open)


@lru_cache(maxsize=20_000)
def _shown(said: str, left_open: Open) -> str:
    for pattern, instead in left_open:
        said = re.sub(pattern, instead, said)
    return _DIGEST.sub("#", said)


def _epoch(template: Json) -> Open:
    """The epoch of the tables as the template has it, left open wherever it says the same."""
    tables = [
        re.search(r"\d+$", name)
        for name, each in template["Resources"].items()
        if each["Type"] == "AWS::DynamoDB::Table"
    ]
    numbers = [found[0] for found in tables if found]
    if not numbers:
        return ()
    epoch = max(set(numbers), key=numbers.count)
    return (
        (rf"(?<=Table){epoch}(?![0-9])", "#"),
        (rf"(?<=keyhaven-\$\{{TenantId\}}-){epoch}(?=-)", "#"),
    )


@cache
def _nouns() -> tuple[tuple[str, str], ...]:
    """What functions and tables are called, and how their logical names begin; longest first."""
    nouns = {*(each.name for each in FUNCTIONS), *our_tables()}
    return tuple(sorted(((logical(each), each) for each in nouns), key=lambda each: -len(each[0])))


class _Noun(NamedTuple):
    """The noun a resource is named after, as it begins its name and as it stands elsewhere."""

    camel: str
    open: Open


@cache
def _own(name: str) -> _Noun | None:
    for camel, noun in _nouns():
        if re.match(rf"{camel}(?=[A-Z])", name):
            in_names = (rf"(?<![A-Za-z]){camel}(?=[A-Z])", "<Noun>")
            alone = (rf"(?<![A-Za-z0-9_]){noun}(?![A-Za-z0-9_])", "<noun>")
            return _Noun(camel, (in_names, alone))
    return None


def _bare(declared: Json) -> Json:
    """What is compared of a resource: all but the parts of an API, which are so many."""
    said = {f"@{name}": value for name, value in declared.items() if name not in _BESIDE}
    properties = declared.get("Properties", {})
    body = properties.get("Body")
    if isinstance(body, dict):
        rest = {name: value for name, value in body.items() if name not in ("paths", _RESPONSES)}
        properties = {**properties, "Body": rest}
    return {**said, **properties}


def _parts_of_the_api(body: Json, epoch: Open) -> Iterator[Unit]:
    """Methods are alike but for the function each leads to, which another check knows."""
    for kind, refusal in body.get(_RESPONSES, {}).items():
        yield Unit("API refusal", kind, refusal, epoch)
    for path, methods in body.get("paths", {}).items():
        names = re.findall(r"\{(\w+)\+?\}", path)
        for method, value in methods.items():
            alias = _aliases().get((path, method), _otherwise())
            own = [
                (rf"(?<=\$\{{){alias}(?=\}})", "<Alias>"),
                *((rf'^"?{name}"?$', f"<name {n}>") for n, name in enumerate(names, 1)),
            ]
            kind = f"{_METHOD}, {len(names)} names in its path"
            yield Unit(kind, f"{method} {path}", value, (*own, *epoch))


@cache
def _aliases() -> Mapping[tuple[str, str], str]:
    return {
        (path, served.route.method.lower()): of_group(served.group).alias
        for served in (*every_endpoint(), *every_page())
        for path in served.route.gateway_paths()
    }


@cache
def _otherwise() -> str:
    return logical(CATCH_ALL, "alias")
