from . import (
    ask,
    bodies,
    cost,
    loglikelihood,
    purse,
    replies,
    secrets,
    settings,
    statements,
    talk,
    tokens,
    trouble,
)

__all__ = [
    "ask",
    "bodies",
    "cost",
    "loglikelihood",
    "purse",
    "replies",
    "secrets",
    "settings",
    "statements",
    "talk",
    "tokens",
    "trouble",
]
