"""The one connection to DynamoDB: how long a call may take, and which errors are tried again.

Opening a client costs a cold start dearly, so there is one, made to open fast (`aws.py`), and
without rules for endpoints. What goes to DynamoDB
and comes from it is plain JSON that needs no conversion, so botocore's walks over every value
are left out: about 50 µs a row that comes, 5 µs a key that is asked for.

`hooks` stand around each call: what measures storage, and what tests faults and races,
joins there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from functools import partial, reduce
from itertools import count
from typing import Any

import botocore.session
import orjson
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.handlers import add_retry_headers
from botocore.parsers import JSONParser, ResponseParserFactory
from botocore.serialize import JSONSerializer
from pynamodb.connection import Connection
from pynamodb.exceptions import CancellationReason, VerboseClientError

from chalicelib.aws import QuickLoader
from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings
from chalicelib.storage import pace, whole_answers

Json = dict[str, Any]
Send = Callable[[], Json]
Hook = Callable[[str, Json, Send], Json]
"""`hook(operation, parameters, send)` returns what `send()` returns, or something else."""

current_branch: ContextVar[tuple[int, int] | None] = ContextVar("current_branch", default=None)
"""Of calls that are made together: which group the present one is in, and which of it.

`None` for a call made alone. For hooks that count how many round trips follow each other.
"""

_CONNECT_SECONDS = 0.8
_ANSWER_SECONDS = 2.5
LONGEST_CALL = _CONNECT_SECONDS + _ANSWER_SECONDS
"""Seconds after which a call has failed, if it has not been answered."""

_OVERLOAD = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "InternalServerError",
        "InternalFailure",
        "ServiceUnavailable",
        "TransactionInProgressException",
        # An answer that is not DynamoDB's own, from something on the way, is known by its status.
        "500",
        "502",
        "503",
        "504",
    }
)
_ON_ROWS = frozenset(
    {
        *("GetItem", "BatchGetItem", "Query", "Scan"),
        *("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"),
    }
)
"""Operations whose requests and answers are plain JSON; so they are while no row is binary."""


class _Loader(QuickLoader):
    """Offers no rules for endpoints, which botocore would consult before each call.

    Ours is the region's own, or the one we are told.
    """

    def list_available_services(self, type_name: str) -> list[str]:
        if type_name == "endpoint-rule-set-1":
            return []
        return super().list_available_services(type_name)


class _RowParser(JSONParser):  # type: ignore[misc]
    """Leaves rows as they came: DynamoDB's own attribute values."""

    def _handle_json_body(self, raw_body: bytes, shape: Any) -> Any:
        if shape.name.removesuffix("Output") in _ON_ROWS:
            return orjson.loads(raw_body)
        return super()._handle_json_body(raw_body, shape)


class _RowParsers(ResponseParserFactory):  # type: ignore[misc]
    def create_parser(self, protocol_name: str) -> Any:
        if protocol_name == "json":
            return _RowParser(**self._defaults)
        return super().create_parser(protocol_name)


class _RowSerializer(JSONSerializer):  # type: ignore[misc]
    """Sends rows as they are."""

    def serialize_to_request(self, parameters: Json, operation_model: Any) -> Json:
        if operation_model.name not in _ON_ROWS:
            return dict(super().serialize_to_request(parameters, operation_model))
        empty = super().serialize_to_request({}, operation_model)
        return {**empty, "body": orjson.dumps(parameters)}


class StorageConnection(Connection):
    """PynamoDB's connection, with the hooks around each call and our errors out of it."""

    def __init__(
        self,
        endpoint: str | None = settings.dynamodb_endpoint,
        parallel_calls: int = settings.parallel_calls,
    ) -> None:
        super().__init__(
            region=settings.region,
            host=endpoint,
            connect_timeout_seconds=_CONNECT_SECONDS,
            read_timeout_seconds=_ANSWER_SECONDS,
            max_retry_attempts=0,  # calls are tried again here, in the pace of `pace`
            max_pool_connections=max(10, parallel_calls),
        )
        self.hooks: list[Hook] = []
        self._parallel_calls = parallel_calls
        self._serializer = _RowSerializer()
        self._groups = count()
        self._session: botocore.session.Session | None = None
        self._threads: ThreadPoolExecutor | None = None

    @property
    def session(self) -> botocore.session.Session:
        """One botocore session for all threads; the client is made before there are any."""
        if self._session is None:
            self._session = quick_session()
        return self._session

    @property
    def client(self) -> Any:
        """The one client; botocore offers no other place to say how it writes requests."""
        client = super().client
        client._serializer = self._serializer  # noqa: SLF001
        whole_answers.read_by(client)
        return client

    def call(self, operation: str, parameters: Json) -> Json:
        """Make one call to DynamoDB, again where it is overloaded, failing or out of reach.

        So a call may be carried out more than once, also late, after others: a transaction has
        its request token against that, and all other writes put or remove whole rows that do
        no harm then. Raises `Unavailable` when
        DynamoDB does not recover soon, or the call might not end before the request has to, and
        PynamoDB's `VerboseClientError` when it refuses.
        """
        return self._make_api_call(operation, parameters)

    def together(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run independent calls side by side, and return their results in order.

        All have ended when one of them raises. Calls inside of such a call run in turn: they
        would wait for threads that wait for them.
        """
        if current_branch.get() is not None:
            return _in_turn(calls)
        group = next(self._groups)
        branches = [partial(self._run, (group, n), call) for n, call in enumerate(calls)]
        if self._parallel_calls == 1 or len(calls) <= 1:
            return copy_context().run(_in_turn, branches)
        _ = self.client  # opened before there are threads
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._parallel_calls)
        # A few shares rather than each call by itself: handing one over costs some 0.1 ms.
        shares = [branches[n :: self._parallel_calls] for n in range(self._parallel_calls)]
        futures = [
            self._threads.submit(copy_context().run, _in_turn, share) for share in shares if share
        ]
        wait(futures)
        results: list[Any] = [None] * len(calls)
        for n, future in enumerate(futures):
            results[n :: self._parallel_calls] = future.result()
        return results

    def _run(self, branch: tuple[int, int], call: Callable[[], Any]) -> Any:
        current_branch.set(branch)
        return call()

    def _make_api_call(self, operation_name: str, operation_kwargs: Json) -> Json:
        def send() -> Json:
            return super(StorageConnection, self)._make_api_call(operation_name, operation_kwargs)

        def around(inner: Send, hook: Hook) -> Send:
            return lambda: hook(operation_name, operation_kwargs, inner)

        for _ in pace.patient_attempts():
            deadline.require(LONGEST_CALL)
            try:
                return reduce(around, self.hooks, send)()
            except ClientError as error:
                if error.response["Error"]["Code"] not in _OVERLOAD:
                    raise
                failure: Exception = error
            except BotoCoreError as error:
                failure = error
        raise Unavailable from failure


def _in_turn(calls: Iterable[Callable[[], Any]]) -> list[Any]:
    return [call() for call in calls]


def quick_session() -> botocore.session.Session:
    """A botocore session whose clients open quickly and return rows as they came."""
    session = botocore.session.get_session()
    session.register_component("data_loader", _Loader())
    session.register_component("response_parser_factory", _RowParsers())
    # Otherwise botocore describes the machine anew with each request, twice.
    session.set_default_client_config(Config(user_agent="Keyhaven"))
    # It says which try this is, and with botocore each is the first: they are counted here.
    session.unregister("request-created", add_retry_headers)
    return session


def cancellation_reasons(error: VerboseClientError) -> list[CancellationReason | None]:
    """Why a transaction was cancelled: for each line the reason, or `None` where it was fine."""
    return list(error.cancellation_reasons)


connection = StorageConnection()
