"""Where AWS's own engine cannot run, or would be open to others, a sentence says so."""

from __future__ import annotations

import socket

import pytest

from tests import dynamodb_local
from tests.support.environment import ENGINE

on_it = pytest.mark.skipif(ENGINE != "dynamodb-local", reason="is about its process")


def test_without_java_it_says_what_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "")

    assert dynamodb_local.missing() == "DynamoDB Local needs Java 17, which is not on this machine."


@on_it
def test_it_runs_where_there_is_nothing_but_a_loopback(store):
    assert socket.if_nameindex() == [(1, "lo")]
