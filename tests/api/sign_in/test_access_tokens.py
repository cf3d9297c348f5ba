"""Access tokens: which are believed, and what a wrong one gets."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from chalicelib.domain.ids import new_id
from chalicelib.services.operator import signing_keys
from chalicelib.services.sign_in.sessions import ISSUER
from chalicelib.tables.tokens import BEARER, Token, token_hash
from chalicelib.tables.users.users import User
from tests.conftest import Time
from tests.support.wire.client import Client, Response
from tests.support.world.make import Somebody

ME = "/users/me.json"

pytestmark = pytest.mark.usefixtures("time")


def header_of_ours() -> dict[str, Any]:
    return {"typ": "JWT", "alg": "RS256"}


def encoded(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def token_of(claims: dict[str, Any], header: dict[str, Any] | None = None, key: Any = None) -> str:
    """A token signed by hand, so that header and claims can be anything."""
    head = header_of_ours() if header is None else header
    signed = f"{encoded(head)}.{encoded(claims)}"
    signer = key or signing_keys.signer().key
    signature = signer.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{encoded(signature)}"


@pytest.fixture
def session(betty: Somebody, time: Time) -> str:
    """A session that stands, for tokens to name."""
    name = new_id()
    Token(
        token_hash(BEARER, name),
        kind=BEARER,
        user_id=betty.id,
        epoch=0,
        expires=time.timestamp + 9e5,
    ).save()
    return name


@pytest.fixture
def claims(betty: Somebody, session: str, time: Time) -> dict[str, Any]:
    now = time.timestamp
    return {
        "iss": ISSUER,
        "aud": ISSUER,
        "sub": betty.id,
        "sid": session,
        "typ": "access",
        "iat": now,
        "exp": now + 300,
    }


def ask(api: Client, token: str) -> Response:
    return api.get(ME, headers={"authorization": f"Bearer {token}"})


def assert_unknown(response: Response) -> None:
    assert (response.status, response.message, response.body) == (
        403,
        "Authentication is required to continue",
        "",
    )


def test_a_token_of_ours_is_believed(api: Client, claims: dict[str, Any]) -> None:
    assert ask(api, token_of(claims)).status == 200


def test_what_we_issue_has_just_the_claims_that_are_documented(betty: Somebody) -> None:
    token = str(betty.client.token)
    assert jwt.get_unverified_header(token) == header_of_ours()
    issued = jwt.decode(token, options={"verify_signature": False})
    assert issued.keys() == {"iss", "aud", "sub", "sid", "typ", "iat", "exp"}
    assert issued["exp"] - issued["iat"] == 300


@pytest.mark.parametrize("algorithm", ["none", "None", "", "HS256", "RS512", "PS256", None, ...])
def test_no_other_algorithm_is_believed(
    api: Client, claims: dict[str, Any], algorithm: Any
) -> None:
    """AU21"""
    changed = header_of_ours() | {"alg": algorithm}
    header = {name: value for name, value in changed.items() if value is not ...}
    assert_unknown(ask(api, token_of(claims, header)))
    signed = f"{encoded(header)}.{encoded(claims)}"
    assert_unknown(ask(api, f"{signed}."))


@pytest.mark.parametrize("algorithm", ["HS256", "HS512"])
def test_the_published_key_is_no_shared_secret(
    api: Client, claims: dict[str, Any], algorithm: str
) -> None:
    """AU22"""
    public = signing_keys.signer().key.public_key()
    kind = {"HS256": hashes.SHA256(), "HS512": hashes.SHA512()}[algorithm]
    secrets = [
        public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        signing_keys.signing()["n"].encode(),
    ]
    for secret in secrets:
        signed = f"{encoded(header_of_ours() | {'alg': algorithm})}.{encoded(claims)}"
        code = hmac.HMAC(secret, kind)
        code.update(signed.encode())
        assert_unknown(ask(api, f"{signed}.{encoded(code.finalize())}"))


def test_a_token_that_brings_its_own_key_is_not_believed(
    api: Client, claims: dict[str, Any]
) -> None:
    """AU23; the tests' network is closed, so that a look-up would fail loudly."""
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(other.public_key()))
    for extra in (
        {"jwk": jwk},
        {"jku": "https://evil.test/jwks.json"},
        {"x5u": "https://evil.test/cert.pem"},
        {"x5c": ["MIIB"]},
    ):
        assert_unknown(ask(api, token_of(claims, header_of_ours() | extra, other)))


@pytest.mark.parametrize(
    "kid", ["../../dev/null", "' OR 1=1 --", "x" * 10_240, "unknown", "", 7, [], {}]
)
def test_a_key_name_selects_among_our_keys_only(
    api: Client, claims: dict[str, Any], kid: Any
) -> None:
    """AU24"""
    assert_unknown(ask(api, token_of(claims, header_of_ours() | {"kid": kid})))


@pytest.mark.parametrize("value", [..., "text", 1.5, True, 1e30, None, -1, "9999999999", [9**10]])
def test_an_expiry_is_an_integer(api: Client, claims: dict[str, Any], value: Any) -> None:
    """AU25"""
    changed = claims | {"exp": value}
    assert_unknown(ask(api, token_of({n: v for n, v in changed.items() if v is not ...})))


def test_a_token_ends_at_its_expiry_but_for_the_clocks_difference(
    api: Client, claims: dict[str, Any], time: Time
) -> None:
    """AU25, FT17"""
    token = token_of(claims)
    time.pass_by(seconds=304)
    assert ask(api, token).status == 200
    time.pass_by(seconds=1)
    assert_unknown(ask(api, token))


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://other.test/"},
        {"iss": ISSUER.rstrip("/")},
        {"aud": "https://other.test/"},
        {"aud": [ISSUER]},
        {"typ": "refresh"},
        {"typ": None},
        {"iat": "now"},
        {"iat": 4_000_000_000},
        {"nbf": 4_000_000_000},
        {"nbf": "1"},
        {"sid": None},
        {"sid": "unknown"},
    ],
)
def test_a_token_meant_for_something_else_is_not_believed(
    api: Client, claims: dict[str, Any], change: dict[str, Any]
) -> None:
    """AU26"""
    assert_unknown(ask(api, token_of(claims | change)))


@pytest.mark.parametrize(
    "subject", ["9f0c1c1e-5d0e-4c53-9a39-0c4f2e8f4a11", "betty", "", None, 7, ["x"]]
)
def test_a_token_of_nobody_is_not_believed(
    api: Client, claims: dict[str, Any], subject: Any
) -> None:
    """AU27"""
    assert_unknown(ask(api, token_of(claims | {"sub": subject})))


@pytest.mark.parametrize("change", [{"deleted": True}, {"active": False}, {"disabled": "now"}])
def test_a_user_who_is_out_is_out_on_the_next_request(
    betty: Somebody, time: Time, change: dict[str, Any]
) -> None:
    """AU27 AU29"""
    assert betty.client.get(ME).status == 200
    row = User.from_raw(betty.user.serialize())
    for name, value in change.items():
        setattr(row, name, time.now if value == "now" else value)
    row.save()
    assert_unknown(betty.client.get(ME))


def test_a_session_of_another_user_does_not_stand_for_this_one(
    api: Client, claims: dict[str, Any], carol: Somebody
) -> None:
    assert_unknown(ask(api, token_of(claims | {"sub": carol.id})))


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer a.b.c", "Basic YTpi", "", "bearer x y", "é"]
)
def test_a_wrong_authorization_header_is_refused_even_beside_a_good_cookie(
    betty: Somebody, header: str
) -> None:
    """HD04"""
    assert_unknown(betty.client.get(ME, headers={"authorization": header}))


@pytest.mark.parametrize("rest", ["", ".", "..", ".é.x", ".p.s.x", ".p.s", ".e30.", ".e30.AAAA"])
@pytest.mark.parametrize("extra", [{}, {"kid": "unknown"}, {"b64": False}, {"crit": ["b64"]}])
def test_a_header_of_ours_is_no_token(api: Client, extra: dict[str, Any], rest: str) -> None:
    assert_unknown(ask(api, encoded(header_of_ours() | extra) + rest))


def test_the_word_bearer_is_taken_in_any_case(api: Client, claims: dict[str, Any]) -> None:
    response = api.get(ME, headers={"authorization": f"bEaReR {token_of(claims)}"})
    assert response.status == 200


def test_the_token_decides_and_the_cookie_is_not_read(
    betty: Somebody, carol: Somebody, cookie_of: Callable[[Somebody], str]
) -> None:
    """HD04"""
    cookies = {"passbolt_session": cookie_of(carol)}
    assert Client(cookies=cookies).get(ME).body["id"] == carol.id
    assert betty.client.get(ME, cookies=cookies).body["id"] == betty.id


def test_a_token_needs_no_csrf_pair(ada: Somebody) -> None:
    body = {"username": "eve@example.com", "profile": {"first_name": "E", "last_name": "V"}}
    assert ada.client.post("/users.json", body).status == 200


def test_the_key_set_is_public_and_holds_no_private_part(api: Client) -> None:
    """AU35"""
    response = api.get("/auth/jwt/jwks.json")
    [key] = response.json["keys"]
    assert response.json.keys() == {"keys"}
    assert key.keys() == {"kty", "alg", "use", "e", "n"}
    assert len(base64.urlsafe_b64decode(key["n"] + "==")) * 8 >= 3072
    pem = api.get("/auth/jwt/rsa.json").body["keydata"]
    loaded = serialization.load_pem_public_key(pem.encode())
    assert isinstance(loaded, rsa.RSAPublicKey)
    assert encoded(loaded.public_numbers().n.to_bytes(384, "big")) == key["n"]


def test_the_key_set_has_a_second_address(api: Client) -> None:
    response = api.get("/.well-known/jwks.json")
    assert (response.status, response.headers["location"][-19:]) == (301, "/auth/jwt/jwks.json")
