"""Paths under which older clients, bookmarks and mails look for what lies elsewhere today."""

from __future__ import annotations

from chalicelib.web.request import Request

MOVED = {
    "/login": "/auth/login",
    "/users/login": "/auth/login",
    "/logout": "/auth/logout",
    "/register": "/users/register",
    "/auth/register": "/users/register",
    "/recover": "/users/recover",
    "/password-generator/settings": "/password-policies/settings.json",
    "/password-generator/settings.json": "/password-policies/settings.json",
    "/mfa/setup": "/mfa/setup/select",
}


def new_path(request: Request) -> str | None:
    """Where what a client asks for is found today, if it has moved."""
    return MOVED.get(request.path) if request.method == "GET" else None
