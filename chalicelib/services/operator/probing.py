"""Whether a tenant answers, and whether a release would: asked before people have to find out.

Nothing is written and nobody signs in. What is asked comes with a session that nobody has, so
each function reads its settings, its keys and its rows as it does for anybody, and refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from chalicelib.domain.operator import audit
from chalicelib.settings import Probe

ADDRESSES = ("/healthcheck/status.json", "/auth/verify.json")
"""What anybody may ask of a tenant: that it is there, and its key."""
_OK = 200
_FIRST_ERROR = 500
_UNAVAILABLE = 503
AskAddress = Callable[[str], int]
AskVersion = Callable[[Probe], int]


class Unanswered(Exception):  # noqa: N818  it says what is so
    """The tenant does not answer at its own address; the log says what."""


def require_answers(ask: AskAddress) -> None:
    """Raise `Unanswered` where the tenant's address does not answer what everybody may ask."""
    told = {path: ask(path) for path in ADDRESSES}
    for path, status in told.items():
        audit.write("probe", object=path, status=status)
    if set(told.values()) != {_OK}:
        raise Unanswered


def faults(probes: Iterable[Probe], ask: AskVersion) -> list[str]:
    """Return the probed versions that do not answer, or answer with an error of the service.

    That they are not available (503) is a fault where what runs is: a tenant that has no keys
    yet, or whose storage is away, can be released to all the same.
    """
    return list(_faults(probes, ask))


def _faults(probes: Iterable[Probe], ask: AskVersion) -> Iterator[str]:
    for probe in probes:
        status = ask(probe)
        audit.write("probe", object=f"{probe.method} {probe.path}", status=status)
        if _is_busy(status) and _is_busy(ask(probe.of_what_runs)):
            continue
        if not _OK <= status < _FIRST_ERROR:
            yield f"{probe.method} {probe.path}: {status or 'no answer'}"


def _is_busy(status: int) -> bool:
    return status == _UNAVAILABLE
