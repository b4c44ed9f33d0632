"""A process that samples one locale: reads a task, prints progress, writes the posterior file.

`python -m maskedadv.sampling.worker TASK FILE`. Processes rather than threads, so that Ctrl-C stops
compiled code at once, and plain ones rather than a pool's, so that a caller's script needs no main guard.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from pathlib import Path

from maskedadv.errors import MaskedadvError
from maskedadv.result.unfinished import keep_tree
from maskedadv.sampling.sample import sample_locale


def end_with_parent() -> None:
    """Stop this process soon after the one that started it is gone, however that happened."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(task_file: str, out: str) -> int:
    """Sample the pickled task; errors of ours go to standard error as one line."""
    task = pickle.loads(Path(task_file).read_bytes())  # noqa: S301 (of the process that started this one)
    stream = sys.stdout
    try:
        tree = sample_locale(task, lambda line: print(line, file=stream, flush=True))
        keep_tree(tree, Path(out))
    except MaskedadvError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    end_with_parent()
    sys.exit(main(*sys.argv[1:]))
