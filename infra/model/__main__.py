"""`python -m infra.model`: check the model, and then without each condition in turn."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from shutil import which

from infra.model import metadata, tlc, trees
from infra.model.conditions import CONDITIONS, Condition
from infra.model.configurations import BY_NAME, CONFIGURATIONS, Configuration

_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Run:
    configuration: Configuration | trees.Trees | metadata.Metadata
    condition: Condition | None = None
    """The one that is dropped."""

    @property
    def expected(self) -> str | None:
        return None if self.condition is None else self.condition.violates

    @property
    def name(self) -> str:
        if self.condition is None:
            return f"all conditions, {self.configuration.name}"
        return f"without “{self.condition.name}”, {self.configuration.name}"


def runs() -> Iterator[Run]:
    """The whole model first, then without each condition."""
    for configuration in CONFIGURATIONS:
        yield Run(configuration)
    for condition in CONDITIONS:
        yield Run(BY_NAME[condition.found_in], condition)
    for tree in trees.CONFIGURATIONS:
        yield Run(tree)
    for condition in trees.CONDITIONS:
        yield Run(trees.BY_NAME[condition.found_in], condition)
    for keys in metadata.CONFIGURATIONS:
        yield Run(keys)
    for condition in metadata.CONDITIONS:
        yield Run(metadata.BY_NAME[condition.found_in], condition)


def main() -> int:
    if which("java") is None:
        print("model: left out, there is no Java on this machine")
        return 0
    planned = list(runs())
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        kept = list(pool.map(_is_as_expected, planned))
    conditions = len(CONDITIONS) + len(trees.CONDITIONS) + len(metadata.CONDITIONS)
    print(
        f"model: {sum(kept)} of {len(planned)} runs as expected; "
        f"each of {conditions} conditions was dropped"
    )
    return 0 if all(kept) else 1


def _is_as_expected(run: Run) -> bool:
    dropped = [] if run.condition is None else [run.condition.name]
    result = tlc.check(run.configuration, dropped)
    is_expected = result.violated == run.expected
    told = "holds" if result.violated is None else f"{result.violated} does not hold"
    print(f"{run.name}: {told}; {result.states:,} states", flush=True)
    if not is_expected:
        print(
            f"  expected: {run.expected or 'holds'}; steps: {', '.join(result.steps)}", flush=True
        )
    return is_expected


if __name__ == "__main__":
    sys.exit(main())
