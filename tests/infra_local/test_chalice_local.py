"""`chalice local`, Chalice's own server, serves the app: its events tell less than others."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from infra.local_server.engine import Engine
from tests.support.wire.served import PATIENCE, ROOT, Visitor, set_up, signed_in
from tests.support.world.keys import KEYS

FOUND = """
from chalicelib.bodies.users.users import AdministratorBody
from chalicelib.services.operator import keys, tenants
from chalicelib.settings import settings
from chalicelib.tables import catalogue

for table in catalogue.tables():
    table.create_table(wait=False)
keys.create_local(settings.key_folder)
print(tenants.found(AdministratorBody("ada@example.com", "Ada", "Lovelace")))
"""
"""Makes a tenant as the founder does; its last word is the link of the first administrator."""


def _handler(engine):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            operation = self.headers["x-amz-target"].partition(".")[2]
            status, headers, content = engine.answer(operation, body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": len(content)}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    return Handler


@contextmanager
def storage():
    """The address of a DynamoDB that keeps nothing."""
    engine = Engine()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(engine))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
    engine.close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def takes_connections(port):
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def chalice_local(port, environment, output):
    """Chalice's server, once it takes connections."""
    chalice = Path(sys.executable).with_name("chalice")
    with output.open("wb") as screen:
        process = subprocess.Popen(
            [chalice, "local", "--port", str(port), "--no-autoreload"],
            cwd=ROOT,
            env=environment,
            stdout=screen,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + PATIENCE
        while not takes_connections(port):
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < end, output.read_text()
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Where the service is, and the link with which its first administrator sets up."""
    folder, port = tmp_path_factory.mktemp("chalice"), free_port()
    with storage() as address:
        environment = {
            "PATH": os.environ["PATH"],
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_EC2_METADATA_DISABLED": "true",
            "BASE_URL": f"http://127.0.0.1:{port}",
            "DYNAMODB_ENDPOINT": address,
            "KEY_FOLDER": str(folder),
            "AVATAR_FOLDER": str(folder),
            "TABLE_PREFIX": "keyhaven-dev-",
        }
        link = subprocess.run(
            [sys.executable, "-c", FOUND],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.split()[-1]
        with chalice_local(port, environment, folder / "output.txt"):
            yield environment["BASE_URL"], link


@pytest.fixture
def visitor(service):
    url, _ = service
    with Visitor(url) as visitor:
        yield visitor


@pytest.fixture(scope="module")
def ada(service):
    """The first administrator, set up and signed in."""
    url, link = service
    set_up(link, KEYS["ada"])
    with signed_in(url, KEYS["ada"]) as visitor:
        yield visitor


def test_an_answer_names_what_was_asked_for(visitor):
    answer = visitor.get("/auth/verify.json?api-version=v2&x=a%20b")

    assert answer.status_code == 200
    assert answer.json()["header"]["url"] == "/auth/verify.json?api-version=v2&x=a+b"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_refusal_wears_the_envelope(visitor):
    answer = visitor.get("/users.json")

    assert answer.json()["header"]["code"] == answer.status_code == 403


def test_another_method_is_not_found_in_the_envelope(visitor):
    answer = visitor.patch("/users.json")

    assert answer.json()["header"]["code"] == answer.status_code == 404
    assert answer.json()["header"]["url"] == "/users.json"


def test_a_path_that_asks_for_no_json_is_told_so(visitor):
    assert "Please use .json" in visitor.get("/users").json()["header"]["message"]


def test_an_accept_header_asks_for_json_as_well(visitor):
    answer = visitor.get("/auth/verify", headers={"Accept": "application/json"})

    assert answer.status_code == 200


def test_a_broken_body_is_refused(ada):
    answer = ada.post("/users.json", data=b"{", headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["header"]["message"]) == (400, "Bad Request")


def test_people_set_up_sign_in_and_store_what_they_like(ada):
    person = {"username": "betty@example.com", "profile": {"first_name": "É", "last_name": "B"}}

    created = ada.body("POST", "/users.json", person)

    assert ada.body("GET", f"/users/{created['id']}.json")["profile"]["first_name"] == "É"
    found = ada.body("GET", "/users.json?filter%5Bsearch%5D=betty%40example.com")
    assert [user["id"] for user in found] == [created["id"]]


def test_pictures_arrive_and_leave(ada):
    picture = (ROOT / "chalicelib/views/users/images/user.png").read_bytes()
    user_id = ada.body("GET", "/users/me.json")["id"]
    sent = ada.post(
        f"/users/{user_id}.json",
        data={"id": user_id},
        files={"profile[avatar][file]": ("face.png", picture, "image/png")},
    )

    url = sent.json()["body"]["profile"]["avatar"]["url"]["medium"]
    shown = requests.get(url, timeout=PATIENCE)

    assert shown.headers["Content-Type"] == "image/jpeg"
    assert shown.content.startswith(b"\xff\xd8")
