"""What CloudFormation does in an account to make, read, change and remove each kind of resource.

`handlers.json` has it for each kind of a tenant's stack, as it was reviewed: what AWS says that the
kind's handlers need (`needs`), but for what no resource of ours uses (`left out`, with the reason),
and what AWS's documentation alone says (`beside`). An entry stays as long as some tenant may have a
resource of its kind: whoever removes it from the templates has it removed from tenants by the role.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from infra.template.elements import Json

FILE = Path(__file__).with_name("handlers.json")


@cache
def reviewed() -> Json:
    """Entries by kind, such as `S3::Bucket`."""
    read: Json = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def needed() -> list[str]:
    """All actions that the handlers of tenants' stacks need."""
    return sorted({action for entry in reviewed().values() for action in of(entry)})


def of(entry: Json) -> set[str]:
    """The actions that one kind needs."""
    beside = entry.get("beside", {}).values()
    return {*entry["needs"], *(action for actions in beside for action in actions)}
