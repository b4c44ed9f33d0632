"""Run the installed Inspect with its mock model on tasks made here: `python run_inspect.py FOLDER`.

Writes logs under FOLDER, a folder a case. No network is used. Works with 0.3.120 (deflate) and
0.3.285 (zstd).
"""

from __future__ import annotations

import os
import sys
import types
from itertools import count
from pathlib import Path

N = 6


def main(folder):
    folder = Path(folder).resolve()
    os.environ["INSPECT_LOG_DIR"] = str(folder)
    try:
        import tiktoken

        # The real one downloads its vocabulary.
        tiktoken.get_encoding = lambda _: types.SimpleNamespace(encode=lambda text, **_: list(text.encode()))
    except ImportError:
        pass
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, PARTIAL, Score, accuracy, choice, scorer
    from inspect_ai.solver import generate, multiple_choice

    def samples(language):
        question = {"en": "Word", "eu": "Hitza"}[language]
        return MemoryDataset(
            [
                Sample(
                    id=f"toy/test/{i}",
                    input=f"{question} {i}?",
                    choices=["tar", "ox", "ebro", "zu"],
                    target="ABCD"[i * 7 % 4],
                    metadata={"subset": ["CA", "CS", "-"][i % 3], "language": language},
                )
                for i in range(N)
            ]
        )

    def toy(language, **settings):
        return Task(
            name=f"toy_{language}",
            dataset=samples(language),
            solver=multiple_choice(),
            scorer=choice(),
            **settings,
        )

    @scorer(metrics=[accuracy()])
    def four():
        async def score(state, target):  # noqa: ARG001
            number = int(state.sample_id.split("/")[-1])
            return Score(value=[CORRECT, INCORRECT, PARTIAL, NOANSWER][number % 4], answer="x")

        return score

    def model(letters):
        outputs = (
            ModelOutput.from_content("mockllm/m", f"ANSWER: {letters[k % len(letters)]}") for k in count()
        )
        return get_model("mockllm/m", custom_outputs=outputs)

    def run(case, task, letters, **settings):
        eval(
            task, model=model(letters), log_dir=str(folder / case), display="none", max_samples=1, **settings
        )

    for case in ("eval", "json"):
        run(case, toy("en"), "ACD", log_format=case)
        run(case, toy("eu"), "BD", log_format=case)
    run("epochs", toy("en", epochs=3), "ABDCA")  # five letters, six questions: epochs differ
    values = Task(name="toy_values", dataset=samples("en"), solver=generate(), scorer=[four()])
    run("values", values, "A")
    run("limited", toy("en"), "A", limit=3)


if __name__ == "__main__":
    main(sys.argv[1])
