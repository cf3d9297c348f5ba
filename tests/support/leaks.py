"""What the service says while tests run, searched for what it must never say (HD08, I12).

The whole suite is the search: after each test all that was said meanwhile is looked through.

*Said* are lines of the log with all of their metrics, also those of libraries and at any level;
answers that refuse or fail; mails; rows of the outbox and of the action log. *Secret* is whatever
tests send, or are given, where secrets are: in members of that name, in cookies, after `Bearer`,
in the path, in what they encrypt and decrypt. Messages, private keys and access tokens are known
by their look, and by any run of their characters.

    with Searching() as watch: ...      # in `tests/conftest.py`, for each test
    watch.said("an answer", text)       # by what stands where something is said
    watch.keep(token)                   # by what sends or gets a secret
"""

from __future__ import annotations

import json
import logging
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from chalicelib.settings import settings
from chalicelib.storage.connection import Json, Send
from chalicelib.tables.logs.readings import unpacked

_MEMBERS = (
    *("token", "secret_token", "access_token", "refresh_token", "verify_token", "auth_token"),
    *("user_token_result", "server_verify_token", "password", "passphrase", "secretKey"),
    "otpProvisioningUri",
)
"""Members of bodies, and parts of paths, that hold a secret."""
_ENDS = ('token"', 'password"', 'passphrase"', 'Key"', 'Uri"', 'result"', 'totp"')
_QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
"""A text of JSON. What is plain is one step, however long."""
_MEMBER = re.compile(rf'"(?:{"|".join(_MEMBERS)})"\s*:\s*({_QUOTED})')
_GIVEN_CODE = re.compile(r'"totp"\s*:\s*"(\d{6})"')
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NONCE = re.compile(rf"(?:gpgauthv[\d.]+\|36\|)?({_UUID.pattern})(?:\|gpgauthv[\d.]+)?")
_BETWEEN = re.compile(r"[.:|]")
_LONG_PART = 20
_CODE = re.compile(r"(?<![\w.-])\d{6}(?![\w.-])")
_BY_LOOK = {
    "a message or a private key": re.compile(
        r"-----BEGIN (?:PGP MESSAGE|PGP PRIVATE KEY BLOCK|(?:[A-Z]+ )?PRIVATE KEY)"
    ),
    "an access token": re.compile(r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}"),
}
_RUN = re.compile(r"[A-Za-z0-9+/]{56,}")
"""A line of an armored message has 64 characters, or a few less or more."""
_OF_APP = re.compile(r"[?&]secret=([A-Za-z2-7]+)")
_OWN_ADDRESS = re.compile(rf'"url": ?{_QUOTED}')
"""Answers repeat the address that was asked for, to who asked."""
_FORM = re.compile(r'<input type="hidden"[^>]*>')
"""Pages that refuse show their form again, with the CSRF token of who asks."""
_CERTIFICATES = re.compile("-----BEGIN CERTIFICATE-----[^-<]*-----END CERTIFICATE-----")
"""With it comes whom a server is to be verified by, which is public."""
_METADATA = re.compile(rf'"metadata": ?{_QUOTED}')
"""Who may not be deleted yet is refused with what stands in the way, and its encrypted metadata."""
_SHORTEST = 8
_LONG_TEXT = 12
_MUCH = 200_000
"""Characters after which a long test is looked through before it ends."""
_MANY = 2_000
"""Literals of which those are looked for alone whose beginning was said at all."""
_OF_TESTS = ("hypothesis", "moto", "aiosmtpd", "mail", "faker", "schemathesis", "gnupg")
"""Who writes to the log in tests, and is no part of the service. moto would write much."""


Secrets = tuple[set[str], set[str], set[str]]
"""Literals, tokens and codes."""


class LeakedError(AssertionError):
    """The service has said what it must not."""


@dataclass
class Watch:
    """What is secret and what was said, since it was looked through last."""

    literals: set[str] = field(default_factory=set)
    tokens: set[str] = field(default_factory=set)
    codes: set[str] = field(default_factory=set)
    readers: dict[str, str] = field(default_factory=dict)
    """By token of a link: the address to which it is sent."""
    heard: list[tuple[str, str]] = field(default_factory=list)
    _length: int = 0
    _found: list[str] = field(default_factory=list)

    # What is secret

    def keep(self, value: str) -> None:
        """Nobody may say this from now on."""
        nonce = _NONCE.fullmatch(value)
        if nonce:
            self.tokens.add(nonce[1].lower())
        elif len(value) >= _SHORTEST:
            self.literals |= _literals_of(value)

    def keep_request(
        self, headers: Mapping[str, str], body: str, path: Mapping[str, str] | None = None
    ) -> None:
        for name, value in headers.items():
            if name.lower() == "authorization":
                self.keep(value.removeprefix("Bearer "))
            elif name.lower() == "cookie":
                self._keep_cookies(value.split("; "))
        for name, value in (path or {}).items():
            if "token" in name:
                self.keep(value.removesuffix(".json"))
        self._keep_members(body)

    def keep_answer(self, cookies: Iterable[str], body: str) -> None:
        self._keep_cookies(each.partition(";")[0] for each in cookies)
        self._keep_members(body)

    def _keep_cookies(self, cookies: Iterable[str]) -> None:
        for each in cookies:
            value = unquote(each.partition("=")[2])
            if value:
                self.keep(value)

    def _keep_members(self, body: str) -> None:
        if not any(end in body for end in _ENDS):
            return
        self.codes.update(_GIVEN_CODE.findall(body))
        for quoted in _MEMBER.findall(body):
            try:
                value = str(json.loads(quoted))
            except ValueError:  # tests also send what is no JSON
                continue
            self.keep(value)
            for secret in _OF_APP.findall(value):
                self.keep(secret)

    def secrets(self) -> Secrets:
        """All that nobody may say, for `keep_all` of a later test that is given what has them."""
        return {*self.literals}, {*self.tokens}, {*self.codes}

    def keep_all(self, secrets: Secrets) -> None:
        literals, tokens, codes = secrets
        self.literals |= literals
        self.tokens |= tokens
        self.codes |= codes

    def keep_text(self, text: str) -> None:
        """The same of a text that is encrypted, unless it might be any other word."""
        if len(text) >= _LONG_TEXT:
            self.keep(text)

    # What was said

    def said(self, where: str, text: str) -> None:
        self.heard.append((where, text))
        self._length += len(text)

    def answered(self, status: int, headers: Iterable[tuple[str, str]], body: str) -> None:
        """An answer; what an endpoint gives to who may have it is its own affair."""
        if status < 400:
            return
        shown = [f"{name}: {value}" for name, value in headers if name.lower() != "set-cookie"]
        if status < 500:
            for theirs in (_OWN_ADDRESS, _FORM, _CERTIFICATES, _METADATA):
                body = theirs.sub("", body)
        else:
            body = _OWN_ADDRESS.sub("", body)
        self.said(f"an answer of {status}", "\n".join([*shown, body]))

    def posted(self, addresses: Collection[str], text: str) -> None:
        """A mail. The link that it is for may be in it, if it goes to who is to follow it."""
        for token in set(_UUID.findall(text)):
            if {self.readers.get(token.lower())} == {each.lower() for each in addresses}:
                text = text.replace(token, "")
        self.said("a mail", text)

    def stored(self, table: str, row: Mapping[str, Any]) -> None:
        """A row that tells what happened: one of the action log, or one that becomes mails."""
        if table == "action_logs":
            ids = unpacked(row["secrets"]["S"]) if "secrets" in row else ()
            told = {**row, "secrets": list(ids)}
            self.said("a row of the action log", json.dumps(told))
            return
        if (
            "recipient" not in row
        ):  # of another form, which the tests of forms make of what was heard
            return
        params = dict(row.get("params", {}).get("M", {}))
        recipient, link = row["recipient"]["S"], params.get("link", {}).get("S", "")
        if "@" in recipient:  # else it is for many, and no link is
            ids = _UUID.findall(link)
            if ids and "/start/" in link:
                self.keep(ids[-1])
                self.readers[ids[-1].lower()] = recipient.lower()
                params.pop("link")
        self.said("a row of the outbox", json.dumps(params))

    # Whether anything was both

    def search(self) -> None:
        """Look through what was said so far."""
        heard, self.heard, self._length = self.heard, [], 0
        literals = self._perhaps_in([text for _, text in heard])
        for where, text in heard:
            for what in self._secrets(text, literals):
                self._found.append(f"{what} in {where}: {_shortened(text)}")

    def search_if_long(self) -> None:
        if self._length > _MUCH:
            self.search()

    def _perhaps_in(self, texts: list[str]) -> Collection[str]:
        if len(self.literals) <= _MANY:
            return self.literals
        begun = {
            text[at : at + _SHORTEST] for text in texts for at in range(len(text) - _SHORTEST + 1)
        }
        return [each for each in self.literals if each[:_SHORTEST] in begun]

    def _secrets(self, text: str, literals: Collection[str]) -> Iterator[str]:
        yield from (what for what, look in _BY_LOOK.items() if look.search(text))
        if any(map(_is_mixed, _RUN.findall(text))):
            yield "a part of a message or a key"
        if self.tokens and not self.tokens.isdisjoint(map(str.lower, _UUID.findall(text))):
            yield "a token"
        if self.codes and not self.codes.isdisjoint(_CODE.findall(text)):
            yield "a code"
        for literal in literals:
            if literal in text:
                yield f"what begins with {literal[:3]!r}"

    def found(self) -> list[str]:
        """What was said that is secret; then nothing is known and nothing was said."""
        self.search()
        found = self._found
        self.__init__()  # type: ignore[misc]
        return found

    def require_silence_so_far(self) -> None:
        """Raise `LeakedError` where a secret was said; what is secret stays known."""
        self.search()
        if self._found:
            raise LeakedError("\n".join(self._found))

    def require_silence(self) -> None:
        """Raise `LeakedError` where a secret was said."""
        found = self.found()
        if found:
            raise LeakedError("\n".join(found))


@lru_cache(64)
def _literals_of(value: str) -> frozenset[str]:
    """A secret and its long parts, each as it may be written; tests send the same ones often."""
    parts = [each for each in _BETWEEN.split(value) if not _UUID.fullmatch(each)]
    wholes = {value, *(each for each in parts if len(each) >= _LONG_PART)}
    return frozenset(spelled for each in wholes for spelled in _spelled(each))


def _spelled(value: str) -> Iterator[str]:
    """A secret as it may be written: plainly, in JSON, in a path, in what is sent by SMTP."""
    yield value
    yield json.dumps(value)[1:-1]
    yield quote(value, safe="", errors="replace")
    yield b64encode(value.encode("utf-8", "surrogatepass")).decode().rstrip("=")[:-1]


def _is_mixed(run: str) -> bool:
    """Whether it may be base64: neither the digits of a digest nor one letter many times."""
    return (
        any("a" <= each <= "z" for each in run)
        and any("A" <= each <= "Z" for each in run)
        and any("0" <= each <= "9" for each in run)
        and len(set(run)) > 20
    )


def _shortened(text: str) -> str:
    return text if len(text) <= 600 else f"{text[:600]}…"


watch = Watch()


def hear_logs() -> None:
    """Hear every line of every logger from now on, whoever else does, and let all be written."""
    make = logging.getLogRecordFactory()

    def heard(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if not record.name.startswith(_OF_TESTS):
            watch.said(f"the log of {record.name}", _written(record))
        return record

    logging.setLogRecordFactory(heard)
    logging.getLogger().setLevel(logging.DEBUG)
    for name in _OF_TESTS:
        logging.getLogger(name).setLevel(logging.WARNING)


_lines = logging.Formatter()


def _written(record: logging.LogRecord) -> str:
    """A line as whoever asks for all of it would write it, with the trace of an accident."""
    return _lines.format(record)


_TOLD = {f"{settings.table_prefix}{name}": name for name in ("action_logs", "outbox")}


def hear_rows(operation: str, parameters: Json, send: Send) -> Json:
    """A hook at the connection: rows that tell what happened are said."""
    if operation == "TransactWriteItems":
        for line in parameters["TransactItems"]:
            if "Put" in line and line["Put"]["TableName"] in _TOLD:
                watch.stored(_TOLD[line["Put"]["TableName"]], line["Put"]["Item"])
    elif operation == "BatchWriteItem":
        for table in _TOLD.keys() & parameters["RequestItems"].keys():
            for request in parameters["RequestItems"][table]:
                if "PutRequest" in request:
                    watch.stored(_TOLD[table], request["PutRequest"]["Item"])
    elif operation == "PutItem" and parameters["TableName"] in _TOLD:
        watch.stored(_TOLD[parameters["TableName"]], parameters["Item"])
    return send()
