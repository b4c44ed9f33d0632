"""One Hugging Face model asked all its pieces, over all languages and sets at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import transformers

from maskedadv.scoring.launch.plan import Piece
from maskedadv.scoring.launch.progress import Progress
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.models.batch import Budget
from maskedadv.scoring.models.encode import encode
from maskedadv.scoring.models.identity import identify as known_by
from maskedadv.scoring.models.loading import load_codec, load_config, load_model
from maskedadv.scoring.models.memory import auto_budget
from maskedadv.scoring.models.options import Scores, score
from maskedadv.scoring.models.settings import HfSettings
from maskedadv.scoring.models.size import parameters, size_of

__all__ = ["answer", "identify", "parameters", "size_of"]

_POOL = 8192  # questions that are sorted by length together; the next ones are tokenised meanwhile

Place = tuple[int, int]  # a piece's position among the wanted ones, a question's in the piece
Keep = Callable[[int, Sequence[tuple[int, Answer]]], None]


def identify(settings: HfSettings) -> dict[str, Any]:
    """The model's part of the fingerprint.

    Raises
    ------
    UnusableModel, BadSetting
    """
    _quiet()
    return known_by(settings)


def answer(
    name: str,
    settings: HfSettings,
    identity: Mapping[str, Any],
    wanted: Sequence[tuple[Piece, Sequence[int]]],
    keep: Keep,
    report: Callable[[str], None],
) -> None:
    """Load a model once and ask it everything that is wanted.

    Questions of all languages and sets are sorted by length together, so that those in a batch are of about
    one length: hardly a position is padding.

    Parameters
    ----------
    name
        What the user calls the model.
    identity
        From `identify`: a model of the hub is loaded at the commit that stands there.
    wanted
        Pieces, and positions of the questions to ask in each.
    keep
        Given a position in `wanted`, and answers with their positions in the piece, as they come.

    Raises
    ------
    UnusableModel, BadSetting
    """
    _quiet()
    if identity["path"] is not None:
        settings = replace(settings, revision=identity["revision"])
    places = [(n, k) for n, (_, positions) in enumerate(wanted) for k in positions]
    pools = [places[begin : begin + _POOL] for begin in range(0, len(places), _POOL)]
    codec = load_codec(settings, load_config(settings).model_type)

    def prepare(pool: Sequence[Place]) -> Any:
        return encode([wanted[n][0].rendered[k] for n, k in pool], codec)

    with ThreadPoolExecutor(1) as ahead:  # while the model is loaded, and then while it computes
        prepared = ahead.submit(prepare, pools[0] if pools else [])
        loaded = load_model(settings, codec)
        progress = Progress(name, "tokens", len(places), report)
        budget: Budget | None = None
        for number, pool in enumerate(pools):
            encoded = prepared.result()
            if number + 1 < len(pools):
                prepared = ahead.submit(prepare, pools[number + 1])
            longest = max(len(e.prefix) for e in encoded)
            budget = budget or Budget(settings.max_tokens or auto_budget(loaded, longest))
            tails = [e.n_tail_tokens() or None for e in encoded]

            def sort_out(
                found: list[tuple[int, Scores]],
                pool: Sequence[Place] = pool,
                tails: Sequence[int | None] = tails,
            ) -> None:
                by_piece: dict[int, list[tuple[int, Answer]]] = defaultdict(list)
                for row, one in found:
                    piece, k = pool[row]
                    by_piece[piece].append((k, Answer(one.logprobs, None, one.reason, tails[row])))
                for piece, answers in by_piece.items():
                    keep(piece, answers)

            languages = {wanted[n][0].language for n, _ in pool}
            label = languages.pop() if len(languages) == 1 else f"{len(languages)} languages"
            score(loaded, encoded, budget, progress.of(label).add, sort_out)
    if budget is not None and budget.computed:
        report(f"{name}  {budget.computed:,} positions computed, {100 * budget.share():.1f}% padding")


def _quiet() -> None:
    """What the library tells about itself would bury the progress line."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
