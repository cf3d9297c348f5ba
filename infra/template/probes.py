"""What the prober asks of each function before a release: a request of one of its routes."""

from __future__ import annotations

from collections.abc import Mapping

from infra.endpoints import everything
from infra.template.elements import Json, sub
from infra.template.functions import FUNCTIONS, Function

_TELLING = {"auth": ("GET", "/auth/verify.json")}
"""Of signing in, that reads the private keys too; of others, the first route that has no names."""


def probed(function: Function) -> tuple[str, str]:
    """Method and path of the request by which a function is asked."""
    if function.name in _TELLING:
        return _TELLING[function.name]
    routes = sorted(
        (served.route.method != "GET", not path.endswith(".json"), path, served.route.method)
        for served in everything()
        if served.group is function.group
        for path in served.route.gateway_paths()
        if "{" not in path
    )
    *_, path, method = routes[0]
    return method, path


def probes(versions: Mapping[str, str]) -> Json:
    """What the prober is told: a request for each function, with the new version of it."""
    lines = [
        f"{method} {path} ${{{versions[each.name]}}}"
        for each in FUNCTIONS
        if each.is_served
        for method, path in [probed(each)]
    ]
    return sub(";".join(lines))
