"""What happens to people: they are invited, get mail, follow links, are suspended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chalicelib.domain import clock
from chalicelib.services.operator import signing_keys
from chalicelib.services.users.people.users import new_user
from chalicelib.storage import reading
from chalicelib.storage.base import every_table
from chalicelib.tables.claims import Claim
from chalicelib.tables.operator.outbox import Mail
from chalicelib.tables.users.users import User
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world.make import Somebody


@dataclass(frozen=True)
class Invited:
    """A person who has a link and no key yet."""

    id: str
    token: str

    @property
    def row(self) -> User:
        return stored(self.id)


def start_again() -> None:
    """Publish the tenant's keys again, after the tables were emptied within a test."""
    signing_keys.publish()


def stored(user_id: str) -> User:
    row = reading.read([User.by_id(user_id)]).find(User, user_id)
    assert row is not None
    return row


def change(user_id: str, **fields: Any) -> None:
    """Give the row of a user other values, as something else might have meanwhile."""
    row = stored(user_id)
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()


def suspend(who: Somebody | Invited) -> None:
    change(who.id, disabled=clock.now())


def delete(who: Somebody | Invited) -> None:
    """As a deletion leaves a user: their address is free, the fingerprint of their key is not."""
    change(who.id, deleted=True)
    Claim.username(stored(who.id).username, who.id).delete()


def invitation(name: str = "dave", **members: Any) -> dict[str, Any]:
    profile = {"first_name": name.title(), "last_name": "Lovelace"}
    return {"username": f"{name}@example.com", "profile": profile, **members}


def invite(store: Storage, by: Somebody, name: str = "dave") -> Invited:
    response = by.client.post("/users.json", invitation(name))
    assert response.status == 200, response.json
    return invited(store, response)


def invited(store: Storage, response: Response) -> Invited:
    """The person of an invitation that was answered, with the link of their mail."""
    user_id = response.body["id"]
    [mail] = [mail for mail in mails(store) if user_id in link_of(mail)]
    return Invited(user_id, token_of(mail))


def waiting(name: str) -> User:
    """A person who was invited, without the mail."""
    row = new_user(f"{name}@example.com", name.title(), "Lovelace")
    row.save()
    Claim.username(row.username, row.id).save()
    return row


def mails(store: Storage) -> list[Mail]:
    """What the outbox holds, oldest first where time has passed."""
    rows = [Mail.from_raw(row) for row in store.rows(Mail.stored_as())]
    return sorted(rows, key=lambda mail: mail.created)


def link_of(mail: Mail) -> str:
    return str(mail.params["link"])


def token_of(mail: Mail) -> str:
    return link_of(mail).partition("?")[0].rpartition("/")[2]


def let_in(by: Somebody, *domains: str) -> str:
    """Open the registration for people of these domains; return the identifier of that."""
    sent = {"provider": "email_domains", "data": {"allowed_domains": domains or ["example.com"]}}
    response = by.client.put("/self-registration/settings.json", sent)
    assert response.status == 200, response.json
    return str(response.body["id"])


def register(client: Client, name: str = "dave", **members: Any) -> Any:
    return client.post("/users/register.json", invitation(name, **members), **CSRF_PAIR)


def recover(client: Client, **body: Any) -> Any:
    return client.post("/users/recover.json", body, **CSRF_PAIR)


def counts(store: Storage) -> dict[str, int]:
    """How many rows each table holds that has any."""
    found = {
        table.stored_as().removeprefix("test-"): len(store.rows(table.stored_as()))
        for table in every_table()
    }
    return {name: count for name, count in found.items() if count}
