"""Where the tenant's private keys lie: in Secrets Manager, or in a folder on one machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings

OPENPGP = "openpgp.asc"
SIGNING = "jwt.pem"
FIRST = "keyhaven-first-value-of-this-secret"
"""Names the first value of a secret: of two who store one at once, one does."""


def read(name: str) -> str:
    """Return a private key; raises `Unavailable` where it cannot be had, never makes one."""
    if settings.key_folder is not None:
        return _from_folder(name)
    return _from_secret(_secret_of(name))


def create(name: str, make: Callable[[], str]) -> None:
    """Make a private key where there is none yet; one that is there is never replaced."""
    if settings.key_folder is not None:
        _into_folder(settings.key_folder / name, make)
    else:
        into_secret(_secret_of(name), make)


def _secret_of(name: str) -> str | None:
    return settings.openpgp_secret if name == OPENPGP else settings.jwt_secret


def _into_folder(path: Path, make: Callable[[], str]) -> None:
    """Write the whole key or nothing: a start that is cut short leaves no half of one."""
    if path.exists():
        return
    draft = path.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(make(), encoding="ascii")
    draft.rename(path)


def into_secret(secret_id: str | None, make: Callable[[], str]) -> None:
    """The same of a secret: once it has a value, it keeps it."""
    if secret_id is None:
        raise Unavailable("The server has no place for its key.")
    client = _secrets()
    try:
        if client.describe_secret(SecretId=secret_id).get("VersionIdsToStages"):
            return
        client.put_secret_value(SecretId=secret_id, ClientRequestToken=FIRST, SecretString=make())
    except client.exceptions.ResourceExistsException:
        return  # somebody else stored one just now
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("The server's key cannot be stored now.") from error


def _from_folder(name: str) -> str:
    assert settings.key_folder is not None  # noqa: S101 - asked by the caller
    try:
        return (settings.key_folder / name).read_text(encoding="ascii")
    except OSError as error:
        raise Unavailable("The server's key cannot be read now.") from error


def _from_secret(secret_id: str | None) -> str:
    if secret_id is None:
        raise Unavailable("The server has no key.")
    try:
        return str(_secrets().get_secret_value(SecretId=secret_id)["SecretString"])
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("The server's key cannot be read now.") from error


def _secrets() -> Any:
    return botocore.session.get_session().create_client(
        "secretsmanager", region_name=settings.region
    )
