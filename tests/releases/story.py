"""What people do with one release, and find with another: over HTTP, as their clients do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.wire.served import (
    MODULE,
    OUTPUT,
    ROOT,
    Person,
    Served,
    administrator,
    link_in,
    newcomer,
    running,
    set_up,
    signed_in,
)
from tests.support.world.keys import KEYS, challenge, open_sealed
from tests.support.world.pictures import PNG

READ, UPDATE, OWNER = 1, 7, 15
STAYING = ("ada", "betty", "carol")
_EARLIER_MODULE = "infra.local"


@dataclass(frozen=True, slots=True)
class Release:
    """The code of a release, to serve what lies in a folder."""

    root: Path = ROOT

    @property
    def module(self) -> str:
        is_now = (self.root / MODULE.replace(".", "/")).is_dir()
        return MODULE if is_now else _EARLIER_MODULE

    @contextmanager
    def serving(self, folder: Path) -> Iterator[str]:
        """Serve; what the process says."""
        chosen = {"dialect": "clients", "root": self.root, "module": self.module}
        with running(folder, **chosen) as said:
            yield said


def write(release: Release, folder: Path) -> Any:
    """Let a release store all kinds of things in a new folder; what people then see of them."""
    with release.serving(folder) as said:
        url, user_id = set_up(link_in(said), KEYS["ada"])
        served = Served(url, user_id, KEYS["ada"], folder / OUTPUT)
        ada = administrator(served)
        _tell(ada, *(newcomer(served, ada, name) for name in ("betty", "carol", "dave")))
        return seen(_signed_in(url, ada))


def look(release: Release, folder: Path) -> Any:
    """What people see of it with a release."""
    with release.serving(folder) as said:
        return seen(_signed_in(_url(said)))


def go_on(release: Release, folder: Path) -> None:
    """Let people change, with a release, everything that another one stored."""
    with release.serving(folder) as said:
        ada, betty, carol = _signed_in(_url(said))
        mail = _resource(ada, "mail")
        renewed = [_secret(ada, who, "renewed") for who in (ada, betty, carol)]
        ada.visitor.body("PUT", f"/resources/{mail}.json", {"name": "post", "secrets": renewed})
        [team] = ada.visitor.body("GET", "/groups.json?contain[groups_users]=1")
        members = {each["user_id"]: each["id"] for each in team["groups_users"]}
        changes = [
            {"id": members[betty.id], "is_admin": True},
            {"id": members[carol.id], "delete": True},
        ]
        ada.visitor.body("PUT", f"/groups/{team['id']}.json", {"groups_users": changes})
        comments = betty.visitor.body("GET", f"/comments/resource/{mail}.json")
        own = next(each for each in comments if each["user_id"] == betty.id)
        betty.visitor.body("PUT", f"/comments/{own['id']}.json", {"content": "seen again"})
        role = next(r for r in ada.visitor.body("GET", "/roles.json") if r["name"] == "auditor")
        ada.visitor.body("PUT", f"/roles/{role['id']}.json", {"name": "reviewer"})
        ada.visitor.body("PUT", f"/users/{carol.id}.json", {"profile": {"first_name": "Caroline"}})
        assert _opened(betty, mail, ada) == "renewed"
        assert carol.visitor.get(f"/resources/{mail}.json").status_code in (403, 404)
        ada.visitor.body("DELETE", f"/users/{carol.id}.json")


def seen(people: tuple[Person, ...]) -> Any:
    """All that people see, with their secrets opened; but for where the service is."""
    told = {who.name: _seen_by(who, people[0]) for who in people}
    return json.loads(json.dumps(told).replace(people[0].visitor.url, ""))


def _tell(ada: Person, betty: Person, carol: Person, dave: Person) -> None:
    """What happens at the first release."""
    team = ada.visitor.body(
        "POST",
        "/groups.json",
        {
            "name": "team",
            "groups_users": [
                {"user_id": ada.id, "is_admin": True},
                {"user_id": betty.id, "is_admin": False},
                {"user_id": carol.id, "is_admin": False},
            ],
        },
    )
    mail = _stored(ada, "mail", "of the mail", uri="https://mail.example.com")
    _stored(ada, "bank", "of the bank")
    old = _stored(betty, "old", "of nothing")
    _stored(dave, "left", "of dave")
    permissions = [
        {"aro": "Group", "aro_foreign_key": team["id"], "type": READ},
        {"aro": "User", "aro_foreign_key": betty.id, "type": UPDATE},
    ]
    shared = [_secret(ada, who, "of the mail") for who in (betty, carol)]
    sent = {"permissions": permissions, "secrets": shared}
    ada.visitor.body("PUT", f"/share/resource/{mail}.json", sent)
    betty.visitor.body("POST", f"/comments/resource/{mail}.json", {"content": "seen"})
    betty.visitor.body("POST", f"/favorites/resource/{mail}.json")
    betty.visitor.body("DELETE", f"/resources/{old}.json")
    ada.visitor.body("POST", "/roles.json", {"name": "auditor"})
    domains = {"provider": "email_domains", "data": {"allowed_domains": ["example.org"]}}
    ada.visitor.body("POST", "/self-registration/settings.json", domains)
    picture = {"profile[avatar][file]": ("ada.png", PNG, "image/png")}
    sent_picture = ada.visitor.post(f"/users/{ada.id}.json", files=picture)
    assert sent_picture.status_code == 200, sent_picture.text
    ada.visitor.body("DELETE", f"/users/{dave.id}.json")


def _stored(who: Person, name: str, password: str, **further: str) -> str:
    sent = {"name": name, **further, "secrets": [_secret(who, who, password)]}
    return str(who.visitor.body("POST", "/resources.json", sent)["id"])


def _secret(author: Person, reader: Person, text: str) -> Any:
    data = challenge(text, author.key.private, reader.key.public)
    return {"user_id": reader.id, "data": data}


def _url(said: str) -> str:
    listens = re.search(r"listens on (http://\S+),", said)
    assert listens is not None, said
    return listens[1]


def _signed_in(url: str, ada: Person | None = None) -> tuple[Person, ...]:
    visitors = {name: signed_in(url, KEYS[name]) for name in STAYING}
    ids = {name: each.body("GET", "/users/me.json")["id"] for name, each in visitors.items()}
    return tuple(Person(ids[name], name, KEYS[name], visitors[name]) for name in STAYING)


def _resource(who: Person, name: str) -> str:
    listed = who.visitor.body("GET", "/resources.json")
    return str(next(each["id"] for each in listed if each.get("name") == name))


def _opened(who: Person, resource_id: str, author: Person) -> str:
    data = who.visitor.body("GET", f"/secrets/resource/{resource_id}.json")["data"]
    return open_sealed(data, who.key.private, author.key.public)


def _seen_by(who: Person, author: Person) -> Any:
    contain = "contain[favorite]=1&contain[permissions]=1"
    resources = who.visitor.body("GET", f"/resources.json?{contain}")
    mail = next(each["id"] for each in resources if each.get("name") == "mail")
    return {
        "resources": sorted(resources, key=lambda each: each["id"]),
        "secrets": {each["id"]: _opened(who, each["id"], author) for each in resources},
        "comments": who.visitor.body("GET", f"/comments/resource/{mail}.json"),
        "groups": who.visitor.body("GET", "/groups.json?contain[groups_users]=1"),
        "users": _people(who.visitor.body("GET", "/users.json")),
        "roles": who.visitor.body("GET", "/roles.json"),
    }


def _people(users: Any) -> Any:
    """Users but for what changes with each sign-in, or names the address of the service."""
    kept = ("id", "username", "role_id", "active", "deleted", "created", "gpgkey")
    return [{name: each.get(name) for name in kept} for each in users]
