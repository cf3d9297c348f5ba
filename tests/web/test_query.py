from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.errors import Invalid, NotFound
from chalicelib.web.filters import either, flag, ids, one_id, one_of, search, text, timestamp
from chalicelib.web.query import (
    Options,
    Pagination,
    Query,
    page_or_nothing,
    paginate,
    read_query,
    refuse_old_version,
)

ADA = "8d1c3f9e-5a43-4c02-9a0e-0a51f4a3f4de"
BOB = "0c5bb7b1-4a7f-4f3c-a3be-0f6ff7f61b52"

OPTIONS = Options(
    contains=frozenset(
        {"creator", "permission", "permissions", "permissions.user.profile", "groups_users"}
        | {"gpgkey", "last_logged_in"}
    ),
    default_contains=frozenset({"gpgkey"}),
    aliases={"LastLoggedIn": "last_logged_in", "group_user": "groups_users"},
    filters={
        "has-id": ids("resource id"),
        "has-users": ids("user id"),
        "has-parent": ids("parent id", allows_root=True),
        "has-access": one_id("resource id", "Multiple has-access filters are not supported."),
        "is-shared-with-group": one_id("group id"),
        "is-favorite": either,
        "is-owned-by-me": flag,
        "search": search,
        "modified-after": timestamp,
        "synced-at": timestamp,
        "has-tag": text,
        "metadata_key_type": one_of("user_key", "shared_key"),
    },
    sortable=("Resources.name", "Resources.modified"),
    default_order=(("Resources.name", False),),
    is_paginated=True,
)


def read(parameters: dict[str, Any], options: Options = OPTIONS) -> Query:
    lists = {
        name: [given] if isinstance(given, str) else given for name, given in parameters.items()
    }
    return read_query(options, lists)


def assert_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid) as refused:
        read(parameters)
    assert refused.value.message == message
    assert refused.value.errors is None


def test_nothing_asked_is_what_the_endpoint_does_by_itself():
    query = read({})

    assert query.contains("gpgkey")
    assert not query.contains("creator")
    assert query.filter("has-id") is None
    assert query.order == (("Resources.name", False),)
    assert (query.limit, query.page) == (None, 1)


def test_unknown_names_are_passed_over():
    query = read(
        {
            "contain[nothing]": "x",
            "filter[has_users]": "x",
            "filter[nothing][a][b]": "x",
            "other": "x",
            "a[b": "x",
            "": "x",
            "api-version": "v3None",
        }
    )

    assert query == read({})


@pytest.mark.parametrize("version", ["1", "v1"])
def test_the_first_version_is_refused(version):
    with pytest.raises(Invalid, match=r"^API v1 support is deprecated in this version\.$"):
        refuse_old_version({"api-version": [version]})


@pytest.mark.parametrize("versions", [[], ["v2"], ["v3None"], [""], ["v11"], ["2", "v2"]])
def test_other_versions_are_all_the_same(versions):
    refuse_old_version({"api-version": versions})
    refuse_old_version({})


@pytest.mark.parametrize("yes", ["1", "true", "True", "TRUE"])
def test_contain_asks_for_more(yes):
    assert read({"contain[creator]": yes}).contains("creator")


@pytest.mark.parametrize("no", ["0", "false", "False"])
def test_contain_may_say_no(no):
    query = read({"contain[creator]": no, "contain[gpgkey]": no})

    assert not query.contains("creator")
    assert not query.contains("gpgkey")


def test_the_deeper_contain_implies_what_it_stands_in():
    query = read({"contain[permissions.user.profile]": "1", "contain[permissions]": "0"})

    assert query.contains("permissions.user.profile")
    assert query.contains("permissions")
    assert not query.contains("permission")


def test_old_names_of_contains_mean_the_new_ones():
    query = read({"contain[LastLoggedIn]": "1", "contain[group_user]": "1"})

    assert query.contains("last_logged_in")
    assert query.contains("groups_users")


def test_of_a_contain_sent_twice_the_last_counts():
    """NP20."""
    assert not read({"contain[creator]": ["1", "0"]}).contains("creator")
    assert read({"contain[creator]": ["0", "1"]}).contains("creator")


@pytest.mark.parametrize("value", ["2", "yes", "", " 1", "on", "１"])  # noqa: RUF001
def test_contain_takes_a_boolean(value):
    """NP21."""
    assert_refused(
        {"contain[creator]": value}, f'Invalid contain. "{value}" is not a valid contain value.'
    )


def test_contain_takes_no_list():
    """NP21."""
    assert_refused(
        {"contain[creator][]": "1"}, 'Invalid contain. "array" is not a valid contain value.'
    )


@pytest.mark.parametrize("name", ["contain[]", "contain[0]"])
def test_contain_needs_names(name):
    assert_refused({name: "secret"}, 'Invalid contain. "secret" is not a valid contain value.')


@pytest.mark.parametrize("kind", ["contain", "filter"])
@pytest.mark.parametrize("value", ["x", "", "1"])
def test_contain_and_filter_are_maps(kind, value):
    assert_refused({kind: value}, f"Invalid query string. The {kind} parameter should be an array.")


def test_an_empty_list_of_filters_is_tolerated():
    assert read({"filter": "[]"}) == read({})


@pytest.mark.parametrize(
    ("name", "shown"), [("filter[]", "0"), ("filter[0]", "0"), ("filter[7]", "7")]
)
def test_a_filter_needs_a_name(name, shown):
    assert_refused(
        {name: "x"},
        f"Invalid filter. No validation rule for filter {shown}. Please create one.",
    )


def test_a_list_filter_takes_one_value_or_several():
    assert read({"filter[has-id]": ADA.upper()}).filter("has-id") == (ADA,)
    assert read({"filter[has-id][]": [ADA, BOB, ADA]}).filter("has-id") == (ADA, BOB)
    assert read({"filter[has-id][0]": ADA, "filter[has-id][1]": BOB}).filter("has-id") == (ADA, BOB)


def test_both_spellings_of_a_list_filter_are_one_list():
    """NP20."""
    query = read({"filter[has-id][]": [BOB], "filter[has-id]": [ADA]})

    assert query.filter("has-id") == (ADA, BOB)


def test_only_plural_names_split_at_commas():
    assert read({"filter[has-users]": f"{ADA},{BOB}"}).filter("has-users") == (ADA, BOB)
    assert_refused(
        {"filter[has-id]": f"{ADA},{BOB}"},
        f'Invalid filter. "{ADA},{BOB}" is not a valid resource id for filter has-id.',
    )


@pytest.mark.parametrize(
    ("name", "noun"),
    [("has-id", "resource id"), ("has-users", "user id"), ("is-shared-with-group", "group id")],
)
@pytest.mark.parametrize("value", ["", "1", "{" + ADA + "}", ADA + "\n", ADA[:-1]])
def test_an_identifier_in_a_filter_is_one(name, noun, value):
    """NP01."""
    message = f'Invalid filter. "{value}" is not a valid {noun} for filter {name}.'

    assert_refused({f"filter[{name}]": value}, message)
    assert_refused({f"filter[{name}][]": value}, message)


def test_a_list_filter_takes_a_thousand_values():
    """NP20."""
    thousand = [str(uuid4()) for _ in range(1_000)]

    assert len(read({"filter[has-id][]": thousand}).filter("has-id")) == 1_000
    with pytest.raises(Invalid, match="has-id"):
        read({"filter[has-id][]": [*thousand, ADA]})
    with pytest.raises(Invalid, match="has-users"):
        read({"filter[has-users]": "," * 10_000})


@pytest.mark.parametrize("root", ["", "0", "false", "False"])
def test_the_root_is_a_parent_too(root):
    assert read({"filter[has-parent]": root}).filter("has-parent") == (None,)
    assert read({"filter[has-parent][]": [root, ADA]}).filter("has-parent") == (None, ADA)


@pytest.mark.parametrize("value", ["true", "1", "x"])
def test_other_words_are_no_parent(value):
    assert_refused(
        {"filter[has-parent]": value},
        f'Invalid filter. "{value}" is not a valid parent id for filter has-parent.',
    )


def test_a_filter_of_one_identifier_takes_one():
    assert read({"filter[has-access][]": ADA}).filter("has-access") == ADA
    assert read({"filter[has-access]": [ADA, ADA]}).filter("has-access") == ADA
    assert_refused(
        {"filter[has-access][]": [ADA, BOB]}, "Multiple has-access filters are not supported."
    )
    assert_refused(
        {"filter[is-shared-with-group][]": [ADA, BOB]},
        'Invalid filter. "array" is not a valid group id for filter is-shared-with-group.',
    )


@pytest.mark.parametrize(
    ("value", "meant"),
    [("1", True), ("true", True), ("True", True), ("0", False), ("FALSE", False)],
)
def test_a_boolean_filter_tells_no_from_absent(value, meant):
    assert read({"filter[is-favorite]": value}).filter("is-favorite") is meant
    assert read({"filter[is-favorite]": ["x", value]}).filter("is-favorite") is meant


@pytest.mark.parametrize(("value", "meant"), [("1", True), ("TRUE", True), ("0", None)])
def test_a_flag_is_set_or_absent(value, meant):
    assert read({"filter[is-owned-by-me]": value}).filter("is-owned-by-me") is meant


@pytest.mark.parametrize("value", ["2", "yes", ""])
def test_a_boolean_filter_takes_a_boolean(value):
    """NP21."""
    assert_refused(
        {"filter[is-favorite]": value},
        f'Invalid filter. "{value}" is not a valid value for filter is-favorite.',
    )


@pytest.mark.parametrize("name", ["is-favorite", "is-owned-by-me", "metadata_key_type"])
@pytest.mark.parametrize("brackets", ["[]", "[0]", "[a]", "[a][b]"])
def test_a_filter_of_one_value_takes_no_list(name, brackets):
    """NP21."""
    assert_refused(
        {f"filter[{name}]{brackets}": "1"},
        f'Invalid filter. "array" is not a valid value for filter {name}.',
    )


def test_a_choice_is_one_of_those_offered():
    query = read({"filter[metadata_key_type]": "user_key"})

    assert query.filter("metadata_key_type") == "user_key"
    assert_refused(
        {"filter[metadata_key_type]": "x"},
        'Invalid filter. "x" is not a valid value for filter metadata_key_type.',
    )


@pytest.mark.parametrize("words", ["a", "%_", "漢" * 64, "a b"])
def test_a_search_is_taken_literally(words):
    assert read({"filter[search]": words}).filter("search") == words
    assert read({"filter[search][]": [words, "b"]}).filter("search") == words
    assert read({"filter[keywords]": words}).filter("search") == words
    assert read({"keywords": words}).filter("search") == words


@pytest.mark.parametrize("words", ["a" * 65, "😀"])
def test_a_search_is_plain_and_short(words):
    assert_refused(
        {"filter[search]": words},
        f'Invalid filter. "{words}" is not a valid search filter. '
        "It should be between 1 and 64 char in length.",
    )


def test_a_search_is_not_empty():
    assert_refused({"filter[search]": ""}, 'Invalid filter. "0" is not a valid search filter.')


def test_a_timestamp_counts_seconds():
    moment = datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)
    seconds = str(int(moment.timestamp()))

    assert read({"filter[modified-after]": seconds}).filter("modified-after") == moment
    assert read({"modified_after": seconds}).filter("synced-at") == moment
    assert read({"filter[modified-after]": "9" * 19}).filter("modified-after").year == 9999


@pytest.mark.parametrize("value", ["", "now", "-1", "1.5", "2031-01-01", "9" * 20, "٣"])
def test_other_text_is_no_timestamp(value):
    """NP23."""
    assert_refused(
        {"filter[modified-after]": value},
        f'Invalid filter. "{value}" is not a valid timestamp for filter modified-after.',
    )


@pytest.mark.parametrize("value", ["", "a" * 256])
def test_a_text_filter_is_neither_empty_nor_long(value):
    with pytest.raises(Invalid):
        read({"filter[has-tag]": value})
    assert read({"filter[has-tag]": "#a"}).filter("has-tag") == "#a"


@pytest.mark.parametrize("sign", ["\x00", "\x1f", "\ud800"])
def test_controls_and_surrogates_are_refused_everywhere(sign):
    """NP10, NP11."""
    for name, value in (("other", sign), (f"filter[{sign}]", "1"), ("filter[search]", f"a{sign}")):
        assert_refused({name: value}, "Bad Request")


def test_tabs_and_line_ends_are_text():
    """NP11."""
    assert read({"filter[search]": "a\tb\r\n"}).filter("search") == "a\tb\r\n"


@pytest.mark.parametrize(
    ("parameters", "order"),
    [
        ({"sort": "Resources.modified"}, (("Resources.modified", False),)),
        (
            {"sort": "Resources.modified", "direction": "desc"},
            (("Resources.modified", True),),
        ),
        ({"sort": "Resources.modified", "direction": ""}, (("Resources.modified", False),)),
        (
            {"sort[Resources.modified]": "desc", "sort[Resources.name]": ""},
            (("Resources.modified", True), ("Resources.name", False)),
        ),
        ({"order": "Resource.modified DESC"}, (("Resources.modified", True),)),
        ({"order": "Resources.modified"}, (("Resources.modified", False),)),
        (
            {"order[]": ["Resource.modified dEsC", "Resources.name asc"]},
            (("Resources.modified", True), ("Resources.name", False)),
        ),
        (
            {"order[0]": "Resource.name", "sort": "Resources.modified"},
            (("Resources.modified", False),),
        ),
        ({"direction": "sideways"}, (("Resources.name", False),)),
    ],
)
def test_lists_are_sorted_as_asked(parameters, order):
    assert read(parameters).order == order


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sort": "name"}, '"name" is not in the list of allowed order.'),
        ({"sort": ""}, '"" is not in the list of allowed order.'),
        ({"sort": "Resource.name"}, '"Resource.name" is not in the list of allowed order.'),
        ({"sort[Resources.uri]": "asc"}, '"Resources.uri" is not in the list of allowed order.'),
        (
            {"order": "Resource.secret ASC"},
            '"Resources.secret" is not in the list of allowed order.',
        ),
        ({"order[]": "resource.name"}, '"resources.name" is not in the list of allowed order.'),
        ({"order[]": "Resource.name;x"}, '"Resources.name;x" is not in the list of allowed order.'),
        ({"sort": "Resources.name", "direction": "DESC"}, '"DESC" is not a valid order.'),
        ({"sort[Resources.name]": "down"}, '"down" is not a valid order.'),
        (
            {"order[]": "Resource.modified SIDEWAYS"},
            '"Resource.modified SIDEWAYS" is not a valid order.',
        ),
        ({"order": "Resource.name ASC x"}, '"Resource.name ASC x" is not a valid order.'),
        ({"order": ""}, '"" is not a valid order.'),
        ({"order": "name"}, '"name" is not a valid field.'),
        ({"order": "Resource.name.x"}, '"Resource" is not a valid field.'),
    ],
)
def test_a_wrong_order_is_refused(parameters, message):
    """NP22."""
    assert_refused(parameters, f"Invalid order. {message}")


def test_a_list_is_not_sorted_by_a_hundred_fields():
    """NP22."""
    with pytest.raises(Invalid, match=r"^Invalid order\."):
        read({"order[]": ["Resource.name"] * 100})


@pytest.mark.parametrize(
    "name", ["sort[a][b]", "order[a]", "order[][]", "limit[]", "page[a]", "direction[]"]
)
def test_nested_sorting_and_paging_is_refused(name):
    assert_refused({name: "1"}, "Invalid pagination.")


def test_a_list_that_does_not_sort_passes_over_orders():
    query = read({"sort[a][b]": "x", "order": "a b c"}, Options())

    assert query.order == ()


def test_a_list_without_sortable_fields_refuses_every_field():
    with pytest.raises(Invalid, match="not in the list of allowed order"):
        read({"sort": "Resources.name"}, Options(sortable=()))


@pytest.mark.parametrize(
    ("limit", "meant"),
    [
        ("10", 10),
        ("0", 1),
        ("-5", 1),
        ("x", 1),
        ("", 1),
        ("1.5", 1),
        ("٣", 1),
        ("007", 7),
        ("1000001", 1000000),
        ("9" * 5000, 1000000),
        ("0" * 5000, 1),
    ],
)
def test_a_limit_is_a_number_from_one_to_a_million(limit, meant):
    assert read({"limit": limit}).limit == meant


@pytest.mark.parametrize(("page", "meant"), [("2", 2), ("0", 1), ("x", 1), ("9" * 40, 10**15)])
def test_a_page_is_a_number_from_one(page, meant):
    assert read({"page": page}).page == meant


def test_a_list_that_is_not_paginated_passes_over_pages():
    query = read({"limit": "1", "page": "7", "limit[]": "1"}, Options())

    assert (query.limit, query.page) == (None, 1)


def test_the_endpoint_may_fix_the_size_of_a_page():
    options = Options(is_paginated=True, page_size=20)

    assert read({"limit": "5", "page": "2"}, options).limit == 20


def test_without_a_limit_everything_is_on_one_page():
    assert paginate([1, 2, 3], Query()) == ([1, 2, 3], Pagination(count=3, page=1, limit=None))
    assert paginate([], Query()) == ([], Pagination(0, 1, None))


@pytest.mark.parametrize(("page", "rows"), [(1, [1, 2]), (2, [3, 4]), (3, [5])])
def test_a_limit_makes_pages(page, rows):
    found, pagination = paginate([1, 2, 3, 4, 5], Query(limit=2, page=page))

    assert found == rows
    assert pagination.as_json() == {"count": 5, "page": page, "limit": 2}


@pytest.mark.parametrize(
    ("rows", "query"),
    [
        ([1, 2, 3, 4], Query(limit=2, page=3)),
        ([1], Query(page=2)),
        ([], Query(page=2)),
        ([], Query(limit=5, page=2)),
        ([1], Query(limit=1_000_000, page=10**15)),
    ],
)
def test_there_is_nothing_beyond_the_last_page(rows, query):
    with pytest.raises(NotFound, match=r"^Not Found$"):
        paginate(rows, query)
    assert page_or_nothing(rows, query) == ([], Pagination(len(rows), query.page, query.limit))


def test_an_empty_list_has_a_first_page():
    assert paginate([], Query(limit=5)) == ([], Pagination(0, 1, 5))


_names = st.sampled_from(
    [f"filter[{name}]{end}" for name in OPTIONS.filters for end in ("", "[]", "[x]")]
    + ["contain[creator]", "contain[]", "filter", "contain", "sort", "sort[Resources.name]"]
    + ["order", "order[]", "direction", "limit", "page", "api-version", "keywords"]
) | st.text(max_size=12)
_values = st.sampled_from([ADA, "1", "false", "Resource.name DESC", "asc", ""]) | st.text(
    st.characters(), max_size=12
)


@given(parameters=st.dictionaries(_names, st.lists(_values, max_size=3), max_size=5))
def test_any_query_is_read_or_refused(parameters):
    try:
        query = read_query(OPTIONS, parameters)
    except Invalid as refused:
        message = refused.message
        assert message
    else:
        assert query.page >= 1
        assert {name for name, _ in query.order} <= set(OPTIONS.sortable or ())
