"""Secrets Manager gives the name of a value once, which moto does not look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import botocore.handlers


@contextmanager
def refusing_a_second_value(secrets: Any, secret: str) -> Iterator[None]:
    """Refuse to clients made from now on another value under a name that was given."""

    def look(params: Any, context: Any, **_: Any) -> None:
        known = secrets.list_secret_version_ids(SecretId=secret)["Versions"]
        names = {each["VersionId"] for each in known}
        context["is_second"] = params["ClientRequestToken"] in names

    def answer(context: Any, **_: Any) -> Any:
        if not context["is_second"]:
            return None
        error = {"Code": "ResourceExistsException", "Message": "made by a test"}
        return SimpleNamespace(status_code=400), {"Error": error}

    call = "secrets-manager.PutSecretValue"
    handlers = [(f"before-parameter-build.{call}", look), (f"before-call.{call}", answer)]
    botocore.handlers.BUILTIN_HANDLERS.extend(handlers)
    yield
    for each in handlers:
        botocore.handlers.BUILTIN_HANDLERS.remove(each)
