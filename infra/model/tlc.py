"""TLC, the checker: one run of the model in a process of its own, in a folder of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from typing import Protocol

JARS = Path(__file__).parents[2] / ".model"
"""Where `make model` has put TLC."""
_PASSED = 0
_VIOLATED = {12, 13}
"""The exit codes for an invariant and for a temporal property."""


class Runnable(Protocol):
    """What a run of TLC is made from."""

    @property
    def specification(self) -> Path: ...

    def text(self, dropped: Collection[str] = ()) -> str: ...


class Failed(Exception):  # noqa: N818 - says what is so
    """TLC itself has failed: the specification has an error, or Java has."""


@dataclass(frozen=True, slots=True)
class Result:
    violated: str | None
    """The property that does not hold, if there is one."""
    states: int
    """How many different ones were found, up to the violation."""
    steps: tuple[str, ...]
    """The names of the actions that lead to the violation."""


def check(configuration: Runnable, dropped: Collection[str] = ()) -> Result:
    """Run the model; without the conditions that are dropped."""
    with TemporaryDirectory() as folder:
        text = configuration.text(dropped)
        code, output = _run(Path(folder), configuration, text, is_brief=bool(dropped))
    if code not in {_PASSED, *_VIOLATED}:
        raise Failed(output)
    return Result(_violated(output, code, text), _states(output), _steps(output))


def dump(configuration: Runnable, to: Path) -> None:
    """Write every state and every step of a run into a file, in the language of Graphviz."""
    with TemporaryDirectory() as folder:
        arguments = ["-dump", "dot,actionlabels", str(to)]
        code, output = _run(Path(folder), configuration, configuration.text(), arguments)
    if code != _PASSED:
        raise Failed(output)


def _run(
    folder: Path,
    configuration: Runnable,
    text: str,
    arguments: Sequence[str] = (),
    *,
    is_brief: bool = False,
) -> tuple[int, str]:
    copy(configuration.specification, folder)
    (folder / "run.cfg").write_text(text)
    java = ["java", "-XX:+UseParallelGC", "-XX:ParallelGCThreads=1", "-Xmx1g", "-cp", f"{JARS}/*"]
    if is_brief:  # over before code that was compiled further has paid for itself
        java.insert(1, "-XX:TieredStopAtLevel=1")
    # TLC unpacks its own modules there under their names, where another run would find half of one.
    temporary = f"-Djava.io.tmpdir={folder}"
    # What has nothing left to do is no deadlock here, whatever the option is called.
    options = ["-deadlock", "-workers", "1", "-config", "run.cfg", "-metadir", str(folder / "tlc")]
    run = subprocess.run(  # noqa: S603 - all words are ours
        [*java, temporary, "tlc2.TLC", *options, *arguments, configuration.specification.name],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout


def _violated(output: str, code: int, text: str) -> str | None:
    if code == _PASSED:
        return None
    invariant = re.search(r"Invariant (\w+) is violated", output)
    violated = invariant or re.search(r"^PROPERTY (\w+)", text, re.MULTILINE)
    return violated and violated[1]


def _states(output: str) -> int:
    found: list[str] = re.findall(r"([\d,]+) distinct states found", output)
    return int(found[-1].replace(",", "")) if found else 0


def _steps(output: str) -> tuple[str, ...]:
    return tuple(re.findall(r"^State \d+: <(\w+)", output, re.MULTILINE))
