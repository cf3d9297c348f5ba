"""uvicorn's HTTP protocol, except that what it refuses by itself leaves in our envelope."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from infra.local_server.events import RawHeaders, Scope

LONGEST_TARGET = 65_535
"""Bytes of a target that httptools can take apart."""
_IS_CUT = "keyhaven.target_is_cut"
_HANG_UP = (b"connection", b"close")
_ENDS = frozenset({b"content-length", b"transfer-encoding", b"connection"})


class _AsWritten(bytes):
    """A header's name that uvicorn sends in the letters it has, where it would make them small.

    Those that say where an answer ends are small all the same, as uvicorn knows them so alone.
    """

    __slots__ = ()

    def lower(self) -> bytes:
        small = super().lower()
        return small if small in _ENDS else self


class Protocol(HttpToolsProtocol):
    """Serves a `Gateway`."""

    def on_headers_complete(self) -> None:
        """Let the gateway refuse a target that is too long: what follows it is read first.

        A client that is still sending would not see an answer given now.
        """
        if len(self.url) > LONGEST_TARGET:
            self.url = self.url[:LONGEST_TARGET]
            self.scope["state"][_IS_CUT] = True
        super().on_headers_complete()

    def send_400_response(self, _: str) -> None:
        """Refuse what is no HTTP; where the next request would begin is not known, so hang up.

        Requests that arrived whole before it are under way, and are answered first. The newest
        is the last of them, or is what turns out to be no HTTP; it waits behind others, if any.
        """
        newest = self.cycle
        if newest is None or newest.response_complete:
            self._refuse()
        elif not newest.more_body:
            newest.keep_alive = False
        elif self.pipeline:
            self.pipeline[0] = (newest, self._refuse_in_turn)
        else:
            newest.disconnected = True
            newest.message_event.set()
            self._refuse()

    def _refuse(self) -> None:
        status, headers, content = self.app.refuse_no_http()
        lines = [name + b": " + value for name, value in [*headers, _HANG_UP]]
        head = STATUS_LINE[status] + b"\r\n".join(lines)
        self.transport.write(head + b"\r\n\r\n" + content)
        self.transport.close()

    async def _refuse_in_turn(self, _: object, __: object, send: Any) -> None:
        status, headers, content = self.app.refuse_no_http()
        await send(beginning(status, [*headers, _HANG_UP]))
        await send({"type": "http.response.body", "body": content})


def beginning(status: int, headers: RawHeaders) -> dict[str, Any]:
    """What an answer begins with; names of headers leave in the letters the app gave them.

    There are clients that know those of the sign-in in these letters alone.
    """
    written = [(_AsWritten(name), value) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": written}


def is_cut(scope: Scope) -> bool:
    """Whether the request's target was too long, and is here only as far as it was read."""
    return _IS_CUT in scope.get("state", {})
