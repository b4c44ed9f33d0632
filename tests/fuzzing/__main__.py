"""Fuzz with Atheris for a bounded time: `python -m tests.fuzzing [--seconds 60] [--out DIR] [TARGET ...]`.

Atheris changes inputs by what lines of ours they reach. Each target runs in a process of its own; findings
are told once a kind, with the input that shows it kept. Exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

_HANGS, _MEMORY = 30, 3000  # seconds; MB


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60, help="of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        _fuzz(given.targets[0], given.seconds, given.seed, given.out)
        return 0
    from tests.fuzzing.targets import TARGETS

    found = 0
    for name in given.targets or TARGETS:
        if name not in TARGETS:
            parser.error(f"no target {name!r}; there are: {', '.join(TARGETS)}")
        found += _fuzz_apart(name, given.seconds, given.seed, given.out / name)
    return 1 if found else 0


def _fuzz_apart(name: str, seconds: int, seed: int, out: Path) -> int:
    """Fuzz in a process of its own, which may crash; how many kinds of findings there are."""
    out.mkdir(parents=True, exist_ok=True)
    report = out / "report.json"
    report.unlink(missing_ok=True)
    line = [sys.executable, "-m", "tests.fuzzing", "--one", f"--seconds={seconds}", f"--seed={seed}"]
    with (out / "console").open("wb") as console:
        code = subprocess.run(
            [*line, f"--out={out}", name], stdout=console, stderr=subprocess.STDOUT, check=False
        ).returncode
    told = json.loads(report.read_text("utf-8")) if report.exists() else {"executions": 0, "findings": {}}
    print(f"{name}: {told['executions']:,} executions, {len(told['findings'])} findings", flush=True)
    for where, (count, error, file) in told["findings"].items():
        print(f"  {count} x {error}\n    {where}\n    {file}", flush=True)
    if code:
        print(
            f"  ended with exit code {code}: a crash, a hang or too much memory; see {out}/console",
            flush=True,
        )
    return len(told["findings"]) + bool(code)


def _fuzz(name: str, seconds: int, seed: int, out: Path) -> None:
    import atheris

    with atheris.instrument_imports(include=["maskedadv"]):
        import maskedadv
        from tests.fuzzing.mutate import mutate
        from tests.fuzzing.targets import TARGETS

        target = TARGETS[name]
        for example in target.seeds():
            target.run(example)  # everything is imported, and so instrumented, before the work
    assert maskedadv
    corpus = out / "corpus"
    corpus.mkdir(exist_ok=True)
    for k, example in enumerate(target.seeds()):
        (corpus / f"seed{k}").write_bytes(example)

    def mutator(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        if rng.random() < 0.3:
            return bytes(atheris.Mutate(data, most))
        return mutate(data, target.kind, rng)[:most]

    options = [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-timeout={_HANGS}",
        f"-rss_limit_mb={_MEMORY}",
    ]
    options += ["-max_len=30000", f"-artifact_prefix={out}/", "-verbosity=0"]
    atheris.Setup(
        [sys.argv[0], *options, str(corpus)], _watched(target.run, out, seconds), custom_mutator=mutator
    )
    atheris.Fuzz()


def _watched(run: Callable[[bytes], None], out: Path, seconds: int) -> Callable[[bytes], None]:
    """The target, whose exceptions are counted by where they come from; none ends the search."""
    findings: dict[str, tuple[int, str, str]] = {}
    executions, written, end = 0, 0.0, time.monotonic() + seconds

    def one(data: bytes) -> None:
        nonlocal executions, written
        executions += 1
        try:
            run(data)
        except Exception as error:
            where = _place_of(error)
            count, told, file = findings.get(where, (0, f"{type(error).__name__}: {error}"[:300], ""))
            if not count:
                kept = out / f"finding{len(findings)}"
                kept.write_bytes(data)
                kept.with_suffix(".txt").write_text(
                    "".join(traceback.format_exception(error)), "utf-8", "replace"
                )
                file = str(kept)
            findings[where] = (count + 1, told, file)
        if time.monotonic() - written > 1 or time.monotonic() > end - 1:
            written = time.monotonic()
            content = json.dumps({"executions": executions, "findings": findings})
            (out / "report.json").write_text(content, "utf-8")

    return one


def _place_of(error: BaseException) -> str:
    """Where an exception passed through us last: one finding, however many inputs reach it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/tests/fuzzing/" not in f.filename and "/site-packages/" not in f.filename]
    ours = [f for f in ours if any(part in f.filename for part in ("maskedadv", "scoring"))] or list(frames)
    return f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno} in {ours[-1].name}"


if __name__ == "__main__":
    sys.exit(main())
