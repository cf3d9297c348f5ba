"""`export-traces`: how requests to a tenant went, for a collector of traces."""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime, timedelta

from infra.commands import options as given
from infra.operate.account import Account
from infra.operate.records import traces
from infra.operate.records.collector import Collector, headers_of, require_address
from infra.operate.registry import Registry
from infra.operate.steps import Failed

DETAILS = """\
Sends the spans of a tenant's requests to a collector, by OpenTelemetry's protocol (OTLP/HTTP in
JSON): of each request one, and one of each of its calls to DynamoDB. The functions write them to
their logs where the tenant has the parameter Traces=yes. Changes nothing.

  export-traces TENANT --to https://collector.example/v1/traces --from 2026-11-26T08:00:00Z

Headers that let us in stand in OTEL_EXPORTER_OTLP_HEADERS (name=value, with commas between them).
It says from when to go on. A span has the same identifier whenever it is sent.
"""
SETTLED = timedelta(minutes=2)
"""After which what was written to a log is found there."""
_AT_FIRST = timedelta(minutes=15)


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    parser.add_argument(
        "--to", required=True, metavar="URL", help="where the collector takes spans"
    )
    parser.add_argument(
        *("--from",),
        dest="first",
        type=given.moment,
        metavar="MOMENT",
        help="of requests from then on (default: of a quarter of an hour)",
    )
    parser.add_argument(
        "--until", type=given.moment, metavar="MOMENT", help="(default: two minutes ago)"
    )
    given.of_account(parser)


def run(options: argparse.Namespace) -> None:
    address = require_address(options.to)
    headers = headers_of(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", ""))
    account = given.account(options)
    first, end = _span_of_time(options, account)
    entry = Registry(account).fetch(options.tenant)
    if entry.parameters.get("Traces") != "yes":
        print(f"{entry.tenant} writes no spans now: `deploy {entry.tenant} --set Traces=yes`.")
    collector, count = Collector(account, address, headers), 0
    for batch in traces.batches(account, entry, first, end):
        if refused := collector.send(batch):
            print(refused)
        count += traces.count(batch)
    print(f"{count} spans until {_text(end)}. Go on with --from {_text(end)}.")


def _span_of_time(options: argparse.Namespace, account: Account) -> tuple[datetime, datetime]:
    now = datetime.fromtimestamp(account.now(), UTC).replace(microsecond=0)
    end = options.until or now - SETTLED
    first = options.first or end - _AT_FIRST
    if first >= end:
        raise Failed(f"{_text(first)} is not before {_text(end)}.")
    return first, end


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
