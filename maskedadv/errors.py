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


# --- reading a response table -------------------------------------------------------------------


class UnreadableFile(InputError):
    """The path does not exist, is not a table, or cannot be decoded."""


class MissingColumn(InputError):
    """A required column is absent."""


class EmptyTable(InputError):
    """The table has no row, or no observed answer."""


class MissingId(InputError):
    """A model, subset, language or item id is empty."""


class BadId(InputError):
    """An id is neither text nor a whole number, or a language code carries blanks."""


class BadValue(InputError):
    """A value is outside its column's range, or is text where a number belongs."""


class UnknownSubset(InputError):
    """A subset is neither CA nor CS."""


class DuplicateRows(InputError):
    """The same model answered the same item in the same language more than once."""


class ItemInBothSubsets(InputError):
    """An item id stands under CA and under CS."""


# --- choosing what to fit -----------------------------------------------------------------------


class PivotMissing(InputError):
    """No row has the pivot language."""


class UnknownLocale(InputError):
    """A locale was asked for that the table does not hold."""


class NoSharedItem(InputError):
    """A locale shares no item with the pivot, so no gap can be formed."""


class NothingLeft(InputError):
    """Every model fell under the accuracy floor."""


class WrongResponse(InputError):
    """The response asked for needs a column the table lacks."""


class BadSetting(InputError):
    """An argument is outside its range, or two arguments exclude each other."""


class NoOptions(InputError):
    """A guessing floor was asked for and the number of options of some items is not known."""


# --- engines, results ---------------------------------------------------------------------------


class EngineMissing(InputError):
    """The engine asked for is not installed."""


class EngineFailed(EstimationError):
    """A Stan engine stopped without a usable result."""


class NotConverged(EstimationError):
    """An optimiser stopped where the gradient is not zero."""


class OptimaDiffer(EstimationError):
    """Stan's optimum and the polished one do not have the same gaps."""


class WorkerDied(MaskedadvError):
    """A process, job or machine that did a part of the work went away, as often as the part was begun."""


class PartsFailed(MaskedadvError):
    """Several parts of the work failed, and the others were done."""


class NotEstimable(EstimationError):
    """The answers do not determine any ability difference."""


class OutputExists(InputError):
    """The output folder holds something else."""


class NotAResult(InputError):
    """The path is not a folder written by maskedadv."""


# --- validity, annotation -----------------------------------------------------------------------


class BadPairing(InputError):
    """A pairings file is not what it should be: a key, a type, a name used twice."""


class UnknownBenchmark(InputError):
    """A pairing or a control names a benchmark, language or column that the tables do not hold."""


class NoCommonModel(InputError):
    """The score table and the model table share no model."""


# --- summaries and reports -----------------------------------------------------------------------


class MissingFacts(InputError):
    """A summary needs facts about models or locales that no table gives."""


class BadLocaleFacts(InputError):
    """A locales file is not TOML, or a key is unknown or of the wrong type."""


class NothingToDraw(InputError):
    """A figure was asked for of a table without a single known number."""


# --- importing logs -----------------------------------------------------------------------------


class BrokenLog(InputError):
    """A log cannot be read to its end: not UTF-8, not JSON, not an archive, a record that is none."""


class WrongFormat(InputError):
    """The file is not a log of the program named."""


class AggregateOnly(InputError):
    """The file holds scores per data set, not answers per item."""


class LogTooLarge(InputError):
    """One record, or what an archive unpacks to, is larger than any real log's."""


class BadMapping(InputError):
    """A mapping file is not what it should be, or names a field that the log does not have."""


class UnknownModel(InputError):
    """Nothing says which model a log is of."""


class LimitedRun(InputError):
    """The run was limited to part of its items, stopped early, or failed."""


class MixedRuns(InputError):
    """Answers of several runs, revisions or tasks would be mixed under one model."""


class AmbiguousKey(InputError):
    """The right option cannot be told: no single reading of the answer key reproduces the log's scores."""


class ItemNotUnique(InputError):
    """Two different questions have the same item id."""


class NothingToImport(InputError):
    """No answer was left to import."""


class PackageMissing(InputError):
    """An optional package is needed for this input."""


# --- scoring ------------------------------------------------------------------------------------


class BadItem(InputError):
    """Items that cannot be asked: no right option, equal options, hidden characters, an unreadable key."""


class BadPrompts(InputError):
    """A prompt file is not TOML, or a language's table lacks a key or has one that does not belong."""


class NoPrompt(InputError):
    """A language has no prompt, or its prompt has no words for a country."""


class BadBuild(InputError):
    """A file that describes an item set is not TOML, or a key is missing, unknown or of the wrong type."""


class UnusableModel(InputError):
    """A model or its tokenizer cannot be loaded, or is no causal language model."""


class UnitsFailed(MaskedadvError):
    """Some models could not be scored; the others were."""


class EndpointFailed(MaskedadvError):
    """An endpoint refuses every question, or does not answer any more."""


class ReviewServerFailed(MaskedadvError):
    """The server where people review items cannot be installed, started or asked."""


class CostReached(MaskedadvError):
    """The next request could cost more than was allowed."""
