"""The life of an organisation's metadata: real keys, real messages, five people at work.

All cryptography is the clients': Sequoia and GnuPG make and open every message.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pysequoia
import pytest

from tests.support.world.items import folders
from tests.support.world.items.metadata import (
    PRIVATES,
    allow_v5,
    copy_for,
    described,
    expire,
    opened,
    own_copies,
    private_of,
    shared,
    v5_resource,
)
from tests.support.world.items.resources import created, path
from tests.support.world.items.shares import add, put
from tests.support.world.keys import message

ROTATE = "/metadata/rotate-key/{}.json"
SESSION_KEYS = "/metadata/session-keys.json"


class Client:
    """A person's client: it opens metadata by the copies that the person has."""

    def __init__(self, who, trusted):
        self.who, self._trusted = who, trusted

    def read(self, where):
        """The metadata of an item, opened by the shared key that it names."""
        shown = self.who.client.get(where).body
        private = private_of(self.who, self._copy(shown["metadata_key_id"]), self._trusted)
        secret = pysequoia.Tsk.from_bytes(private.encode()).decryptor()
        found = pysequoia.decrypt(shown["metadata"].encode(), decryptor=secret).bytes
        return found.decode()

    def trust(self):
        """Sign one's own copies anew, as clients do after the first look."""
        for copy in own_copies(self.who).values():
            if copy["modified_by"] == self.who.id:
                continue
            text = self._opened(copy)
            signer = pysequoia.Tsk.from_bytes(self.who.key.private.encode()).signer()
            own = pysequoia.Cert.from_bytes(self.who.key.public.encode())
            data = pysequoia.encrypt(text, recipients=[own], signer=signer).decode()
            where = f"/metadata/keys/private/{copy['id']}.json"
            assert self.who.client.put(where, {"data": data}).status == 200

    def _opened(self, copy):
        secret = pysequoia.Tsk.from_bytes(self.who.key.private.encode()).decryptor()
        return pysequoia.decrypt(copy["data"].encode(), decryptor=secret).bytes

    def _copy(self, key_id):
        return own_copies(self.who)[key_id]


@pytest.fixture
def team(ada, betty, carol, beginning):
    return [ada, betty, carol, beginning.joined_by("edith"), beginning.joined_by("frances")]


def rotated(admin, old, new, kind):
    """Rotate all items of a kind, as an administrator's client does; return the pages."""
    pages = 0
    rows = admin.client.get(ROTATE.format(kind)).body
    while rows:
        batch = [{**row, **described(new, opened(old, row["metadata"]))} for row in rows]
        response = admin.client.post(ROTATE.format(kind), batch)
        if response.status in (404, 409):
            rows = admin.client.get(ROTATE.format(kind)).body
            continue
        assert response.status == 200, response.json
        rows, pages = response.body, pages + 1
    return pages


def test_five_people_work_while_their_key_is_rotated(team):
    ada, betty, *_ = team
    first = shared(ada, *team[1:], None)
    allow_v5(ada)
    clients = [Client(who, [ada, who]) for who in team]
    for client in clients[1:]:
        client.trust()
    resources = {
        n: created(who, v5_resource(first, f"resource {n}")) for n, who in enumerate(team * 6)
    }
    work = betty.client.post("/folders.json", described(first, "work")).body
    body = {"permissions": [add(who) for who in team if who is not betty]}
    assert betty.client.put(f"/share/folder/{work['id']}.json", body).status == 200
    mail = resources[1]
    given = {
        "permissions": [add(ada)],
        "secrets": [{"user_id": ada.id, "data": message("secret", ada.key.public)}],
    }
    assert put(betty, mail["id"], given).status == 200

    second = shared(ada, *team[1:], None, number=2)
    for client in clients[1:]:
        client.trust()
    assert expire(ada, first).status == 200
    update = described(second, "resource 1, while it is rotated")
    update["resource_type_id"] = mail["resource_type_id"]
    assert betty.client.put(path(mail["id"]), update).status == 200
    newer = created(betty, v5_resource(second, "a new one"))

    assert rotated(ada, first, second, "resources") == 2
    assert rotated(ada, first, second, "folders") == 1

    for n, row in resources.items():
        text = "resource 1, while it is rotated" if n == 1 else f"resource {n}"
        assert clients[n % 5].read(path(row["id"])) == text
    assert clients[0].read(path(mail["id"])) == "resource 1, while it is rotated"
    assert clients[1].read(path(newer["id"])) == "a new one"
    assert {client.read(folders.path(work["id"])) for client in clients} == {"work"}
    assert ada.client.delete(first.path).status == 200
    assert clients[4].read(path(resources[4]["id"])) == "resource 4"


def test_who_comes_later_is_given_the_keys_by_an_administrator(team):
    ada, *_, frances = team
    key = shared(ada, *team[1:4])
    allow_v5(ada)
    work = ada.client.post("/folders.json", described(key, "work")).body
    body = {"permissions": [add(frances)]}
    assert ada.client.put(f"/share/folder/{work['id']}.json", body).status == 200
    query = "/users.json?contain[missing_metadata_key_ids]=1"
    lacking = {u["id"]: u["missing_metadata_key_ids"] for u in ada.client.get(query).body}
    assert [user_id for user_id, keys in lacking.items() if keys] == [frances.id]

    missing = [
        {"metadata_key_id": key_id, "user_id": frances.id, "data": copy_for(key, frances, ada)}
        for key_id in lacking[frances.id]
    ]
    assert ada.client.post(PRIVATES, missing).status == 200

    assert Client(frances, [ada]).read(folders.path(work["id"])) == "work"


def gpg(home, *arguments, text=""):
    run = ["gpg", "--homedir", home, "--batch", "--pinentry-mode", "loopback"]
    run += ["--passphrase", "", "--trust-model", "always", *arguments]
    return subprocess.run(run, input=text, capture_output=True, text=True, check=True)


@pytest.mark.skipif(not shutil.which("gpg"), reason="GnuPG is not installed")
def test_session_keys_open_metadata_directly(ada, betty, tmp_path):
    """A client notes the session keys of metadata, and needs no private key the next time."""
    home, empty = str(tmp_path / "home"), str(tmp_path / "empty")
    for folder in (home, empty):
        Path(folder).mkdir(mode=0o700)
    key = shared(ada, betty)
    allow_v5(ada)
    row = created(betty, v5_resource(key, "about a mail"))
    gpg(home, "--import", text=key.private)
    told = gpg(home, "--show-session-key", "--decrypt", text=row["metadata"])
    assert told.stdout == "about a mail"
    session_key = re.search(r"session key: '(.+?)'", told.stderr)[1]

    noted = json.dumps({"session_keys": [{"foreign_id": row["id"], "session_key": session_key}]})
    stored = betty.client.post(SESSION_KEYS, {"data": message(noted, betty.key.public)})
    assert stored.status == 200, stored.json

    [entry] = betty.client.get(SESSION_KEYS).body
    decryptor = pysequoia.Tsk.from_bytes(betty.key.private.encode()).decryptor()
    text = pysequoia.decrypt(entry["data"].encode(), decryptor=decryptor).bytes
    [known] = json.loads(text)["session_keys"]
    shown = betty.client.get(path(known["foreign_id"])).body
    again = gpg(
        empty, "--override-session-key", known["session_key"], "--decrypt", text=shown["metadata"]
    )
    assert again.stdout == "about a mail"
