"""A command as a list of steps, each of which may be repeated.

A command that was cut short is given again: a step whose work is done sees that and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError


class Failed(Exception):  # noqa: N818  it says what is so
    """Why a command ends here and what to do next, for whoever gave it."""


@dataclass(frozen=True, slots=True)
class Step:
    says: str
    """What it does, as one says it to somebody: `create the stack`."""
    do: Callable[[], str | None]
    """Does it, and returns what there is to be told of it."""


def carry_out(steps: Sequence[Step], *, again: str, dry_run: bool = False) -> None:
    """Carry out steps one after the other, or only say what they are.

    The first that fails ends it; `again` is the command that goes on from there.
    """
    if dry_run:
        _say_only(steps)
        return
    for number, step in enumerate(steps, 1):
        print(f"{number}/{len(steps)} {step.says}", flush=True)
        try:
            told = step.do()
        except NoCredentialsError:
            raise  # no step can be done without
        except (Failed, BotoCoreError, ClientError) as problem:
            raise Failed(_advice(number, step, problem, again)) from problem
        if told:
            print(f"    {told}", flush=True)


def _say_only(steps: Iterable[Step]) -> None:
    print("Nothing is done. Without --dry-run, the steps would be:")
    for number, step in enumerate(steps, 1):
        print(f"{number} {step.says}")


def _advice(number: int, step: Step, problem: Exception, again: str) -> str:
    return (
        f"Step {number} failed ({step.says}): {problem}\n"
        f"The steps before it stand, those after it were not begun. When the cause is mended, go "
        f"on with: {again}"
    )
