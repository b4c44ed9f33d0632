"""How a model behind an OpenAI-compatible endpoint is asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ApiSettings:
    """How a model behind an endpoint is asked, at temperature 0.

    Attributes
    ----------
    name
        The model's name at the endpoint.
    url
        Base address, such as http://localhost:8000/v1.
    answers
        "text": the model writes, and the stated option is extracted. "logprobs": the options'
        log-probabilities are taken from the most probable first tokens.
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
    key_variable
        Environment variable with the key.
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
    key_variable: str = "OPENAI_API_KEY"

    def identity(self) -> dict[str, object]:
        """What decides the answers."""
        return {
            "backend": "api",
            "name": self.name,
            "url": self.url,
            "answers": self.answers,
            "endpoint": self.endpoint,
            "max_answer_tokens": self.max_answer_tokens if self.answers == "text" else None,
            "top": self.top if self.answers == "logprobs" else None,
        }
