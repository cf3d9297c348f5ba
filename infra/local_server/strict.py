"""The limits DynamoDB enforces and its imitations do not, or not all: for tests on either.

`Strict().attach(client)` stands before a botocore client. It refuses what DynamoDB would
refuse, with DynamoDB's own errors, and answers a repeated request token as DynamoDB does:
the same content is not applied again, other content is refused.
"""

from __future__ import annotations

from typing import Any

import orjson
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError

from infra.local_server.limits import FindTable, Json, Table, problems


class Strict:
    """The checks before one client, and the request tokens it has seen."""

    def __init__(self) -> None:
        self._client: Any = None
        self._tables: dict[str, Table] = {}
        self._tokens: dict[str, tuple[bytes, Json]] = {}

    def attach(self, client: Any) -> None:
        """Check this client's requests from now on."""
        self._client = client
        client.meta.events.register("before-call.dynamodb", self._before)
        client.meta.events.register("after-call.dynamodb.TransactWriteItems", self._after)

    def reset(self) -> None:
        """Forget tables and tokens, as after a new start with empty tables."""
        self._tables.clear()
        self._tokens.clear()

    def find_table(self, name: str) -> Table:
        if name not in self._tables:
            self._tables[name] = Table.of(self._client.describe_table(TableName=name)["Table"])
        return self._tables[name]

    def _before(
        self, model: Any, params: Json, context: Json, **_: Any
    ) -> tuple[AWSResponse, Json] | None:
        request = orjson.loads(params["body"])
        check(model.name, request, self.find_table)
        if model.name != "TransactWriteItems":
            return None
        token = request.pop("ClientRequestToken", None)
        content = orjson.dumps(request, option=orjson.OPT_SORT_KEYS)
        context["strict_token"] = (token, content)
        if token not in self._tokens:
            return None
        known, answer = self._tokens[token]
        if known != content:
            raise refusal(
                "IdempotentParameterMismatchException",
                "The request uses the same client token as a previous, but non-identical request.",
                model.name,
            )
        return AWSResponse(params["url"], 200, {}, None), answer

    def _after(self, http_response: Any, parsed: Json, context: Json, **_: Any) -> None:
        token, content = context["strict_token"]
        if token is not None and http_response.status_code == 200:  # noqa: PLR2004
            self._tokens[token] = (content, parsed)


def check(operation: str, request: Json, find_table: FindTable) -> None:
    """Raise the `ClientError` with which DynamoDB refuses this request's size or shape."""
    problem = next(problems(operation, request, find_table), None)
    if problem is not None:
        raise refusal("ValidationException", problem, operation)


def refusal(code: str, message: str, operation: str) -> ClientError:
    """An error as botocore raises it."""
    answer = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": 400, "RequestId": "strict", "RetryAttempts": 0},
    }
    return ClientError(answer, operation)
