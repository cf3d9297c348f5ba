from __future__ import annotations

import pytest

from infra.local_server.routes import CATCH_ALL, Routes

ROUTES = Routes(
    [
        "/",
        "/users.json",
        "/users/me.json",
        "/users/{user_id}",
        "/users/{user_id}/keys/{key_id}",
        "/users/me.json/photo",
        "/setup/{user}/{token}",
        "/app",
        "/app/{proxy+}",
        "/app/{user}/known",
        CATCH_ALL,
    ]
)


@pytest.mark.parametrize(
    ("path", "resource", "parameters"),
    [
        ("/", "/", {}),
        ("/users.json", "/users.json", {}),
        ("/users/me.json", "/users/me.json", {}),
        ("/users/1.json", "/users/{user_id}", {"user_id": "1.json"}),
        (
            "/users/me.json/keys/2",
            "/users/{user_id}/keys/{key_id}",
            {"user_id": "me.json", "key_id": "2"},
        ),
        ("/app/a", "/app/{proxy+}", {"proxy": "a"}),
        ("/app/a/b%20c/", "/app/{proxy+}", {"proxy": "a/b c/"}),
        ("/app/a/known", "/app/{user}/known", {"user": "a"}),
        ("/app/a/known/b", "/app/{proxy+}", {"proxy": "a/known/b"}),
        ("/users/a%2Fb", "/users/{user_id}", {"user_id": "a/b"}),
        ("/users/%2e%2e", "/users/{user_id}", {"user_id": ".."}),
        ("/users/a%00", "/users/{user_id}", {"user_id": "a\x00"}),
        ("/users/a;b=c", "/users/{user_id}", {"user_id": "a;b=c"}),
        ("/users/a+b%20c", "/users/{user_id}", {"user_id": "a+b c"}),
        ("/users/%zz%FF", "/users/{user_id}", {"user_id": "%zz\ufffd"}),
        ("/users/me%2Ejson", "/users/{user_id}", {"user_id": "me.json"}),
    ],
)
def test_a_path_belongs_to(path, resource, parameters):
    assert ROUTES.match(path) == (resource, parameters)


@pytest.mark.parametrize(
    "path",
    [
        "/users/",
        "/Users.json",
        "//users.json",
        "/users.json/",
        "/users//",
        "/app/",
        "/users/a/keys/",
        "/x",
        "//",
    ],
)
def test_every_other_path_belongs_to_the_catch_all(path):
    assert ROUTES.match(path) == (CATCH_ALL, {"proxy": path[1:]})


def test_a_path_of_a_megabyte_is_matched_like_any_other():
    assert ROUTES.match("/x" * 500_000)[0] == CATCH_ALL
