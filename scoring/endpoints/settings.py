"""How a model behind an OpenAI-compatible endpoint is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

from maskedadv.errors import BadSetting
from maskedadv.scoring.endpoints.purse import Purse
from maskedadv.scoring.endpoints.secrets import address_given

Answers = Literal["text", "choice", "logprobs", "loglikelihood"]
Endpoint = Literal["chat", "completions"]
# A base model goes on with the next question; only the first line is its answer.
STOP = "\n"


@dataclass(frozen=True)
class ApiSettings:
    """How a model behind an endpoint is asked, at temperature 0.

    Attributes
    ----------
    name
        The model's name at the endpoint.
    url
        Base address, such as http://localhost:8000/v1, or the name of an environment variable that holds it:
        so must one with a password or a key in it. Afterwards the address without anything secret.
    answers
        "text": the model writes, and the stated option is read. "choice": the endpoint is asked for one of
        the letters by structured output. "logprobs": the options' log-probabilities are taken from the most
        probable first tokens. "loglikelihood": they are computed whole, as for a local model, through
        completions of token ids.
    endpoint
        "chat" or "completions".
    max_answer_tokens
        Longest written answer.
    top
        How many of the most probable tokens to ask for.
    concurrency, retries, timeout, backoff
        Questions at a time; tries after the first; seconds until a try counts as failed; seconds before
        the second try, doubled with each further one.
    price_in, price_out
        Money per million tokens read and written; 0 for unknown.
    purse
        What may be spent, in common with the other models that are given the same purse; None for no limit.
    tokenizer
        Folder or name on the hub of the model's tokenizer, for "loglikelihood"; None asks the server's
        `/tokenize`.
    key_variable, url_variable
        Environment variables with the key, and with the whole address, if `url` named one.

    Raises
    ------
    BadSetting
    """

    name: str
    url: str
    answers: str = "text"
    endpoint: str = "chat"
    max_answer_tokens: int = 512
    top: int = 20
    concurrency: int = 8
    retries: int = 5
    timeout: float = 120.0
    backoff: float = 1.0
    price_in: float = 0.0
    price_out: float = 0.0
    purse: Purse | None = field(default=None, compare=False, repr=False)
    tokenizer: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    url_variable: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.url_variable is None:
            url, variable = address_given(self.url)
            object.__setattr__(self, "url", url)
            object.__setattr__(self, "url_variable", variable)
        if self.answers not in get_args(Answers) or self.endpoint not in get_args(Endpoint):
            raise BadSetting(
                f"--answers is one of {', '.join(get_args(Answers))}, --endpoint chat or completions."
            )
        if self.answers == "loglikelihood":
            object.__setattr__(self, "endpoint", "completions")
        least = {
            "max_answer_tokens": 1,
            "top": 1,
            "concurrency": 1,
            "retries": 0,
            "price_in": 0,
            "price_out": 0,
        }
        for name, value in least.items():
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= value):
                raise BadSetting(
                    f"--{name.replace('_', '-')} is at least {value}, not {getattr(self, name)}."
                )
        if not self.timeout > 0:
            raise BadSetting(f"--timeout is above 0 seconds, not {self.timeout}.")
        if self.purse is not None and not (self.price_in or self.price_out):
            raise BadSetting("--max-cost needs the prices: give --price-in and --price-out.")

    def longest_answer(self) -> int:
        """Tokens that one answer may have."""
        return self.max_answer_tokens if self.answers in {"text", "choice"} else 1

    def identity(self) -> dict[str, object]:
        """What decides the answers."""
        written = self.answers in {"text", "choice"}
        return {
            "backend": "api",
            "name": self.name,
            "url": self.url,
            "answers": self.answers,
            "endpoint": self.endpoint,
            "max_answer_tokens": self.max_answer_tokens if written else None,
            "stop": STOP if self.answers == "text" and self.endpoint == "completions" else None,
            "top": self.top if self.answers == "logprobs" else None,
            "tokenizer": self.tokenizer if self.answers == "loglikelihood" else None,
        }
