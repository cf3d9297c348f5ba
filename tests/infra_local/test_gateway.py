from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
import time
from http.client import HTTPConnection

import pytest
import uvicorn
from chalice.app import Chalice, Response

from infra.local_server.gateway import BODY_LIMIT, Gateway
from infra.local_server.protocol import LONGEST_TARGET, Protocol

JSON = ["application/json"]
ANY = [
    *JSON,
    "application/octet-stream",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
]


def make_app():
    app = Chalice(app_name="small", configure_logs=False)
    app.api.binary_types = ["image/png", "multipart/form-data"]

    def echo(**parameters):
        return {"event": app.current_request.to_original_event(), "parameters": parameters}

    methods = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]
    for path in ("/", "/echo.json", "/echo/{name}", "/{proxy+}"):
        name = "echo_" + str(len(app.routes))
        app.route(path, methods=methods, content_types=ANY, name=name)(echo)

    @app.route("/cookies.json")
    def cookies():
        return Response("ok", headers={"Set-Cookie": ["a=1; Path=/", "b=2"], "X-One": "1"})

    @app.route("/picture.png")
    def picture():
        return Response(b"\x89PNG\x00\xff", headers={"Content-Type": "image/png"})

    @app.route("/nothing.json")
    def nothing():
        return Response("", status_code=204)

    return app


class Recorded:
    """A Chalice app whose requests can hand out the event they were made from."""

    def __init__(self):
        self._app = make_app()
        self.routes = self._app.routes

    def __call__(self, event, context):
        if event["path"] == "/broken":
            raise RuntimeError("broken")
        if event["path"] == "/last.json":
            return {"statusCode": 200, "headers": {"Connection": "close"}, "body": "ok"}
        if event["resource"] == "/cookies.json" or event["resource"].endswith(
            ("png", "thing.json")
        ):
            return self._app(event, context)
        body = {"event": event, "left": context.get_remaining_time_in_millis()}
        return {"statusCode": 200, "headers": {"X-Path": "seen"}, "body": json.dumps(body)}


@pytest.fixture(scope="module")
def port():
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        Gateway(Recorded()),
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def connection(port):
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    yield connection
    connection.close()


@pytest.fixture
def ask(connection):
    def ask(method, target, body=None, headers=None, **more):
        connection.request(method, target, body, headers or {}, **more)
        response = connection.getresponse()
        return response, response.read()

    return ask


@pytest.fixture
def event_of(ask):
    """The event that a request became."""

    def event_of(*request, **more):
        return json.loads(ask(*request, **more)[1])["event"]

    return event_of


def raw(port, text):
    """What the server says to bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(text)
        return b"".join(iter(lambda: plain.recv(65536), b""))


def test_query_values_are_decoded_and_kept_blank_and_repeated(event_of):
    event = event_of(
        "GET", "/echo.json?filter%5Bhas-id%5D[]=a&filter[has-id][]=b+c&x=&y&z=%C3%A9&%FF=1"
    )

    assert event["multiValueQueryStringParameters"] == {
        "filter[has-id][]": ["a", "b c"],
        "x": [""],
        "y": [""],
        "z": ["é"],
        "\ufffd": ["1"],
    }
    assert event["queryStringParameters"]["filter[has-id][]"] == "b c"


def test_a_request_without_query_has_none(event_of):
    event = event_of("GET", "/echo.json")

    assert event["queryStringParameters"] is None
    assert event["multiValueQueryStringParameters"] is None
    assert event["pathParameters"] is None
    assert event["body"] is None


def test_repeated_headers_all_arrive(port):
    answer = raw(
        port,
        b"GET /echo.json HTTP/1.1\r\nHost: x\r\nCookie: =; =\r\nCookie: a=1\r\nX-Word: \xe9\r\n"
        b"X-CSRF-Token:\r\nConnection: close\r\n\r\n",
    )

    event = json.loads(answer.partition(b"\r\n\r\n")[2])["event"]
    assert event["multiValueHeaders"]["cookie"] == ["=; =", "a=1"]
    assert event["headers"]["cookie"] == "a=1"
    assert event["headers"]["x-csrf-token"] == ""
    assert event["headers"]["x-word"] == "é"


def test_the_context_tells_who_asks_and_what_was_sent(event_of):
    event = event_of("DELETE", "/echo/a%20b.json?x=%41", headers={"User-Agent": "tests"})

    context = event["requestContext"]
    assert event["pathParameters"] == {"name": "a b.json"}
    assert event["resource"] == context["resourcePath"] == "/echo/{name}"
    assert event["httpMethod"] == context["httpMethod"] == "DELETE"
    assert context["rawTarget"] == "/echo/a%20b.json?x=%41"
    assert context["identity"] == {"sourceIp": "127.0.0.1", "userAgent": "tests"}
    assert len(context["requestId"]) == 36


@pytest.mark.parametrize(
    "target",
    [
        "/x/..",
        "/x/%2e%2e/y",
        "/echo.json/",
        "/echo.json.json/a",
        "/a;b=c/d",
        "/a%00/b",
        "/ECHO.json",
    ],
)
def test_odd_paths_reach_the_catch_all_as_they_were_sent(event_of, target):
    event = event_of("GET", target)

    assert event["resource"] == "/{proxy+}"
    assert event["path"] == event["requestContext"]["rawTarget"] == target


def test_double_slashes_are_not_merged(port):
    answer = raw(port, b"GET //echo.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    assert json.loads(answer.partition(b"\r\n\r\n")[2])["event"]["resource"] == "/{proxy+}"


@pytest.mark.parametrize("method", ["PATCH", "OPTIONS", "TRACE", "HEAD"])
def test_every_method_reaches_the_resource_of_its_path(ask, method):
    response, body = ask(method, "/echo.json")

    assert response.status == 200
    assert response.headers["X-Path"] == "seen"
    assert (body == b"") == (method == "HEAD")


def test_text_bodies_arrive_as_text(event_of):
    event = event_of("POST", "/echo.json", '{"name": "é"}'.encode())

    assert (event["body"], event["isBase64Encoded"]) == ('{"name": "é"}', False)


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"\xff\xfe", "application/json"), (b"--x--", "multipart/form-data; boundary=x")],
)
def test_binary_bodies_arrive_as_base64(event_of, body, kind):
    event = event_of("POST", "/echo.json", body, {"Content-Type": kind})

    assert event["isBase64Encoded"]
    assert base64.b64decode(event["body"]) == body


def test_chunked_bodies_arrive_whole(event_of):
    event = event_of("POST", "/echo.json", iter([b"ab", b"c" * 70_000]), encode_chunked=True)

    assert event["body"] == "ab" + "c" * 70_000


def test_a_body_at_the_limit_arrives(event_of):
    assert len(event_of("POST", "/echo.json", b"x" * BODY_LIMIT)["body"]) == BODY_LIMIT


def test_a_body_above_the_limit_is_refused_in_the_envelope_and_the_connection_lives(ask, event_of):
    response, body = ask("POST", "/echo.json", b"x" * (2 * BODY_LIMIT))

    assert response.status == 413
    assert json.loads(body)["header"]["code"] == 413
    assert json.loads(body)["header"]["url"] == "/echo.json"
    assert event_of("POST", "/echo.json", b"x")["body"] == "x"


def test_a_chunked_body_above_the_limit_is_refused(ask):
    chunks = iter([b"x" * 1_000_000] * 7)

    assert ask("POST", "/echo.json", chunks, encode_chunked=True)[0].status == 413


def test_a_client_that_leaves_before_its_body_is_complete_calls_nothing(port, event_of):
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(b"POST /broken HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")

    assert event_of("GET", "/echo.json")["body"] is None


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA\x00: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ],
)
def test_what_is_no_http_is_refused_in_the_envelope_and_the_connection_ends(port, sent):
    head, _, body = raw(port, sent).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"\r\nconnection: close" in head
    assert f"content-length: {len(body)}".encode() in head
    assert json.loads(body)["header"]["code"] == 400


WHOLE = b"DELETE /echo.json HTTP/1.1\r\nHost: x\r\n\r\n"
SHORT = b"PUT /echo.json HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
CUT = b"PUT /broken HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n"


def statuses(answers):
    return [int(each[:3]) for each in answers.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("noise", [b'{"a": 1}', b"GET / HTTP/1.1\r\nA\x00: b\r\n\r\n"])
@pytest.mark.parametrize("requests", [[WHOLE], [SHORT], [WHOLE, SHORT], [SHORT, WHOLE, WHOLE]])
def test_np18_what_arrived_whole_is_answered_before_noise_ends_the_connection(
    port, requests, noise
):
    """NP18: it is carried out, so its client is not told that it was refused."""
    answers = raw(port, b"".join(requests) + noise)

    assert statuses(answers) == [200] * len(requests)
    assert answers.rpartition(b"HTTP/1.1 ")[2].count(b"\r\nconnection: close\r\n") == 1


@pytest.mark.parametrize("before", [[], [WHOLE], [WHOLE, SHORT]])
def test_np18_a_request_that_turns_into_noise_is_refused_and_not_carried_out(port, caplog, before):
    """NP18: and only after those before it are answered."""
    answers = raw(port, b"".join(before) + CUT)

    assert statuses(answers) == [*[200] * len(before), 400]
    assert b"\r\nconnection: close\r\n" in answers.rpartition(b"HTTP/1.1 ")[2]
    assert "The app failed." not in caplog.text


def test_noise_after_an_answer_is_refused(connection, ask):
    assert ask("GET", "/echo.json")[0].status == 200
    connection.sock.sendall(b"noise")

    assert connection.sock.recv(65536).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def target_of(length, query=""):
    return f"/echo.json{query}".ljust(length, "x")


@pytest.mark.parametrize("query", ["", "?a="])
def test_a_target_at_the_limit_arrives(event_of, query):
    target = target_of(LONGEST_TARGET, query)

    assert event_of("GET", target)["requestContext"]["rawTarget"] == target


@pytest.mark.parametrize("length", [LONGEST_TARGET + 1, LONGEST_TARGET + 2, 70_000, 300_000])
@pytest.mark.parametrize("query", ["", "?a="])
def test_a_target_above_the_limit_is_refused_in_the_envelope_and_the_connection_lives(
    ask, event_of, length, query
):
    response, body = ask("POST", target_of(length, query), b"x" * 100_000)

    assert response.status == 414
    assert json.loads(body)["header"]["code"] == 414
    assert json.loads(body)["header"]["url"] == target_of(LONGEST_TARGET, query)
    assert event_of("GET", "/echo.json")["path"] == "/echo.json"


def test_headers_have_no_limit_of_ours(event_of):
    assert event_of("GET", "/echo.json", None, {"X-Long": "x" * 300_000})["headers"]["x-long"]


def test_several_cookies_leave_as_several_headers(ask):
    response, body = ask("GET", "/cookies.json")

    assert response.headers.get_all("Set-Cookie") == ["a=1; Path=/", "b=2"]
    assert response.headers["X-One"] == "1"
    assert body == b"ok"


def test_names_of_headers_leave_as_they_are_written(port):
    answer = raw(port, b"GET /cookies.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

    for line in (b"X-One: 1", b"Set-Cookie: a=1; Path=/", b"Set-Cookie: b=2"):
        assert b"\r\n" + line + b"\r\n" in answer


def test_a_connection_ends_with_the_answer_that_says_so(port):
    answer = raw(port, b"GET /last.json HTTP/1.1\r\nHost: x\r\n\r\n")

    assert answer.count(b"\r\nconnection: close\r\n") == 1
    assert answer.endswith(b"\r\n\r\nok")


def test_pictures_leave_as_bytes(ask):
    response, body = ask("GET", "/picture.png", headers={"Accept": "image/png"})

    assert body == b"\x89PNG\x00\xff"
    assert response.headers["Content-Length"] == "6"


def test_an_empty_answer_has_no_body(ask):
    response, body = ask("GET", "/nothing.json")

    assert (response.status, body) == (204, b"")


def test_an_app_that_fails_is_a_bad_gateway_in_the_envelope(ask, caplog):
    response, body = ask("GET", "/broken")

    assert response.status == 502
    assert json.loads(body)["header"]["status"] == "error"
    assert "The app failed." in caplog.text


def test_connections_are_kept(connection, ask):
    ask("GET", "/echo.json")
    kept = connection.sock
    ask("GET", "/echo.json")

    assert kept is not None
    assert connection.sock is kept


def test_it_says_when_it_has_answered():
    """Also with a refusal; not where nobody waits for an answer any more."""
    heard = []

    async def send(message):
        heard.append(message["type"])

    async def ask(path, received):
        async def receive():
            return {"type": received}

        scope = {
            "method": "GET",
            "raw_path": path,
            "query_string": b"",
            "headers": [],
            "http_version": "1.1",
            "client": ("127.0.0.1", 1),
        }
        await Gateway(Recorded(), answered=lambda: heard.append("answered"))(scope, receive, send)

    asyncio.run(ask(b"/things.json", "http.request"))
    asyncio.run(ask(b"/broken", "http.request"))
    assert heard == ["http.response.start", "http.response.body", "answered"] * 2

    asyncio.run(ask(b"/things.json", "http.disconnect"))
    assert len(heard) == 6
