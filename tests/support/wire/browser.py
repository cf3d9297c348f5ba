"""A browser that shows pages without script, and sends the forms on them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from tests.support.wire import handshake
from tests.support.wire.client import Client, Response

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
FORM = {"content-type": "application/x-www-form-urlencoded", **BROWSER}

Fields = Mapping[str, str] | Sequence[tuple[str, str]]


def shown(browser: Client, path: str) -> str:
    """The page at a path, of which the browser keeps the cookies."""
    response = browser.get(path, headers=BROWSER)
    assert response.status == 200
    browser.cookies |= handshake.cookies_of(response)
    return response.content.decode()


def token_in(text: str) -> str:
    """The token in the form of a page."""
    [token] = re.findall(r'name="_csrfToken" value="(\w+)"', text)
    return str(token)


def sent(browser: Client, path: str, fields: Fields) -> Response:
    """What is answered to a form of these fields."""
    return browser.request("POST", path, raw=urlencode(fields).encode(), headers=FORM)
