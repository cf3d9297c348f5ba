"""The query of a list of SCIM: which resources, which page of them, and what of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.domain.directory.scim import filters, projections, words
from chalicelib.domain.directory.scim.filters import Attributes, Filter
from chalicelib.domain.directory.scim.projections import Shown
from chalicelib.domain.directory.scim.schemas import MOST_RESULTS, USUAL_RESULTS
from chalicelib.domain.directory.scim.words import Unfit, folded_names, unfit_value
from chalicelib.domain.light import dataclass

Parameters = Mapping[str, Sequence[str]]
MOST_ATTRIBUTES = 100
LONGEST_NUMBER = 9
_NUMBER = re.compile(rf"-?[0-9]{{1,{LONGEST_NUMBER}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Search:
    filter: Filter | None
    start: int
    """From 1 on."""
    count: int
    shown: Shown


def of_query(parameters: Parameters, attributes: Attributes) -> Search:
    """Read a query string; of what is repeated the last counts, and what is not known is passed
    over.
    """
    sent = {name.lower(): values[-1] for name, values in parameters.items() if values}
    return _search(
        sent,
        _listed(sent.get("attributes")),
        _listed(sent.get("excludedattributes")),
        attributes,
    )


def of_body(sent: Any, attributes: Attributes) -> Search:
    """Read the same from a body, as it comes to `/.search`."""
    if not isinstance(sent, dict):
        raise Unfit("invalidSyntax", "The body should be an object.")
    members = folded_names(sent)
    schemas = members.get("schemas")
    if not isinstance(schemas, list) or words.SEARCH not in schemas:
        raise Unfit("invalidSyntax", f"The schemas should contain {words.SEARCH}.")
    only, without = (_texts(members.get(name)) for name in ("attributes", "excludedattributes"))
    return _search(members, only, without, attributes)


def shown(parameters: Parameters) -> Shown:
    """What a client wants to see of one resource."""
    sent = {name.lower(): values[-1] for name, values in parameters.items() if values}
    only, without = _listed(sent.get("attributes")), _listed(sent.get("excludedattributes"))
    return _shown(only, without)


def page(found: Sequence[Any], search: Search) -> Sequence[Any]:
    return found[search.start - 1 : search.start - 1 + search.count]


def _search(
    sent: Mapping[str, Any],
    only: Sequence[str],
    without: Sequence[str],
    attributes: Attributes,
) -> Search:
    text = sent.get("filter")
    if text is not None and not isinstance(text, str):
        raise Unfit("invalidFilter", "The filter should be a text.")
    return Search(
        filter=None if text is None else filters.parse(text, attributes),
        start=max(1, _number(sent, "startindex", 1)),
        count=min(MOST_RESULTS, max(0, _number(sent, "count", USUAL_RESULTS))),
        shown=_shown(only, without),
    )


def _shown(only: Sequence[str], without: Sequence[str]) -> Shown:
    if only and without:
        raise unfit_value("Either attributes or excludedAttributes can be named.")
    if len(only) + len(without) > MOST_ATTRIBUTES:
        raise Unfit("tooMany", f"At most {MOST_ATTRIBUTES} attributes can be named.")
    return projections.shown(only, without)


def _number(sent: Mapping[str, Any], name: str, usual: int) -> int:
    value = sent.get(name)
    if value is None:
        return usual
    text = str(value) if type(value) is int or isinstance(value, str) else ""
    if not _NUMBER.fullmatch(text):
        raise unfit_value("startIndex and count should be whole numbers of moderate size.")
    return int(text)


def _listed(text: str | None) -> list[str]:
    return [] if text is None else [each.strip() for each in text.split(",") if each.strip()]


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise unfit_value("attributes and excludedAttributes should be lists of texts.")
    return value
