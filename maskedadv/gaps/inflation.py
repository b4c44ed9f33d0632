"""How much joint maximum likelihood inflates the gaps of these very answers.

C/(C − 1) for C cells an item is what it does where models and items hardly differ; the more they do, the
more it is (1.47 for two models 2 logits apart and difficulties of sd 2.5, where the formula says 1.33). So
the blocks are estimated once more with the difficulties integrated out, and the gaps compared: both lean on
the same answers, so that noise cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.gaps.bases import Run
from maskedadv.gaps.subset_gaps import from_estimates
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.maximum_likelihood.estimators import estimate_blocks

_LEAST = 0.05
"""Root mean square of the marginal gaps (logit) under which a ratio tells nothing."""


def joint_and_marginal(run: Run, few: Sequence[Fitted]) -> NDArray[np.float64]:
    """Joint and marginal gaps of the blocks `few`, where both are finite, shape (2, N)."""
    blocks = tuple(b.block for b in few)
    design = replace(run.design, blocks=blocks)
    settings = replace(
        run.settings, estimator="marginal", interval="robust", variants="none", guessing="none", link="none",
        headline="auto",
    )  # fmt: skip
    estimates = estimate_blocks(design, settings, run.engine, how=run.how, tell=lambda _: None)
    again = [Fitted(b, e) for b, e in zip(blocks, estimates, strict=True)]
    ours, theirs = (from_estimates(design, "robust", v) for v in (few, again))
    pairs = [(ours[k][s].difference, theirs[k][s].difference) for k in design.locales for s in ours[k]]
    joint, marginal = (np.concatenate(v) for v in zip(*pairs, strict=True))
    known = np.isfinite(joint) & np.isfinite(marginal)
    return np.stack([joint[known], marginal[known]])


def measure_inflation(pairs: Sequence[NDArray[np.float64]]) -> float | None:
    """Slope of joint on marginal gaps through zero, over all blocks; None where it cannot be told."""
    joint, marginal = np.concatenate(pairs, axis=1)
    if not len(marginal) or np.sqrt(np.mean(marginal**2)) < _LEAST:
        return None
    return float(joint @ marginal / (marginal @ marginal))
