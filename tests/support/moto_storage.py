"""moto, and what spares it half of its time without changing what it answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import cache
from typing import Any

from moto import mock_aws
from moto.core import responses
from moto.core.model_instances import reset_model_data
from moto.core.serialize import SERVICE_SPECIFIC_SERIALIZERS, JSONSerializer
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.table import Table

Rows = dict[Any, Any]
"""By partition key: rows by sort key, or one row."""


class MotoStorage:
    def empty(self) -> None:
        for table in self._tables.values():
            table.items.clear()
        self._forget_old_rows()

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [item.to_json()["Attributes"] for item in self._tables[table].all_items()]

    def contents(self) -> dict[str, Any]:
        return {name: _shallow(table.items) for name, table in self._tables.items()}

    def put_back(self, contents: dict[str, Any]) -> None:
        for name, items in contents.items():
            self._tables[name].items = _shallow(items)
        self._forget_old_rows()

    def add(self, contents: dict[str, Any]) -> None:
        for name, items in contents.items():
            for partition, rows in items.items():
                if isinstance(rows, dict):
                    self._tables[name].items[partition].update(rows)
                else:
                    self._tables[name].items[partition] = rows

    @staticmethod
    def _forget_old_rows() -> None:
        """Let moto drop the rows of before: it keeps whatever it has made, gigabytes in the end."""
        reset_model_data()

    @property
    def _tables(self) -> dict[str, Table]:
        tables: dict[str, Table] = dynamodb_backends["123456789012"]["eu-west-1"].tables
        return tables


@contextmanager
def mocked() -> Iterator[MotoStorage]:
    _answer_with_values_as_they_are()
    _change_no_row_in_place()
    _look_for_the_names_of_methods_once()
    with mock_aws():
        yield MotoStorage()


def _shallow(rows: Rows) -> Rows:
    """The same rows, of which none is changed in place."""
    copied = {key: copy(each) if isinstance(each, dict) else each for key, each in rows.items()}
    return defaultdict(dict, copied)


def _answer_with_values_as_they_are() -> None:
    """Spare moto a fifth of its time: it looks for each of a value's ten types by many names.

    A value is sent as it is kept, which is the same for all types but binary ones: we have none.
    """

    class Serializer(JSONSerializer):  # type: ignore[misc]
        def _serialize_type_structure(
            self, serialized: Any, value: Any, shape: Any, key: str
        ) -> None:
            if shape.name == "AttributeValue":
                self._default_serialize(serialized, value, shape, key)
            else:
                super()._serialize_type_structure(serialized, value, shape, key)

    SERVICE_SPECIFIC_SERIALIZERS.setdefault("dynamodb", {})["json"] = Serializer


def _change_no_row_in_place() -> None:
    """Let an update change a copy of the row, so that who wants the old rows copies none.

    moto copies the whole table for each line of a transaction, to put it back if one fails.
    """
    update = DynamoDBBackend.update_item

    def update_copy(
        self: DynamoDBBackend, table_name: str, key: Any, *args: Any, **kwargs: Any
    ) -> Any:
        table = self.get_table(table_name)
        _replace_by_copy(table, *self.get_keys_value(table, key))
        return update(self, table_name, key, *args, **kwargs)

    def snapshot(table: Table, _memo: dict[int, Any]) -> Table:
        kept = copy(table)
        kept.items = _shallow(table.items)
        return kept

    DynamoDBBackend.update_item = update_copy
    Table.__deepcopy__ = snapshot


def _replace_by_copy(table: Table, partition: Any, sort: Any) -> None:
    row = table.get_item(partition, sort)
    if row is None:
        return
    if sort is None:
        table.items[partition] = deepcopy(row)
    else:
        table.items[partition][sort] = deepcopy(row)


def _look_for_the_names_of_methods_once() -> None:
    """Not for each request, by looking at all members of a class."""
    responses.method_names_from_class = cache(responses.method_names_from_class)
