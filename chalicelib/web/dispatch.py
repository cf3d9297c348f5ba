"""One request from its arrival to its answer: the order of refusals, and answers too large.

Path → API version → caller → CSRF → access → identifiers → the endpoint's own work.
Whatever goes wrong on the way leaves in the envelope.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from chalicelib.bodies.draft import Draft
from chalicelib.domain import deadline
from chalicelib.domain.actor import Access, Actor, Caller
from chalicelib.domain.errors import (
    Blocked,
    Forbidden,
    Invalid,
    NotFound,
    Refusal,
    SecondFactorMissing,
    Stale,
    Unauthenticated,
)
from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.operator import audit
from chalicelib.domain.uploads import Upload
from chalicelib.objects import answers
from chalicelib.services.directory.provisioners import Provisioner
from chalicelib.services.sign_in import sessions
from chalicelib.settings import settings
from chalicelib.storage import deciding
from chalicelib.storage.changes.creation import under
from chalicelib.tables.creations import Creation
from chalicelib.web import access, envelope, moved, scim
from chalicelib.web.envelope import SECOND_FACTOR_PAGE, SIGN_IN_PAGE, Answer, Call, Form
from chalicelib.web.query import read_query, refuse_old_version
from chalicelib.web.reply import Bare, Reply, led
from chalicelib.web.request import SUFFIX, Request
from chalicelib.web.route import Route

if settings.traces:  # else a function begins without it
    from chalicelib.web import tracing

GPGAUTH_HEADERS = {
    "X-GPGAuth-Version": "1.3.0",
    "X-GPGAuth-Login-URL": "/auth/login",
    "X-GPGAuth-Logout-URL": "/auth/logout",
    "X-GPGAuth-Verify-URL": "/auth/verify",
    "X-GPGAuth-Pubkey-URL": "/auth/verify.json",
    "Access-Control-Expose-Headers": (
        "X-GPGAuth-Verify-Response, X-GPGAuth-Progress, X-GPGAuth-User-Auth-Token, "
        "X-GPGAuth-Authenticated, X-GPGAuth-Refer, X-GPGAuth-Debug, X-GPGAuth-Error, "
        "X-GPGAuth-Pubkey, X-GPGAuth-Logout-Url, X-GPGAuth-Version"
    ),
}
ELSEWHERE = "The answer is large; it lies at the address in Location, for a minute."
MOST_OF_CONTEXT = 300
TOO_LONG = "The answer is too long for one response; ask for it in pages with limit and page."
TOO_MUCH_IN_THE_WAY = "More stands in the way than one response can tell; the lists show it."
_WITHOUT_MEMBERS: tuple[Any, ...] = ([], "")
"""What some languages make of an object without members."""
_NOT_IN_A_SEGMENT = frozenset(";/\\\x00")


def answer(route: Route, request: Request, parameters: Mapping[str, str]) -> Answer:
    """Answer a request to a known endpoint, or to the page beside it."""
    if (path := moved.new_path(request)) is not None:  # `/users/login` looks like a user's
        return _led(request, path)
    if not request.is_json_wanted and route.page is not None:
        return answer(route.page, request, {})
    if request.is_json_wanted and route.is_page:
        return unknown(request)
    context = _context(request, parameters)
    caller = Caller(new_id(), request.source, route.action, context, request.agent)
    work = partial(_answered, route, request, parameters, caller)
    if settings.traces:
        return tracing.answer(route, request, caller, work)
    return work()


def _answered(
    route: Route, request: Request, parameters: Mapping[str, str], caller: Caller
) -> Answer:
    started = time.perf_counter()
    call = Call(caller.request_id, request.target, route.action)
    exchange = _Exchange(route, request, parameters, caller)
    with deadline.within(deadline.REQUEST):
        result = _guarded(call, exchange)
    finished = _finished(result, request, exchange.is_first_visit(result))
    audit.write(
        "request",
        action=route.action,
        actor=exchange.asker,
        status=finished.status,
        duration_ms=round((time.perf_counter() - started) * 1000, 1),
        request_id=caller.request_id,
    )
    return finished


def _context(request: Request, parameters: Mapping[str, str]) -> str:
    """Method and path as they were sent, but for tokens: what is noted of a change."""
    path = request.target.partition("?")[0]
    for name, value in parameters.items():
        if "token" in name:
            path = path.replace(value.removesuffix(SUFFIX), f"{{{name}}}")
    return f"{request.method} {path}"[:MOST_OF_CONTEXT]


def unknown(request: Request) -> Answer:
    """Answer a request to a path or method that is no endpoint."""
    if (path := moved.new_path(request)) is not None:
        return _led(request, path)
    call = Call(new_id(), request.target)
    made = scim.form_of(request).refusal(call, NotFound("Not Found"))
    return _finished(made, request, is_first_visit=False)


def _led(request: Request, path: str) -> Answer:
    """Say where what was asked for is found today."""
    call = Call(new_id(), request.target)
    word = envelope.success(call, None, status=HTTPStatus.MOVED_PERMANENTLY)
    word.headers["Location"] = settings.base_url + path
    return _finished(word, request, is_first_visit=False)


def broken(request: Request) -> Answer:
    """Answer a request that failed outside of any endpoint."""
    call = Call(new_id(), request.target)
    audit.untraced_accident(call.id)
    return _finished(scim.form_of(request).accident(call), request, is_first_visit=False)


class _Exchange:
    """One request on its way through an endpoint."""

    def __init__(
        self, route: Route, request: Request, parameters: Mapping[str, str], caller: Caller
    ) -> None:
        self.route = route
        self.request = request
        self.parameters = parameters
        self.caller = caller
        self.actor: Actor | None = None
        self.provisioner: Provisioner | None = None

    @property
    def asker(self) -> str | None:
        """Whose request it is, or in whose name a directory sends it."""
        if self.provisioner is not None:
            return self.provisioner.user_id
        return None if self.actor is None else self.actor.id

    def decide(self, call: Call) -> Answer:
        route, request = self.route, self.request
        self._require_path()
        refuse_old_version(request.parameters)
        request.require_one_authorization()
        if (
            route.csrf
            and access.is_cookie_mode(request)
            and request.method not in access.SAFE_METHODS
        ):
            access.require_csrf(request)
        self._authenticate()
        arguments = self._arguments()
        return _answer_of(call, route, self._result(arguments))

    def is_first_visit(self, result: Answer) -> bool:
        """Whether the answer brings the CSRF cookie: a GET that worked and came without it."""
        is_get = self.request.method == "GET" and result.status < envelope.FIRST_ERROR
        return (
            is_get
            and self.route.form.is_enveloped
            and not self.request.cookies.get(access.CSRF_COOKIE)
        )

    def _require_path(self) -> None:
        if not self.request.is_json_wanted and self.route.path.endswith(SUFFIX):
            raise NotFound("Please use .json extension in URL or accept application/json.")
        for value in self.parameters.values():
            bare = value.removesuffix(SUFFIX)
            is_odd = bare in ("", ".", "..") or bare.endswith(SUFFIX)
            if is_odd or _NOT_IN_A_SEGMENT & set(value):
                raise NotFound("Not Found")

    def _authenticate(self) -> None:
        route = self.route
        if route.no_bearer is not None and self.request.bearer() is not None:
            raise Invalid(route.no_bearer)
        if route.access is Access.PUBLIC:
            return
        if route.access is Access.PROVISIONER:
            setting_id = self.parameters.get(scim.SETTING, "")
            self.provisioner = access.find_provisioner(setting_id, self.request, self.caller)
            return
        self.actor = access.find_actor(route, self.request, self.caller)
        if self.actor is not None and route.extends_session:
            sessions.extend(self.actor)
        if not route.before_second_factor:
            access.require_second_factor(self.actor)
        access.require(
            route.access, self.actor, denied=route.denied, unauthenticated=route.unauthenticated
        )

    def _arguments(self) -> dict[str, Any]:
        """What the route function names, made; identifiers are looked at first."""
        route, wants = self.route, self.route.wants | self.route.wants_again
        arguments: dict[str, Any] = self._from_path()
        if "actor" in wants:
            arguments["actor"] = self.actor
        if "caller" in wants:
            arguments["caller"] = self.caller
        if "target" in wants:
            arguments["target"] = self.request.target
        if "cookies" in wants:
            arguments["cookies"] = self.request.cookies
        if "require_csrf" in wants:
            arguments["require_csrf"] = lambda: access.require_csrf(self.request)
        if self.provisioner is not None:
            return arguments | self._of_directory()
        query = read_query(route.query, self.request.parameters)
        if "query" in wants:
            arguments["query"] = query
        if route.body is not None:
            arguments["body"] = self._draft(route.body)
        return arguments

    def _draft(self, body: type[Any]) -> Draft[Any]:
        """The body as sent; what is no object is refused where it would pass for no members."""
        draft: Draft[Any] = Draft(body, self.request.data)
        is_empty = draft.payload in _WITHOUT_MEMBERS
        if self.route.needs_object and not draft.is_object and not is_empty:
            raise Invalid("Bad Request")
        return draft

    def _of_directory(self) -> dict[str, Any]:
        """What a directory sends, of that what the route function names."""
        offered: dict[str, Callable[[], Any]] = {
            "provisioner": lambda: self.provisioner,
            "sent": lambda: self.request.body,
            "parameters": lambda: self.request.parameters,
            "versions": lambda: scim.versions_in(self.request),
        }
        return {name: offered[name]() for name in offered.keys() & self.route.wants}

    def _result(self, arguments: Mapping[str, Any]) -> Any:
        """What the endpoint does; of a repeated request, what was made at first."""
        route = self.route
        own = {name: arguments[name] for name in route.wants}
        if route.again is None or self.request.idempotency_key is None:
            return route.handler(**own)
        creation = self._creation(self.request.idempotency_key)
        made = creation.find_made()
        if made is not None:
            known = {**arguments, "made": made}
            return route.again(**{name: known[name] for name in route.wants_again})
        try:
            with under(creation):
                return route.handler(**own)
        except (Invalid, Forbidden, NotFound):
            if creation.find_made() is not None:  # by the same request, at the same moment
                raise Stale from None
            raise

    def _creation(self, key: str) -> Creation:
        """The request as its sender names it. A guest is known by their network address."""
        sender = self.actor.id if self.actor else self.caller.source
        sent = None if self.route.body is None else self.request.data
        content = json.dumps([self._from_path(), sent], sort_keys=True, default=Upload.told)
        digest = sha256(content.encode()).hexdigest()
        return Creation.named(sender, self.route.action, key, digest)

    def _from_path(self) -> dict[str, Any]:
        route = self.route
        values = {name: self.parameters[name] for name in route.path_names}
        if route.ends_in_parameter and route.path.endswith(SUFFIX):
            last = route.path_names[-1]
            values[last] = values[last].removesuffix(SUFFIX)
        return {name: self._identifier(name, value) for name, value in values.items()}

    def _identifier(self, name: str, value: str) -> str:
        if not name.endswith("_id"):
            return value
        identifier = find_uuid(value)
        if identifier is None:
            noun = name.removesuffix("_id").replace("_", " ")
            usual = f"The {noun} identifier should be a valid UUID."
            raise Invalid(self.route.ids.get(name, usual))
        return identifier


def _guarded(call: Call, exchange: _Exchange) -> Answer:
    """Decide, again where the data changed meanwhile, and turn what is raised into an answer."""
    try:
        decided = deciding.decided(partial(exchange.decide, call))
        return _fitting(call, exchange.route.form, decided)
    except Blocked as error:
        return _refused(call, exchange.route.form, _shown(exchange.route, error))
    except Refusal as error:
        return _told(call, exchange, error.forget())
    except Exception as error:  # noqa: BLE001 - the one place where accidents end
        audit.accident(error, request_id=call.id)
        return exchange.route.form.accident(call)


def _shown(route: Route, error: Blocked) -> Refusal:
    """The refusal with what stands in the way, as a client sees it."""
    assert route.blocked is not None, "the route shows what may block it"  # noqa: S101
    return Invalid(error.message, route.blocked(error.obstacles))


def _answer_of(call: Call, route: Route, result: Any) -> Answer:
    reply = result if isinstance(result, Reply) else Reply(result)
    return _sent(call, route, replace(reply, body=route.view(reply.body)))


def _sent(call: Call, route: Route, reply: Reply) -> Answer:
    message = reply.message or route.message or envelope.SUCCESS
    if reply.content_type is not None:
        made = Answer(reply.status, reply.body, {"Content-Type": reply.content_type})
    elif isinstance(reply, Bare):
        made = envelope.bare(reply.body)
    elif reply.is_failure:
        made = envelope.failed_stage(call, reply.status, message, reply.body)
    else:
        pagination = None if reply.pagination is None else reply.pagination.as_json()
        made = envelope.success(
            call, reply.body, status=reply.status, message=message, pagination=pagination
        )
    made.headers.update(reply.headers)
    if reply.cookies:
        made.headers["Set-Cookie"] = list(reply.cookies)
    return replace(made, status=reply.status)


def _fitting(call: Call, form: Form, made: Answer) -> Answer:
    """The answer, or, when a function cannot send so much, a word on where it lies.

    There it lies as a whole, with its header and pagination. See other (303) has clients ask
    for it by GET whatever they asked before, for dry runs are not GET and have long answers.
    """
    if not _is_too_long(made):
        return made
    has_way = settings.answer_bucket is not None and form.is_enveloped
    if not has_way or isinstance(made.body, bytes):
        raise Invalid(TOO_LONG)
    address = answers.leave(made.body, envelope.JSON_TYPE)
    word = envelope.success(call, None, status=HTTPStatus.SEE_OTHER, message=ELSEWHERE)
    return replace(word, headers={**made.headers, "Location": address})


def _refused(call: Call, form: Form, error: Refusal) -> Answer:
    """The refusal, or, when it has more to say than can be sent, one that says so.

    It never goes through the bucket, which would make a success of it.
    """
    made = form.refusal(call, error)
    return form.refusal(call, Invalid(TOO_MUCH_IN_THE_WAY)) if _is_too_long(made) else made


def _told(call: Call, exchange: _Exchange, error: Refusal) -> Answer:
    """The refusal, as a page where one was asked for; or the way to sign in, if that is missing."""
    made = _refused(call, exchange.route.form, error)
    if exchange.route.is_page and isinstance(error, SecondFactorMissing):
        back = quote(exchange.request.target, safe="/")
        made.headers["Location"] = f"{settings.base_url}{SECOND_FACTOR_PAGE}?redirect={back}"
        return made
    if exchange.route.is_page and isinstance(error, Unauthenticated):
        back = quote(exchange.route.path)
        return _sent(call, exchange.route, led(f"{SIGN_IN_PAGE}?redirect={back}"))
    if exchange.route.refused is None:
        return made
    page = _sent(call, exchange.route, exchange.route.refused(error, exchange.request.cookies))
    return replace(page, status=made.status, headers={**made.headers, **page.headers})


def _is_too_long(made: Answer) -> bool:
    limit = settings.answer_limit
    return bool(limit) and envelope.size_in_transit(made.body) > limit


def _finished(made: Answer, request: Request, is_first_visit: bool) -> Answer:  # noqa: FBT001
    """The answer with what every answer carries."""
    headers = {**envelope.SECURITY_HEADERS, **made.headers}
    cookies = list(headers.pop("Set-Cookie", ()))
    if access.is_cookie_mode(request):
        headers = {**GPGAUTH_HEADERS, **headers}
    if is_first_visit and not any(c.startswith(access.CSRF_COOKIE) for c in cookies):
        cookies.append(access.csrf_cookie(access.new_csrf_token()))
    if cookies:
        headers["Set-Cookie"] = cookies
    return replace(made, headers=headers, body="" if request.method == "HEAD" else made.body)
