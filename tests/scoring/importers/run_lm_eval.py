"""Run the installed lm-evaluation-harness on tiny models and tasks made here: `python run_lm_eval.py FOLDER`.

Writes logs under FOLDER/logs: of a random Llama (option log-probabilities), and of a model whose written
answers are fixed. No network is used. Works with 0.4.2 to 0.4.13.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from pathlib import Path

N = 6
MULTIPLE = "output_type: multiple_choice\nmetric_list:\n  - metric: acc\n"


def task(name, rows, yaml):
    Path("tasks").mkdir(exist_ok=True)
    data = Path("tasks", f"{name}.jsonl").resolve()
    data.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    source = f"dataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {data}\ntest_split: test\n"
    Path("tasks", f"{name}.yaml").write_text(f"task: {name}\n{source}{yaml}", encoding="utf-8")


def make_tasks():
    lettered = (
        '"{{question}}\\nA. {{option_a}}\\nB. {{option_b}}\\nC. {{option_c}}\\nD. {{option_d}}\\nAnswer:"'
    )
    for language, question in (("en", "Word"), ("eu", "Hitza")):
        rows = [
            {
                "sample_id": f"toy/test/{i}",
                "question": f"{question} {i}?",
                **{f"option_{x}": f"{x}{i}" for x in "abcd"},
                "answer": "ABCD"[i * 7 % 4],
                "cultural_sensitivity_label": ["CA", "CS", "-"][i % 3],
            }
            for i in range(N)
        ]
        text = f'doc_to_text: {lettered}\ndoc_to_choice: ["A", "B", "C", "D"]\ndoc_to_target: answer\n'
        task(f"global_mmlu_{language}_toy", rows, text + MULTIPLE)
    filters = "".join(
        f"  - name: {name}\n    filter:\n{regex}      - function: take_first\n"
        for name, regex in (
            ("none", ""),
            ("letter", '      - function: regex\n        regex_pattern: "is ([A-D])"\n'),
        )
    )
    generate = (
        f"output_type: generate_until\ndoc_to_text: {lettered}\ndoc_to_target: answer\n"
        'generation_kwargs:\n  max_gen_toks: 12\n  until: ["\\n"]\n'
        f"metric_list:\n  - metric: exact_match\nfilter_list:\n{filters}"
    )
    task("toy_gen", rows, generate)
    # Options that are digits, with the key as a position from 0; two to five options; mutual information.
    choices = 'doc_to_text: "{{q}}"\ndoc_to_choice: "{{choices}}"\n'
    digits = [
        {"id": f"d{i}", "q": f"{i} =", "choices": ["3", "1", "0", "2"], "gold": i % 4} for i in range(N)
    ]
    task("toy_digits", digits, choices + 'doc_to_target: "{{gold}}"\n' + MULTIPLE)
    words = ["tar", "ox", "ebro river", "zu", "k"]
    varied = [{"id": f"v{i}", "q": f"Pick {i}:", "choices": words[: 2 + i % 4], "gold": 1} for i in range(N)]
    task("toy_variable", varied, choices + "doc_to_target: gold\n" + MULTIPLE)
    task("toy_mutual", varied, choices + "doc_to_target: gold\n" + MULTIPLE + "  - metric: acc_mutual_info\n")


def make_model():
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "<s>", "</s>"]
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(vocabulary)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    ).save_pretrained("org/tiny")
    torch.manual_seed(1)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=1024,
            initializer_range=0.3,
        )
    ).save_pretrained("org/tiny")


def register_canned():
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model

    @register_model("canned")
    class Canned(LM):
        def __init__(self, **_):
            super().__init__()

        def loglikelihood(self, requests):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

        def generate_until(self, requests):
            answers = ["The answer is A.", "Surely it is D, so the answer is D", "No idea"]
            return [answers[i % 3] for i in range(len(requests))]


def evaluate(model, arguments, tasks):
    from lm_eval.__main__ import cli_evaluate

    sys.argv = ["lm_eval", "--model", model, "--model_args", arguments, "--tasks", tasks]
    sys.argv += [
        "--include_path",
        "tasks",
        "--output_path",
        f"logs/{model}",
        "--log_samples",
        "--device",
        "cpu",
    ]
    cli_evaluate()


def main(folder):
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"):
        os.environ[name] = "1"
    os.environ["HF_HOME"] = str(Path(folder, "hf").resolve())
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    if importlib.metadata.version("lm_eval") == "0.4.2":  # it loads a metric from the hub when imported
        import types

        import evaluate as hf_evaluate

        hf_evaluate.load = lambda _: types.SimpleNamespace(
            compute=lambda predictions, references, **_: {
                "exact_match": sum(p == r for p, r in zip(predictions, references, strict=True))
                / len(references)
            }
        )
    make_tasks()
    make_model()
    names = "global_mmlu_en_toy,global_mmlu_eu_toy,toy_digits,toy_variable,toy_mutual"
    evaluate("hf", "pretrained=org/tiny,dtype=float32", names)
    register_canned()  # only now: registering a model first keeps the harness from registering its own
    evaluate("canned", "pretrained=org/canned", "toy_gen")


if __name__ == "__main__":
    main(sys.argv[1])
