"""Where the tenant's private keys lie: in Secrets Manager, or in a folder on one machine."""

from __future__ import annotations

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings

OPENPGP = "openpgp.asc"
SIGNING = "jwt.pem"


def read(name: str) -> str:
    """Return a private key; raises `Unavailable` where it cannot be had, never makes one."""
    if settings.key_folder is not None:
        return _from_folder(name)
    return _from_secret(settings.openpgp_secret if name == OPENPGP else settings.jwt_secret)


def _from_folder(name: str) -> str:
    assert settings.key_folder is not None  # noqa: S101 - asked by the caller
    try:
        return (settings.key_folder / name).read_text(encoding="ascii")
    except OSError as error:
        raise Unavailable("The server's key cannot be read now.") from error


def _from_secret(secret_id: str | None) -> str:
    if secret_id is None:
        raise Unavailable("The server has no key.")
    client = botocore.session.get_session().create_client(
        "secretsmanager", region_name=settings.region
    )
    try:
        return str(client.get_secret_value(SecretId=secret_id)["SecretString"])
    except (BotoCoreError, ClientError) as error:
        raise Unavailable("The server's key cannot be read now.") from error
