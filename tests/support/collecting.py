"""A collector of traces: what it is sent is read by OpenTelemetry's own messages."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_IDENTIFIERS = ("traceId", "spanId", "parentSpanId")


def read(sent: Any) -> ExportTraceServiceRequest:
    """What was sent, refused where there is anything in it that the protocol does not have.

    Its JSON is that of protocol buffers, but for identifiers: these are hexadecimal.
    """
    return json_format.Parse(json.dumps(_by_protobuf(sent)), ExportTraceServiceRequest())


def read_spans(spans: list[dict[str, Any]]) -> list[Span]:
    sent = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    return list(read(sent).resource_spans[0].scope_spans[0].spans)


def told(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)


def _by_protobuf(value: Any) -> Any:
    if isinstance(value, list):
        return [_by_protobuf(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: b64encode(bytes.fromhex(each)).decode()
        if name in _IDENTIFIERS
        else _by_protobuf(each)
        for name, each in value.items()
    }


@dataclass
class Collector:
    address: str = ""
    taken: list[ExportTraceServiceRequest] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    """What the next requests are answered, before any is taken."""

    def spans(self) -> list[Span]:
        return [
            span
            for sent in self.taken
            for resource in sent.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.headers.append(dict(self.headers))
            status, headers, said = 200, {}, b"{}"
            if collector.answers:
                status, headers, said = collector.answers.pop(0)
            if status == 200:
                collector.taken.append(read(json.loads(body)))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(said))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = HTTPServer(("127.0.0.1", 0), Taking)
    collector.address = f"http://127.0.0.1:{server.server_port}/v1/traces"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
