"""Names, filters and times as directories write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.directory.directory_filters import Malformed, equals, parsed
from chalicelib.domain.directory.directory_names import canonical
from chalicelib.domain.moments import find_generalized_time


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("uid=ada,dc=org", "UID = Ada , DC=ORG"),
        ("cn=Lovelace\\, Ada,dc=org", "cn=lovelace\\2c ada,dc=org"),
        ("cn=é,dc=org", "cn=\\c3\\a9,dc=org"),
        ("cn=a+uid=b,dc=org", "uid=b+cn=a,dc=org"),
        ("cn=a  b,dc=org", "cn=a b,dc=org"),
    ],
)
def test_a_name_is_the_same_however_it_is_written(one: str, other: str) -> None:
    assert canonical(one) == canonical(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cn=a\\,dc=b,dc=org", "cn=a,dc=b,dc=org"),
        ("cn=a\\\\,dc=org", "cn=a,dc=org"),
        ("cn=a,dc=org", "uid=a,dc=org"),
    ],
)
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("text", ["", "ada", "=a", "cn=a,", "cn=a\\", "cn=\\ff", "a" * 5_000])
def test_what_is_no_name_has_no_form(text: str) -> None:
    assert canonical(text) is None


@given(st.text())
def test_a_value_in_a_filter_stays_a_value(value: str) -> None:
    found = parsed(equals("cn", value))
    assert found.attributes == {"cn"}
    assert found.text.count("(") == 1


@given(st.text(alphabet="(&|!)a=*\\ 5c"))
def test_every_text_is_a_filter_or_malformed(text: str) -> None:
    try:
        found = parsed(text)
    except Malformed:
        return
    assert parsed(found.text) == found


def test_filters_are_not_nested_without_end() -> None:
    with pytest.raises(Malformed):
        parsed("(!" * 100_000)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("20260105093000Z", datetime(2026, 1, 5, 9, 30, tzinfo=UTC)),
        ("20260105093000.0Z", datetime(2026, 1, 5, 9, 30, tzinfo=UTC)),
        ("20260105113000+0200", datetime(2026, 1, 5, 9, 30, tzinfo=UTC)),
        ("2026010509Z", datetime(2026, 1, 5, 9, tzinfo=UTC)),
        ("20260105093000", None),
        ("20261305093000Z", None),
        ("", None),
        (None, None),
    ],
)
def test_times_are_read_as_directories_write_them(
    text: str | None, moment: datetime | None
) -> None:
    assert find_generalized_time(text) == moment
