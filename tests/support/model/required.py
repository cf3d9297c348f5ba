"""What a row of a table may not lack."""

from __future__ import annotations

from typing import NotRequired, get_args, get_origin, get_type_hints

from chalicelib.storage.base import Table


def required(table: type[Table]) -> set[str]:
    """Attributes that a row of the first form may not lack, to the model or to who reads it raw."""
    attributes = table.get_attributes().items()
    modelled = {name for name, each in attributes if not each.null and each.default is None}
    typed = [each for base in getattr(table, "__orig_bases__", ()) for each in get_args(base)]
    hints = [get_type_hints(each, include_extras=True) for each in typed]
    return modelled | {
        name for each in hints for name, hint in each.items() if get_origin(hint) is not NotRequired
    }
