"""AWS's services: their clients, opened quickly and of a patience that is known.

A client that botocore opens by itself costs a cold start some 0.2 s: it reads large files of
JSON slowly, and looks into the folders of 400 services to find one. Here a quick parser reads
them, once for each process. DynamoDB has a connection of its own (`storage/connection.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import orjson
from botocore.config import Config
from botocore.loaders import JSONFileLoader, Loader

from chalicelib.domain.deadline import Patience
from chalicelib.settings import settings


class _QuickFiles(JSONFileLoader):  # type: ignore[misc]
    """Reads botocore's data files several times faster than the standard library does."""

    def _load_file(self, full_path: str, open_method: Callable[..., Any]) -> Any:
        if not Path(full_path).is_file():
            return None
        with open_method(full_path, "rb") as file:
            return orjson.loads(file.read())


class QuickLoader(Loader):  # type: ignore[misc]
    """A loader that does not look into the folders of 400 services to find one."""

    FILE_LOADER_CLASS = _QuickFiles

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002
        return [path.name for root in self.search_paths for path in _folders(Path(root))]


def client(service: str, patience: Patience, **options: Any) -> Any:
    """A client of a service in our region; `options` are those of botocore's `Config`."""
    session = botocore.session.get_session()
    session.register_component("data_loader", loader())
    config = Config(**patience.as_config(), **options)
    return session.create_client(service, region_name=settings.region, config=config)


@cache
def loader() -> QuickLoader:
    """The one of this process: what it has read serves every client."""
    return QuickLoader()


def _folders(root: Path) -> list[Path]:
    return list(root.iterdir()) if root.is_dir() else []
