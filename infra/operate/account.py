"""The account a cell lies in, asked and changed through the clients of boto3.

Which account and region, credentials and endpoints: as boto3 finds them (its profile, its
environment; `AWS_REGION` too, as other programs do). Nothing of it is kept here.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import NoCredentialsError

from chalicelib.aws import loader
from infra.operate.steps import Failed

_PATIENT = Config(retries={"mode": "standard", "max_attempts": 8})
"""AWS bounds how often stacks and functions may be asked about."""
_REGION = re.compile("[a-z]{2}(-[a-z]+)+-[0-9]{1,2}")


class Account:
    def __init__(
        self,
        region: str | None = None,
        pause: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._session = _session(region or _region_of_environment())
        if not self._session.region_name:
            raise Failed("No region is named: give --region, or set AWS_REGION.")
        if not _REGION.fullmatch(self.region):
            raise Failed(f"{self.region!r} is no region; one is named such as eu-central-1.")
        self._clients: dict[str, Any] = {}
        self.pause = pause
        self.now = now

    def client(self, service: str) -> Any:
        """The one client of a service."""
        if service not in self._clients:
            self._clients[service] = self._made(service)
        return self._clients[service]

    def _made(self, service: str) -> Any:
        return self._session.client(service, config=_PATIENT)

    def pages(self, service: str, operation: str, members: str, **asked: Any) -> Iterator[Any]:
        """All members of a list, over all its pages."""
        for page in self.client(service).get_paginator(operation).paginate(**asked):
            yield from page.get(members, [])

    @property
    def region(self) -> str:
        return str(self._session.region_name)

    @property
    def credentials(self) -> Any:
        """Of who gives the command, as they are at this moment."""
        found = self._session.get_credentials()
        if found is None:
            raise NoCredentialsError
        return found.get_frozen_credentials()

    @property
    def id(self) -> str:
        return str(self.client("sts").get_caller_identity()["Account"])

    @property
    def cell(self) -> str:
        return f"{self.id}/{self.region}"

    def until(self, is_so: Callable[[], bool], seconds: float = 5) -> None:
        """Ask again and again, with pauses, until something is so."""
        while not is_so():
            self.pause(seconds)


def _session(region: str | None) -> boto3.Session:
    """Whose clients open quickly: a command opens ten of them."""
    made = botocore.session.get_session()
    made.register_component("data_loader", loader())
    return boto3.Session(region_name=region, botocore_session=made)


def _region_of_environment() -> str | None:
    """Before that of a profile, as boto3 has it, which does not know the second of these."""
    return os.environ.get("AWS_DEFAULT_REGION") or os.environ.get("AWS_REGION")
