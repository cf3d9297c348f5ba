"""`rotate`: another key that signs access tokens."""

from __future__ import annotations

import argparse

from chalicelib.domain.key_sets import Step
from infra.commands import options as given
from infra.operate import rotating
from infra.operate.registry import Registry
from infra.operate.steps import carry_out

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
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--step", choices=[str(each) for each in Step], help="the step to take")
    what.add_argument(
        "--at-once",
        dest="step",
        action="store_const",
        const=rotating.AT_ONCE,
        help="replace a key that somebody may know",
    )
    given.of_change(parser)
    given.of_work(parser)


def run(options: argparse.Namespace) -> None:
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    if options.step is None:
        steps = rotating.look(account, entry)
    else:
        steps = rotating.steps(account, entry, options.step, instead=options.instead)
    again = f"python -m infra rotate {options.tenant} …, as before"
    carry_out(steps, again=again, dry_run=options.dry_run)
