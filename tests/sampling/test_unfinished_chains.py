"""Chains that were stopped: the unfinished one is named, with its number of draws, not the sound one."""

from __future__ import annotations

import pytest

from maskedadv.errors import NotAResult
from maskedadv.sampling.unfinished_chains import refuse_unfinished


def chain(path, draws, *, asked=20, thin=1, save=0, cut=""):
    head = f"# num_samples = {asked}\n# num_warmup = 10 (Default)\n# save_warmup = {save}\n# thin = {thin}\n"
    rows = "".join(f"-{n},0.5\n" for n in range(draws))
    path.write_text(f"{head}lp__,x\n# Adaptation terminated\n{rows}{cut}")
    return path


def test_the_unfinished_chain_is_named_with_its_draws(tmp_path):
    files = [
        chain(tmp_path / "a.csv", 20),
        chain(tmp_path / "b.csv", 7, cut="-0.1,0"),
        chain(tmp_path / "c.csv", 20),
    ]
    with pytest.raises(NotAResult) as told:
        refuse_unfinished(files)
    assert "b.csv holds 7 of 20 draws" in str(told.value)
    assert "a.csv" not in str(told.value)


def test_whole_chains_thinned_or_with_their_warmup_pass(tmp_path):
    refuse_unfinished([chain(tmp_path / "a.csv", 20), chain(tmp_path / "b.csv", 20)])
    refuse_unfinished([chain(tmp_path / "a.csv", 7, thin=3)])
    refuse_unfinished([chain(tmp_path / "a.csv", 30, save="true")])
    with pytest.raises(NotAResult, match="20 of 30"):
        refuse_unfinished([chain(tmp_path / "a.csv", 20, save=1)])


def test_real_chains_of_cmdstan_pass(shared):
    files = sorted((shared / "cmdstan_output" / "complete").rglob("sample_*.csv"))
    assert files
    for file in files:
        refuse_unfinished([file])
