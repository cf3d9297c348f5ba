"""Which resource of the API a path belongs to, found as API Gateway finds it.

A path is compared segment by segment, as it was sent: case counts, so do empty segments and
a trailing slash, and nothing is normalised. A segment spelled out wins over a parameter,
and a parameter takes one whole segment, not an empty one. `{proxy+}` at a resource's end takes
all that follows, where nothing else fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

CATCH_ALL = "/{proxy+}"
_GREEDY = "{proxy+}"


@dataclass(slots=True)
class _Node:
    children: dict[str, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    resource: str | None = None
    greedy: str | None = None
    """The resource that takes whatever follows."""


class Routes:
    """The resources of an API, as a tree of segments."""

    def __init__(self, resources: Iterable[str]) -> None:
        self._root = _Node()
        for resource in resources:
            if resource != CATCH_ALL:
                self._add(resource)

    def match(self, path: str) -> tuple[str, dict[str, str]]:
        """The resource of a path, and its parameters, percent-decoded."""
        segments = path.removeprefix("/").split("/")
        resource = _find(self._root, segments)
        if resource is None:
            return CATCH_ALL, {"proxy": unquote(path.removeprefix("/"))}
        names = resource.removeprefix("/").split("/")
        if names[-1] == _GREEDY:
            segments = [*segments[: len(names) - 1], "/".join(segments[len(names) - 1 :])]
        return resource, {
            name.strip("{}+"): unquote(segment)
            for name, segment in zip(names, segments, strict=True)
            if name.startswith("{")
        }

    def _add(self, resource: str) -> None:
        node = self._root
        for segment in resource.removeprefix("/").split("/"):
            if segment == _GREEDY:
                node.greedy = resource
                return
            if segment.startswith("{"):
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.children.setdefault(segment, _Node())
        node.resource = resource


def _find(node: _Node, segments: list[str]) -> str | None:
    if not segments:
        return node.resource
    segment, *rest = segments
    spelled_out = node.children.get(segment)
    found = _find(spelled_out, rest) if spelled_out else None
    if found is None and segment and node.parameter:
        found = _find(node.parameter, rest)
    if found is None and any(segments):
        found = node.greedy
    return found
