"""`rotate`: another key that signs access tokens, or another key of the server."""

from __future__ import annotations

import argparse

from chalicelib.domain.operator.key_sets import Step
from chalicelib.domain.operator.key_steps import AT_ONCE
from chalicelib.domain.operator.server_key_sets import Step as ServerStep
from infra.commands import options as given
from infra.operate import rotating
from infra.operate.registry import Registry
from infra.operate.steps import Failed, carry_out

DETAILS = """\
Says how the keys stand and which step comes next, from when. Changes them with --step, one after
the other, and nobody is signed out:

  rotate TENANT --step next      makes another key and publishes it
  rotate TENANT --step sign      a day later: it signs, in a quarter of an hour
  rotate TENANT --step retire    some 20 minutes after that: the old key is believed no more

A step that comes too early is refused; one that was cut short is given again.

  rotate TENANT --at-once        when somebody may know the key: another one signs, and no other
                                 is believed, from when each function has noticed, within a
                                 quarter of an hour. Until then some requests are refused.

With --server-key it is the server's OpenPGP key, which clients know the server by:

  rotate TENANT --server-key --step next      makes another key; administrators hear of it
  rotate TENANT --server-key --step use       a day later: clients are shown it
  rotate TENANT --server-key --step retire    a week later: seals anew what rests sealed to the
                                              earlier key, which answers no more
  rotate TENANT --server-key --step remove    36 days later, when no backup needs it any more

  rotate TENANT --server-key --at-once        when somebody may know the key
  rotate TENANT --server-key --reseal         seals anew what a restore has brought back
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    parser.add_argument(
        "--server-key", action="store_true", help="the server's OpenPGP key, not what signs tokens"
    )
    what = parser.add_mutually_exclusive_group()
    known = dict.fromkeys(map(str, [*Step, *ServerStep]))
    what.add_argument("--step", choices=list(known), help="the step to take")
    what.add_argument(
        "--at-once",
        dest="step",
        action="store_const",
        const=AT_ONCE,
        help="replace a key that somebody may know",
    )
    what.add_argument(
        "--reseal",
        dest="step",
        action="store_const",
        const=rotating.RESEAL,
        help="with --server-key: seal anew what rests sealed to earlier keys",
    )
    given.of_change(parser)
    given.of_work(parser)


def run(options: argparse.Namespace) -> None:
    keys = rotating.SERVER if options.server_key else rotating.SIGNING
    _require_known(keys, options.step)
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    if options.step is None:
        steps = rotating.look(account, entry, keys)
    else:
        steps = rotating.steps(account, entry, keys, options.step, instead=options.instead)
    again = f"keyhaven infra rotate {options.tenant} …, as before"
    carry_out(steps, again=again, dry_run=options.dry_run)


def _require_known(keys: rotating.Keys, step: str | None) -> None:
    known = [*keys.says, *([rotating.RESEAL] if keys is rotating.SERVER else ())]
    if step is None or step in known:
        return
    if step == rotating.RESEAL:
        raise Failed("--reseal goes with --server-key.")
    which = "the server's key has" if keys is rotating.SERVER else "the keys that sign tokens have"
    raise Failed(f"There is no step '{step}'; {which} {', '.join(map(str, keys.steps))}.")
