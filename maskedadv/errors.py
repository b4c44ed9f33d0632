"""Every mistake a user can make, each with its own name.

A message is one clear sentence or two: what is wrong, where, and the mend.
The command line prints it without a traceback and leaves with `exit_code`.
"""

from __future__ import annotations


class MaskedadvError(Exception):
    """Base of all errors that maskedadv raises on purpose."""

    exit_code = 1


class InputError(MaskedadvError):
    """Bad input or usage: the caller can mend it (exit code 2)."""

    exit_code = 2


class EstimationError(MaskedadvError):
    """The input is well formed but the quantity cannot be estimated (exit code 1)."""

    exit_code = 1
