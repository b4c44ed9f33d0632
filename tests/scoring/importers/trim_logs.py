"""Cut logs made by run_*.py down to what the importers read: `python trim_logs.py MADE KEPT`.

MADE holds folders named <program>_<version>. Samples stay as they were written, except that Inspect's lose
their transcripts; results files lose what describes the machine. `|` in file names becomes `@`.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from backports.zstd import zipfile

RESULTS = {
    *("results", "n-samples", "n-shot", "config", "model_name", "lm_eval_version", "date", "config_general"),
    *("chat_template_sha", "system_instruction_sha"),
}
CONFIG = {"task", "output_type", "doc_to_choice", "doc_to_target", "metric_list", "filter_list"}
TRANSCRIPT = {"events", "messages", "attachments", "events_data", "store"}


def trim_results(data):
    configs = {t: {k: v for k, v in c.items() if k in CONFIG} for t, c in data.get("configs", {}).items()}
    kept = {k: v for k, v in data.items() if k in RESULTS}
    return kept | ({"configs": configs} if configs else {})


def trim_sample(data):
    return {k: v for k, v in data.items() if k not in TRANSCRIPT}


def trim_archive(source, target):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename.startswith("samples/"):
                data = json.dumps(trim_sample(json.loads(data))).encode()
            new.writestr(info.filename, data, compress_type=info.compress_type)


def main(made, kept):
    for source in sorted(p for p in Path(made).rglob("*") if p.is_file()):
        path = source.relative_to(made)
        program = path.parts[0].rsplit("_", 1)[0]
        inside = "logs" in path.parts or program == "inspect"
        if not inside or source.suffix not in {".jsonl", ".json", ".parquet", ".eval"}:
            continue
        target = Path(kept, *(part.replace("|", "@") for part in path.parts if part != "logs"))
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".eval":
            trim_archive(source, target)
        elif source.suffix == ".json":
            data = json.loads(source.read_text(encoding="utf-8"))
            if program == "inspect":
                data["samples"] = [trim_sample(sample) for sample in data["samples"]]
            else:
                data = trim_results(data)
            target.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        else:
            shutil.copy(source, target)


if __name__ == "__main__":
    main(*sys.argv[1:3])
