"""Run the installed lighteval on a tiny random Llama and tasks made here: `python run_lighteval.py FOLDER`.

Writes details and results under FOLDER/logs (up to 0.10: FOLDER/org). No network is used. Works with 0.10
and 0.13.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import types
from pathlib import Path

from run_lm_eval import make_model

N = 6
TASKS = """
from lighteval.metrics import dynamic_metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

def metric(*names):
    return next(getattr(dynamic_metrics, n) for n in names if hasattr(dynamic_metrics, n))()

METRICS = [
    metric("LogLikelihoodAccMetric", "loglikelihood_acc_metric"),
    metric("NormalizedMultiChoiceProbMetric", "normalized_multi_choice_prob_metric"),
]
FIELDS = LightevalTaskConfig.__dataclass_fields__
EXTRA = dict(metrics=METRICS) if "metrics" in FIELDS else dict(metric=METRICS)
EXTRA |= dict(suite=["community"]) if "suite" in FIELDS else dict()

def prompt(line, task_name=None):
    return Doc(
        task_name=task_name,
        query=line["question"] + "\\nAnswer:",
        choices=[" " + choice for choice in line["options"]],
        gold_index=line["answer"],
        specific=dict(sample_id=line["sample_id"], label=line["label"]),
    )

TASKS_TABLE = [
    LightevalTaskConfig(
        name="toy_" + language, prompt_function=prompt, hf_repo=DATA + "/" + language, hf_subset="default",
        hf_avail_splits=["test"], evaluation_splits=["test"], few_shots_split=None, few_shots_select=None,
        generation_size=1, stop_sequence=[], **EXTRA,
    )
    for language in ("en", "eu")
]
"""


def main(folder):
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        os.environ[name] = "1"
    os.environ["HF_HOME"] = str(Path(folder, "hf").resolve())
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    make_model()
    for language, question in (("en", "Word"), ("eu", "Hitza")):
        rows = [
            {
                "sample_id": f"toy/test/{i}",
                "question": f"{question} {i}?",
                "options": ["tar", "ox", "ebro", "zu"][: 3 + i % 2],
                "answer": i * 7 % 3,
                "label": ["CA", "CS", "-"][i % 3],
            }
            for i in range(N)
        ]
        Path("data", language).mkdir(parents=True, exist_ok=True)
        Path("data", language, "test.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    Path("tasks.py").write_text(f"DATA = {str(Path('data').resolve())!r}\n" + TASKS)

    import huggingface_hub
    import requests

    # lighteval asks the network when it is imported, for tasks that are not used here.
    requests.get = lambda *_, **__: types.SimpleNamespace(status_code=404)
    huggingface_hub.HfApi.list_models = lambda *_, **__: ["judge"]
    import lighteval.__main__ as lighteval

    version = tuple(map(int, importlib.metadata.version("lighteval").split(".")[:2]))
    name = (
        "toy_{}|0"
        if version >= (0, 12)
        else "community|toy_{}|0|0"
        if version < (0, 11)
        else "community|toy_{}|0"
    )
    tasks = ",".join(name.format(language) for language in ("en", "eu"))
    sys.argv = ["lighteval", "accelerate", "model_name=org/tiny,dtype=float32,batch_size=2", tasks]
    sys.argv += ["--custom-tasks", "tasks.py", "--output-dir", "logs", "--save-details"]
    lighteval.app()


if __name__ == "__main__":
    main(sys.argv[1])
