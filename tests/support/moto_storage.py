"""moto, and what spares it most of its time without changing what it answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import cache, cached_property, lru_cache
from http import HTTPStatus
from typing import Any

import orjson
from botocore import xform_name
from botocore.awsrequest import AWSResponse
from moto import mock_aws
from moto.core import responses
from moto.core.exceptions import JsonRESTError
from moto.core.model_instances import reset_model_data
from moto.core.serialize import SERVICE_SPECIFIC_SERIALIZERS, JSONSerializer
from moto.dynamodb import responses as dynamodb_responses
from moto.dynamodb.comparisons import AttributeValue, ConditionExpressionParser
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.dynamo_type import LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.models.utilities import dynamo_to_dict
from moto.dynamodb.parsing.ast_nodes import (
    DepthFirstTraverser,
    Expression,
    Node,
    UpdateExpressionFunction,
    UpdateExpressionPath,
)
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodb.parsing.validators import (
    ActionCountValidator,
    OverlappingPathsValidator,
    UpdateExpressionValidator,
    UpdateHashRangeKeyValidator,
)
from moto.dynamodb.responses import ActionResult, DynamoHandler, DynamoResult

from chalicelib.storage.connection import quick_session
from tests.support import moto_values
from tests.support.moto_values import changeable, key_of, text_in_order, text_of

Rows = dict[Any, Any]
"""By partition key: rows by sort key, or one row."""
_ACCOUNT, _REGION = "123456789012", "eu-west-1"
_ON_ROWS = frozenset(
    {
        *("GetItem", "BatchGetItem", "Query", "Scan"),
        *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"),
    }
)
"""What is asked without HTTP."""


class MotoStorage:
    def attach(self, client: Any) -> None:
        """Answer this botocore client's requests about rows, after all who refuse some."""
        client.meta.events.register_last("before-call.dynamodb", _Answering(client))

    def empty(self) -> None:
        for table in self._tables.values():
            table.items.clear()
        self._forget_old_rows()

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [orjson.loads(text_of(item.attrs)) for item in self._tables[table].all_items()]

    def texts(self, table: str) -> list[bytes]:
        partitions = self._tables[table].items.values()
        has_sort_keys = self._tables[table].has_range_key
        rows = (row for each in partitions for row in (each.values() if has_sort_keys else (each,)))
        return [text_in_order(row.attrs) for row in rows]

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

    @cached_property
    def _tables(self) -> dict[str, Table]:
        tables: dict[str, Table] = dynamodb_backends[_ACCOUNT][_REGION].tables
        return tables


@contextmanager
def mocked() -> Iterator[MotoStorage]:
    _answer_with_values_as_they_are()
    _change_no_row_in_place()
    _keep_tables_once()
    _order_rows_by_plain_keys()
    _look_for_the_names_of_methods_once()
    _convert_answers_late()
    _compare_rows_of_batches_quickly()
    _read_conditions_once()
    _read_updates_once()
    _check_updates_once()
    _know_the_kinds_of_nodes()
    moto_values.spare_copies()
    with mock_aws():
        yield MotoStorage()


def _shallow(rows: Rows) -> Rows:
    """The same rows, of which none is changed in place."""
    copied = {key: dict(each) if isinstance(each, dict) else each for key, each in rows.items()}
    return defaultdict(dict, copied)


class _Answering:
    """What moto answers, from its own function for the operation.

    On the way over HTTP, three quarters of the time went into a signature and its absence, into
    which of AWS's addresses it is, into headers, and into walks over each value.
    """

    def __init__(self, client: Any) -> None:
        self._endpoint = client._endpoint
        self._parser = (
            quick_session().get_component("response_parser_factory").create_parser("json")
        )

    def __call__(
        self, model: Any, params: dict[str, Any], **_: Any
    ) -> tuple[AWSResponse, Any] | None:
        if model.name not in _ON_ROWS:
            return None
        status, body = _run(model.name, params["body"])
        answer = {"status_code": status, "headers": {}, "body": body, "context": {}}
        told = self._parser.parse(answer, model.output_shape)
        if status != HTTPStatus.OK:
            self._endpoint._add_modeled_error_fields(answer, told, model, self._parser)
        return AWSResponse(params["url"], status, {}, None), told


def _run(operation: str, body: bytes) -> tuple[int, bytes]:
    handler = DynamoHandler()
    handler.current_account, handler.region = _ACCOUNT, _REGION
    handler.body = handler.params = orjson.loads(body)
    try:
        result = getattr(handler, xform_name(operation))().result
    except JsonRESTError as error:
        return error.code, error.description.encode()
    told = {name: value for name, value in result.items() if value is not None}
    return HTTPStatus.OK, orjson.dumps(told, _plain, orjson.OPT_PASSTHROUGH_SUBCLASS)


def _plain(value: Any) -> Any:
    """A value, or a row, as it is sent."""
    if isinstance(value, LimitedSizeDict):
        return orjson.Fragment(text_of(value))
    return value.to_json()


def _convert_answers_late() -> None:
    """Not before it is known whether they are sent over HTTP."""
    sent = ActionResult.execute_result

    def execute_result(self: DynamoResult, context: Any) -> Any:
        self._result = dynamo_to_dict(self._result)
        return sent(self, context)

    DynamoResult.__init__ = ActionResult.__init__
    DynamoResult.execute_result = execute_result


def _compare_rows_of_batches_quickly() -> None:
    """As texts, to see whether one is there twice: those of a quicker library do as well."""
    dynamodb_responses.dynamo_json_dump = orjson.dumps


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
    """Let an update change a copy of the row, so that who wants the old rows copies none."""
    update = DynamoDBBackend.update_item

    def update_copy(
        self: DynamoDBBackend, table_name: str, key: Any, *args: Any, **kwargs: Any
    ) -> Any:
        table = self.get_table(table_name)
        _replace_by_copy(table, *self.get_keys_value(table, key))
        return update(self, table_name, key, *args, **kwargs)

    DynamoDBBackend.update_item = update_copy


def _keep_tables_once() -> None:
    """Not for each line of a transaction, to be put back if one fails; and not their rows."""
    transact = DynamoDBBackend.transact_write_items
    of_transaction: ContextVar[dict[str, Table] | None] = ContextVar("kept", default=None)

    def transact_anew(self: DynamoDBBackend, lines: list[Any]) -> None:
        before = of_transaction.set({})
        try:
            transact(self, lines)
        finally:
            of_transaction.reset(before)

    def keep(table: Table, _memo: dict[int, Any]) -> Table:
        kept = of_transaction.get()
        kept = {} if kept is None else kept
        if table.name not in kept:
            kept[table.name] = copy(table)
            kept[table.name].items = _shallow(table.items)
        return kept[table.name]

    DynamoDBBackend.transact_write_items = transact_anew
    Table.__deepcopy__ = keep


def _replace_by_copy(table: Table, partition: Any, sort: Any) -> None:
    row = table.get_item(partition, sort)
    if row is None:
        return
    if sort is None:
        table.items[partition] = changeable(row)
    else:
        table.items[partition][sort] = changeable(row)


def _order_rows_by_plain_keys() -> None:
    """Which moto makes of both keys for each of the comparisons."""

    def all_items(self: Table) -> list[Any]:
        rows = self.items.values()
        if self.range_key_attr:
            rows = (row for each in rows for row in each.values())
        return sorted(rows, key=key_of)

    Table.all_items = all_items


def _look_for_the_names_of_methods_once() -> None:
    """Not for each request, by looking at all members of a class."""
    responses.method_names_from_class = cache(responses.method_names_from_class)


def _read_conditions_once() -> None:
    """Not for each line that has them, and there again: only which values they have differs."""
    parse, operand = ConditionExpressionParser.parse, ConditionExpressionParser._make_operand

    @lru_cache(10_000)
    def read(condition: str, names: tuple[Any, ...], values: frozenset[str]) -> Any:
        parser = ConditionExpressionParser(condition, dict(names), dict.fromkeys(values))
        parser._make_op_condition = lambda tree: tree
        return parse(parser), parser.expr_attr_names_found, parser.expr_attr_values_found

    def parse_once(self: ConditionExpressionParser) -> Any:
        if not self.condition_expression:
            return parse(self)
        names = tuple((self.expression_attribute_names or {}).items())
        values = frozenset(self.expression_attribute_values or ())
        tree, names_found, values_found = read(self.condition_expression, names, values)
        self.expr_attr_names_found.extend(names_found)
        self.expr_attr_values_found.extend(values_found)
        return self._make_op_condition(tree)

    def make_operand(self: ConditionExpressionParser, node: Any) -> Any:
        if node.kind == self.Kind.EXPRESSION_ATTRIBUTE_VALUE:
            return AttributeValue(self.expression_attribute_values[node.text])
        return operand(self, node)

    ConditionExpressionParser.parse = parse_once
    ConditionExpressionParser._make_operand = make_operand


def _read_updates_once() -> None:
    """Who carries one out changes a copy of the tree."""
    UpdateExpressionParser.make = lru_cache(10_000)(UpdateExpressionParser.make)
    Node.__deepcopy__ = _copy_of_node


def _copy_of_node(node: Node, memo: dict[int, Any]) -> Node:
    """The same as anybody's copy, without what is looked for in memory first."""
    made = object.__new__(type(node))
    made.type, made.parent, children = node.type, None, node.children
    if children is not None:
        children = [
            _copy_of_node(each, memo) if _is_kind(type(each), Node) else each for each in children
        ]
    made.children = children
    for each in children or ():
        if _is_kind(type(each), Node):
            each.parent = made
    return made


def _check_updates_once() -> None:
    """Not for each row, where the expression alone decides whether it is right."""
    whole = ActionCountValidator, OverlappingPathsValidator, UpdateHashRangeKeyValidator
    begin = UpdateExpressionValidator.__init__
    passed = set()

    def begin_with_rest(
        self: UpdateExpressionValidator, expression: Node, *, table: Table, **given: Any
    ) -> None:
        begin(self, expression, table=table, **given)
        names = (given["expression_attribute_names"] or {}).items()
        update = expression, tuple(names), tuple(table.table_key_attrs)
        if update not in passed:
            for each in self.processors:
                if isinstance(each, whole):
                    each.traverse(expression)
            passed.add(update)
        self.processors = [each for each in self.processors if not isinstance(each, whole)]

    UpdateExpressionValidator.__init__ = begin_with_rest


def _know_the_kinds_of_nodes() -> None:
    """Not ask for each node of an update, ten times over, which ones are to be processed."""

    def traverse(self: DepthFirstTraverser, node: Any) -> Any:
        return _traversed(self, node, self.nodes_to_be_processed(), 0)

    def find_clauses(self: Node, kinds: list[type]) -> list[Node]:
        found = []
        for child in self.children or ():
            if type(child) in kinds:
                found.append(child)
            elif _is_kind(type(child), (Expression, UpdateExpressionFunction)):
                found += find_clauses(child, kinds)
        return found

    DepthFirstTraverser.traverse = traverse
    Node.find_clauses = find_clauses


def _traversed(by: DepthFirstTraverser, node: Any, kinds: tuple[type, ...], at: int) -> Any:
    if not _is_kind(type(node), Node):
        return node
    parent = node.parent
    # No processor looks at the parts of a path.
    children = () if type(node) is UpdateExpressionPath else node.children or ()
    for place, child in enumerate(children):
        by.pre_processing_of_child(node, place)
        _traversed(by, child, kinds, place)
    if _is_kind(type(node), kinds):
        node = by.process(node)
        node.parent = parent
        if parent:
            parent.children[at] = node
    return node


_is_kind = cache(issubclass)
