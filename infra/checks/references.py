"""Names in a template: of what exists, in no circle, and of nobody's account."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from infra.checks.reading import as_list, named, texts
from infra.template.elements import Json

_ACCOUNT = re.compile(r"arn:aws[a-z-]*:|(?<![0-9A-Za-z])[0-9]{12}(?![0-9A-Za-z])")


def everything_named_exists(template: Json) -> Iterator[str]:
    known = template["Resources"].keys() | template["Parameters"].keys()
    for name, resource in template["Resources"].items():
        wanted = named(resource) | set(as_list(resource.get("DependsOn", [])))
        for missing in sorted(each for each in wanted - known if not each.startswith("AWS::")):
            yield f"{name} names {missing}, which does not exist."


def nothing_goes_in_circles(template: Json) -> Iterator[str]:
    resources = template["Resources"]
    wanted = {
        name: (named(each) | set(as_list(each.get("DependsOn", [])))) & resources.keys()
        for name, each in resources.items()
    }
    try:
        TopologicalSorter(wanted).prepare()
    except CycleError as error:
        yield f"Each needs the other before it: {', '.join(error.args[1])}."


def nothing_names_an_account(template: Json) -> Iterator[str]:
    """One template serves every account, region and partition."""
    for name, resource in template["Resources"].items():
        for text in texts(resource):
            if _ACCOUNT.search(text):
                yield f"{name} names something of one account: {text}"
