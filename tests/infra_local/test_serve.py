from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import pytest

from infra.local_server.engine import Engine
from infra.local_server.options import CannotServe, Options

ROOT = Path(__file__).parents[2]


def serve(**environment):
    """Start serving where it cannot: what it says, and its exit code."""
    finished = subprocess.run(
        [sys.executable, "-m", "infra.local_server"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PORT": "0", **environment},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    return finished.stdout + finished.stderr, finished.returncode


def test_a_port_in_use_is_one_clear_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said, code = serve(PORT=str(port), DATA=str(tmp_path))

    assert (
        said
        == f"Keyhaven cannot be served: port {port} is not to be had: Address already in use.\n"
    )
    assert code == 1


@pytest.mark.parametrize("port", ["x", "-1", "70000"])
def test_a_port_that_is_none_is_one_clear_line(tmp_path, port):
    said, code = serve(PORT=port, DATA=str(tmp_path))

    assert (
        said == f"Keyhaven cannot be served: PORT is {port!r}; it must be a number up to 65535.\n"
    )
    assert code == 1


def test_a_data_folder_that_cannot_be_is_one_clear_line(tmp_path):
    (tmp_path / "file").touch()

    said, code = serve(DATA=str(tmp_path / "file"))

    assert said.startswith(f"Keyhaven cannot be served: DATA ({tmp_path}/file) cannot be used: ")
    assert said.count("\n") == 1
    assert code == 1


@pytest.mark.parametrize("folder", ["keys", "mail"])
def test_a_folder_of_it_that_cannot_be_is_one_clear_line(tmp_path, folder):
    (tmp_path / folder).touch()

    said, code = serve(DATA=str(tmp_path))

    assert said.startswith(f"Keyhaven cannot be served: DATA ({tmp_path}) cannot be used: ")
    assert folder in said
    assert said.count("\n") == 1
    assert code == 1


def _damaged(key):
    key.write_text("no key")


def _of_another_kind(key):
    key.mkdir()


@pytest.mark.parametrize("spoilt", [_damaged, _of_another_kind])
def test_a_key_that_is_none_is_one_clear_line_and_stays(tmp_path, spoilt):
    """Clients know the server by it, so none is made in its place."""
    key = tmp_path / "keys" / "openpgp.asc"
    key.parent.mkdir()
    spoilt(key)

    said, code = serve(DATA=str(tmp_path))

    assert said.startswith(f"Keyhaven cannot be served: the keys in {key.parent} cannot be used: ")
    assert said.count("\n") == 1
    assert code == 1
    assert key.is_dir() or key.read_text() == "no key"


def test_a_second_process_on_the_same_data_is_one_clear_line(tmp_path):
    engine = Engine(tmp_path / "tables.db")

    said, code = serve(DATA=str(tmp_path))

    engine.close()
    assert said == f"Keyhaven cannot be served: another process is using DATA ({tmp_path}).\n"
    assert code == 1


def test_an_unknown_dialect_is_one_clear_line(tmp_path):
    said, code = serve(DATA=str(tmp_path), DIALECT="latin")

    expected = "DIALECT is 'latin'; it must be 'specification' or 'clients'."
    assert said == f"Keyhaven cannot be served: {expected}\n"
    assert code == 1


@pytest.mark.parametrize(
    "address", ["x", "/", "keyhaven.example", "ftp://x", "https://", "https://[x", "http://x:99999"]
)
def test_an_address_that_is_none_is_one_clear_line(tmp_path, address):
    said, code = serve(DATA=str(tmp_path), BASE_URL=address)

    expected = f"BASE_URL is {address!r}; it must be such as https://keyhaven.example."
    assert said == f"Keyhaven cannot be served: {expected}\n"
    assert code == 1


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"ADMIN": "ada"}, "The username should be a valid email address."),
        ({"LAST_NAME": "x" * 256}, "The last name length should be maximum 255 characters."),
    ],
)
def test_a_first_administrator_who_cannot_be_is_told_why(tmp_path, given, reason):
    said, code = serve(DATA=str(tmp_path), **given)

    assert said.endswith(f" do not make an administrator: Could not validate user data. {reason}\n")
    assert code == 1


@contextmanager
def served(data, **environment):
    """The address of a service that really runs, and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "infra.local_server"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PORT": "0", "DATA": str(data), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = []
    for line in process.stdout:
        said.append(line)
        if "Ctrl-C" in line:
            break
    try:
        yield process, "".join(said)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def address(said):
    return re.search(r"listens on http://([0-9.:]+)", said)[1]


def ask(said, path, method="GET", content=None):
    connection = HTTPConnection(address(said), timeout=10)
    connection.request(method, path, content)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_it_serves_ends_cleanly_and_keeps_what_it_had(tmp_path):
    with served(tmp_path) as (process, first):
        response, body = ask(first, "/auth/verify.json")
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=10)
    with served(tmp_path) as (process, second):
        again = ask(second, "/auth/verify.json")[1]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)

    assert response.status == 200, first
    assert json.loads(body)["body"]["keydata"] == json.loads(again)["body"]["keydata"]
    assert "/setup/start/" in first
    assert "not for production" in first
    assert [json.loads(line)["action"] for line in rest.splitlines()] == ["AuthVerify.verifyGet"]
    assert process.returncode == 0


def test_a_first_administrator_who_has_not_set_up_is_led_there_again(tmp_path):
    links = re.compile(r"administrator.*:\n  (http://\S+/setup/start/\S+)")
    with served(tmp_path) as (_, said):
        [first] = links.findall(said)
    with served(tmp_path, ADMIN="ada@example.com") as (_, said):
        [again] = links.findall(said)
        path = urlsplit(again).path
        assert ask(said, path)[0].status == 200

    assert path.split("/")[-2] == urlsplit(first).path.split("/")[-2]
    assert address(said) in again
    assert "Mail to admin@example.com: " in said
    assert "This DATA has its first administrator; ADMIN is for a new one.\n" in said


def test_what_does_not_reach_the_app_wears_the_envelope(tmp_path):
    with served(tmp_path) as (_, said):
        missing, message = ask(said, "/no/such/path")
        large, refusal = ask(said, "/auth/login.json", "POST", b"x" * 7_000_000)
        long, word = ask(said, f"/auth/{'x' * 65_530}")
        none, sorry = ask(said, "http://")

    assert missing.status == 404, said
    assert json.loads(message)["header"]["url"] == "/no/such/path"
    assert large.status == 413
    assert json.loads(refusal)["header"]["code"] == 413
    assert long.status == json.loads(word)["header"]["code"] == 414
    assert none.status == json.loads(sorry)["header"]["code"] == 400
    assert json.loads(sorry)["header"]["message"] == "Bad Request"
    for refused in (large, long, none):
        assert refused.headers["X-Content-Type-Options"] == "nosniff"


def test_answers_on_a_kept_connection_do_not_wait_for_one_another(tmp_path):
    durations = []
    with served(tmp_path) as (_, said):
        connection = HTTPConnection(address(said), timeout=10)
        for _ in range(21):
            start = time.perf_counter()
            connection.request("GET", "/no/such/path")
            connection.getresponse().read()
            durations.append(time.perf_counter() - start)
        connection.close()

    assert median(durations) < 0.03


def test_options_left_empty_are_the_usual_ones():
    options = Options.read({"PORT": "", "DATA": "/data", "BASE_URL": "https://keys.example.com"})

    assert (options.port, options.data, options.host) == (8000, Path("/data"), "keys.example.com")
    assert options.keys == Path("/data/keys")
    with pytest.raises(CannotServe):
        Options.read({"PORT": "eight"})


def test_nothing_in_the_environment_leads_elsewhere(monkeypatch):
    monkeypatch.setattr(os, "environ", {"AWS_PROFILE": "real", "AWS_ACCESS_KEY_ID": "real"})
    os.environ["LOGIN_LIMIT"] = "5"

    Options(base_url="http://x").apply()

    assert "AWS_PROFILE" not in os.environ
    assert os.environ["AWS_ACCESS_KEY_ID"] == "local"
    assert (os.environ["LOGIN_LIMIT"], os.environ["PARALLEL_CALLS"]) == ("5", "1")
