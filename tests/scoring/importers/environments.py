"""Run the round trips with the real programs: `python tests/scoring/importers/environments.py [FOLDER]`.

Makes an environment for each program under FOLDER (default: .venv-importers), since they do not go together
in one, installs the versions below, and runs test_round_trip.py with them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

PROGRAMS = {
    "LM_EVAL_PYTHON": ["torch==2.13.0", "lm-eval[hf]==0.4.13"],
    "LIGHTEVAL_PYTHON": ["torch==2.13.0", "lighteval==0.13.0", "xxhash<3.6"],  # newer ones refuse text
    "INSPECT_PYTHON": ["inspect-ai==0.3.285"],
}


def main(folder: Path) -> int:
    environment = dict(os.environ)
    for name, packages in PROGRAMS.items():
        place = folder / name.removesuffix("_PYTHON").lower()
        python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if not python.exists():
            venv.create(place, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        environment[name] = str(python.absolute())
    test = Path(__file__).with_name("test_round_trip.py")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", str(test)], env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv-importers")))
