"""What `import maskedadv` gives: every name, at once, typed, without anything heavy."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import maskedadv
from tests.conftest import ROOT

HEAVY = {
    "torch",
    "matplotlib",
    "plotnine",
    "pandas",
    "numpy",
    "scipy",
    "xarray",
    "arviz",
    "stanli",
    "cmdstanpy",
}


def stubs() -> list[str]:
    """Every package whose names are imported when first used."""
    found = []
    for top, inside in (("maskedadv", ""), ("scoring", "maskedadv."), ("reports", "maskedadv.")):
        for folder, _, files in os.walk(ROOT / top):
            if "__init__.pyi" in files:
                found.append(inside + ".".join(Path(folder).relative_to(ROOT).parts))
    return sorted(found)


def python(code: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", stubs())
def test_every_name_of_a_stub_is_there_and_none_hides_a_module(name: str) -> None:
    package = importlib.import_module(name)
    folder = Path(str(package.__file__)).parent
    modules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/*.py")
    }
    for public in package.__all__:
        try:
            found = getattr(package, public)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("maskedadv"):
                raise
            pytest.skip(f"needs {error.name}")
        assert isinstance(found, ModuleType) or public not in modules, f"{name}.{public} is a module, too"
        assert public in dir(package)


@pytest.mark.parametrize("name", stubs())
def test_the_list_of_a_stub_is_what_it_imports(name: str) -> None:
    package = importlib.import_module(name)
    stub = ast.parse(Path(str(package.__file__)).with_suffix(".pyi").read_text("utf-8"))
    (listed,) = (
        node.value
        for node in stub.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    own = {*package.__all__, *({"__version__"} if name == "maskedadv" else ())}
    assert sorted(own) == sorted(ast.literal_eval(listed))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        maskedadv.fitt  # type: ignore[attr-defined]  # noqa: B018


def test_functions_stay_functions_whatever_is_imported() -> None:
    """A module's import sets its name on the package; no function may have that name."""
    code = (
        "import importlib, pathlib, maskedadv\n"
        "root = pathlib.Path(maskedadv.__file__).parent\n"
        "for path in sorted(root.rglob('*.py')):\n"
        "    parts = path.relative_to(root.parent).with_suffix('').parts\n"
        "    if {'scoring', 'reports', '__main__'} & set(parts): continue\n"
        "    importlib.import_module('.'.join(p for p in parts if p != '__init__'))\n"
        "names = ('fit', 'check', 'load', 'read_responses', 'diagnose')\n"
        "print(*(type(getattr(maskedadv, name)).__name__ for name in names))"
    )
    assert set(python(code).split()) == {"function"}


def test_an_import_brings_nothing_heavy() -> None:
    loaded = python("import sys, maskedadv; print(*{m.split('.')[0] for m in sys.modules})")
    assert not HEAVY & set(loaded.split())


def test_help_brings_nothing_heavy() -> None:
    code = (
        "import sys\nfrom maskedadv.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print('loaded', *{m.split('.')[0] for m in sys.modules})"
    )
    loaded = python(code).split("loaded")[-1]
    assert not HEAVY & set(loaded.split())


def test_fitting_brings_neither_torch_nor_figures() -> None:
    code = (
        "import sys, maskedadv\nfrom maskedadv.datasets import global_mmlu_lite\n"
        "maskedadv.fit(global_mmlu_lite(), locale='zh')\n"
        "print(*sys.modules)"
    )
    loaded = set(python(code).split())
    assert not {"torch", "matplotlib", "plotnine", "maskedadv.reports", "maskedadv.scoring"} & loaded


SOLVERS = {
    *("scipy.stats", "scipy.optimize", "scipy.integrate", "scipy.sparse", "scipy.cluster", "joblib"),
    *("stanli", "cmdstanpy", "plotnine", "matplotlib", "jinja2", "statsmodels", "torch"),
    *("maskedadv.maximum_likelihood.estimators", "maskedadv.sampling.sample", "maskedadv.gaps.bases"),
    *("maskedadv.responses.read", "maskedadv.design.prepare"),
}
"""What reading a result and printing its gaps takes nothing of; importing them takes longer than the rest."""


def test_gaps_of_a_result_bring_nothing_that_fits(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom maskedadv.cli.main import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit as end: assert not end.code, end.code\n"
        "print('loaded', *sys.modules)"
    )
    out = tmp_path / "out"
    table = Path(maskedadv.__file__).parent / "data" / "global_mmlu_lite_outcomes.parquet"
    loaded = []
    for arguments in (("fit", str(table), "-o", str(out), "--locale", "zh"), ("gaps", str(out))):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        loaded.append(set(done.stdout.split("loaded ")[-1].split()))
    assert not {"scipy.stats", "scipy.integrate", "statsmodels", "plotnine", "torch"} & loaded[0]
    assert not SOLVERS & loaded[1]


SCRIPT = """\
import maskedadv
from maskedadv.reports import figures

fit = maskedadv.fit("answers.csv", estimator="marginal", priors=maskedadv.Priors(gap=1.0))
fit.means(gaps="knowledge_gap")                         # wrong: a misspelt argument
maskedadv.fit("answers.csv", estimatr="joint")          # wrong: a misspelt argument
maskedadv.fit("answers.csv", chains="four")             # wrong: text for a number
maskedadv.fitt("answers.csv")                           # wrong: no such function
maskedadv.load("results").draws(3)                      # wrong: a name is text
maskedadv.summaries.locale_mean(fit)                    # wrong: no such summary
figures.forest(maskedadv.summaries.locale_means(fit), famlies=["Arial"])  # wrong: a misspelt argument
settings: maskedadv.Settings = fit.settings
verdicts: list[str] = [v.verdict for v in maskedadv.diagnose(fit)]
table = maskedadv.check("answers.csv").blocks
rows: int = maskedadv.read_responses(table).nothing     # wrong: no such attribute
try:
    maskedadv.datasets.bertaqa()
except maskedadv.errors.InputError as error:
    code: int = error.exit_code
maskedadv.scoring.reading.read.read_answer("A", "four", "en")  # wrong: text for a number
"""


def test_a_type_checker_finds_what_is_wrong_in_a_users_script(tmp_path: Path) -> None:
    """Our own types only: those of NumPy and pandas would take minutes to read."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    assert (Path(maskedadv.__file__).parent / "py.typed").is_file(), "without it a checker looks at nothing"
    options = ("--no-site-packages", "--ignore-missing-imports", "--config-file=", "--follow-imports=silent")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(tmp_path / "cache"), "script.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(maskedadv.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    wrong = {n for n, line in enumerate(SCRIPT.splitlines(), 1) if "# wrong" in line}
    assert found == wrong, done.stdout + done.stderr
