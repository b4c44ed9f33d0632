"""Known holes in what the core installs: `python -m tests.audit`, a step of `make check`.

pip-audit asks the package index for them. A hole that it knows ends with exit code 1, as does anything that
it does not understand. Where the service cannot be asked (no network, an index without it) that is said, and
is no failure: nothing was found, and nothing was looked at.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

UNREACHABLE = re.compile(
    r"ConnectionError|ServiceError|Max retries|Could not connect|NameResolution|timed out|Not Found for url"
    r"|JSONDecodeError|HTTPError|SSLError|ProxyError",
    re.IGNORECASE,
)


def main() -> int:
    if importlib.util.find_spec("pip_audit") is None:
        print("audit: NOT DONE, pip-audit is not installed; pip install pip-audit.")
        return 0
    pinned = installed("maskedadv")
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "core.txt")
        listed.write_text(
            "".join(f"{name}=={version}\n" for name, version in sorted(pinned.items())), "utf-8"
        )
        line = [sys.executable, "-m", "pip_audit", "--requirement", str(listed), "--no-deps", "--disable-pip"]
        line += ["--format", "json", "--progress-spinner", "off", "--timeout", "20"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    code, told = verdict(done.returncode, done.stdout, done.stderr)
    print(told)
    return code


def installed(name: str) -> dict[str, str]:
    """Name and version of all that a package needs without extras, as installed here; not itself."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        try:
            package = distribution(waiting.pop())
        except PackageNotFoundError:
            continue  # for another system
        for line in package.requires or []:
            needed = re.match(r"[\w.-]+", line)
            if needed is None or "extra ==" in line.replace("'", '"') or needed[0] in found:
                continue
            try:
                found[needed[0]] = distribution(needed[0]).version
            except PackageNotFoundError:
                continue
            waiting.append(needed[0])
    return found


def verdict(code: int, answer: str, errors: str) -> tuple[int, str]:
    """Exit code and sentence for what pip-audit ended with.

    It ends with 1 both for a hole and for a service that it cannot reach; only with a hole, or none, is its
    answer JSON.
    """
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = errors.strip().splitlines()[-1] if errors.strip() else f"exit code {code}"
        if UNREACHABLE.search(errors):
            return 0, f"audit: NOT DONE, the index's service cannot be asked ({last})"
        return 1, f"audit: pip-audit failed ({last})"
    holes = [f"  {p['name']} {p['version']}: {v['id']}" for p in packages for v in p.get("vulns", [])]
    skipped = [p["name"] for p in packages if "skip_reason" in p]
    note = f", {len(skipped)} not looked up ({', '.join(skipped[:5])})" if skipped else ""
    if holes:
        return 1, "\n".join([f"audit: {len(holes)} known holes{note}:", *holes])
    if code:
        return 1, f"audit: pip-audit ended with exit code {code}"
    if len(skipped) == len(packages):
        return 0, "audit: NOT DONE, the index's service knows none of the packages"
    return 0, f"audit: no known holes in {len(packages) - len(skipped)} packages{note}"


if __name__ == "__main__":
    sys.exit(main())
