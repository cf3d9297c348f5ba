"""The page where administrators say how the directory is asked, try it out and run it.

The browser extension sends them here, and draws nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus

from chalicelib.bodies.directory.directory import PageBody, RunBody, settings_sent
from chalicelib.bodies.draft import Draft
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Invalid, Refusal
from chalicelib.services.directory import directory_settings, synchronisation
from chalicelib.services.directory.directory_settings import Form
from chalicelib.tables.users import people
from chalicelib.views import pages
from chalicelib.views.directory import directory_page as views
from chalicelib.views.directory import directory_settings as settings_views
from chalicelib.views.directory.directory_page import Shown
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply, led, page

endpoints = Endpoints(__name__)

PAGE = "/app/administration/users-directory"
_NOT_FOR_USERS = "Only administrators decide about the directory."
_NO_FORM = "The form does not say what is to be done."


def _not_shown(error: Refusal, _: Mapping[str, str]) -> Reply:
    return page(pages.not_shown(error, PAGE))


def _refused(error: Refusal, _: Mapping[str, str]) -> Reply:
    return page(pages.refused(error.message, PAGE))


@endpoints.page(
    PAGE,
    action="DirectorySettings.view",
    access=Access.ADMIN,
    denied=_NOT_FOR_USERS,
    query=Options(flags=frozenset({"saved", "disabled"})),
    refused=_not_shown,
)
def show_form(actor: Actor, query: Query, cookies: Mapping[str, str]) -> Reply:
    """The settings of the directory, but for its passwords, and what can be done with them."""
    told = "Saved." if "saved" in query.flags else ""
    told = "Switched off." if "disabled" in query.flags else told
    return _shown(actor, cookies, views.said(told))


@endpoints.page(
    PAGE,
    ("POST",),
    action="DirectorySettings.update",
    access=Access.ADMIN,
    denied=_NOT_FOR_USERS,
    body=PageBody,
    refused=_refused,
)
def send_form(actor: Actor, body: Draft[PageBody], cookies: Mapping[str, str]) -> Reply:
    """Do what the button says, and show what comes of it."""
    action, do = _DOINGS[body.read(_NO_FORM).do]
    return do(replace(actor, caller=replace(actor.caller, action=action)), body, cookies)


def _save(actor: Actor, body: Draft[PageBody], cookies: Mapping[str, str]) -> Reply:
    sent = settings_sent(body)
    try:
        directory_settings.save(actor, sent)
    except Invalid as error:
        return _told_again(actor, cookies, sent.members, error)
    return led(f"{PAGE}?saved=1")


def _test(actor: Actor, body: Draft[PageBody], cookies: Mapping[str, str]) -> Reply:
    sent = settings_sent(body)
    try:
        directory = directory_settings.try_out(sent)
    except Invalid as error:
        return _told_again(actor, cookies, sent.members, error)
    return _shown(actor, cookies, views.tested(directory), sent.members)


def _disable(actor: Actor, _: Draft[PageBody], __: Mapping[str, str]) -> Reply:
    directory_settings.delete(actor)
    return led(f"{PAGE}?disabled=1")


def _rehearse(actor: Actor, _: Draft[PageBody], cookies: Mapping[str, str]) -> Reply:
    return _shown(actor, cookies, views.would_do(synchronisation.dry_run(actor)))


def _run(actor: Actor, body: Draft[PageBody], cookies: Mapping[str, str]) -> Reply:
    """Run, and ask for the words where the guard wants them."""
    try:
        outcome = synchronisation.run(actor, Draft(RunBody, body.payload))
    except Invalid as error:
        words = views.words_asked(error.errors)
        if words is None:
            raise
        refused = _shown(actor, cookies, views.refused(error.message, ()), words=words)
        return replace(refused, status=HTTPStatus.BAD_REQUEST)
    return _shown(actor, cookies, views.done(outcome))


_Do = Callable[[Actor, Draft[PageBody], Mapping[str, str]], Reply]
_DOINGS: Mapping[str, tuple[str, _Do]] = {
    "save": ("DirectorySettings.update", _save),
    "test": ("DirectorySettings.test", _test),
    "disable": ("DirectorySettings.disable", _disable),
    "dry-run": ("DirectorySync.dryRun", _rehearse),
    "run": ("DirectorySync.synchronize", _run),
}
"""What each button does, and what the log calls it."""


def _told_again(
    actor: Actor, cookies: Mapping[str, str], sent: Mapping[str, object], error: Invalid
) -> Reply:
    """The form as it was sent, with all that is wrong."""
    told = views.refused(error.message, views.messages(error.errors))
    return replace(_shown(actor, cookies, told, sent), status=HTTPStatus.BAD_REQUEST)


def _shown(
    actor: Actor,
    cookies: Mapping[str, str],
    told: str,
    sent: Mapping[str, object] | None = None,
    words: str | None = None,
) -> Reply:
    token, brought = access.form_token(cookies)
    stored = directory_settings.view()
    saved: Form = settings_views.saved(stored)
    form = saved if sent is None else sent
    named = [actor.id, *views.named(saved), *views.named(form)]
    shown = Shown(
        token=token,
        told=told,
        form=form,
        stored=stored,
        people=people.by_id(named),
        asker=actor.id,
        words=words,
    )
    return page(views.page(shown), cookies=brought)
