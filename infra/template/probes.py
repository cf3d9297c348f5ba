"""What the prober asks: of each function before a release a request of one of its routes; and every
few minutes what runs, where the tenant's address is not reached from outside of its networks.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.services.operator.probing import ADDRESSES
from infra.endpoints import everything
from infra.template.elements import Json, either, sub
from infra.template.functions import ALIAS, FUNCTIONS, Function, of_group
from infra.template.private import IS_PRIVATE

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


def watched() -> Json:
    """What is asked of a private API past its gateway; nothing, and so its address, of others."""
    lines = [f"GET {path} ${{{answering(path).id}}}:{ALIAS}" for path in ADDRESSES]
    return either(IS_PRIVATE, sub(";".join(lines)), "")


def answering(path: str) -> Function:
    """The function that answers what anybody may read at a path."""
    [served] = (
        each
        for each in everything()
        if each.route.method == "GET" and path in each.route.gateway_paths()
    )
    return of_group(served.group)
