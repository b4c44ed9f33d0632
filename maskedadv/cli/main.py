"""Entry point of the `maskedadv` command: finds the subcommand, turns errors into sentences."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import io
import logging
import os
import signal
import sys
import threading

import click

from maskedadv import __version__
from maskedadv.cli.say import say
from maskedadv.errors import MaskedadvError
from maskedadv.words.terminal import clean

# name -> (module:command, one-line help). Listing help needs no import, so `maskedadv --help` is instant.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("maskedadv.cli.demo:command", "The main job on bundled real outcomes."),
    "check": ("maskedadv.cli.check:command", "What a response table holds, and can it be fitted."),
    "fit": ("maskedadv.cli.fit:command", "Estimate abilities and the three gaps."),
    "items": ("maskedadv.cli.items:command", "Multiple-choice items: read, check, convert."),
    "prompts": ("maskedadv.cli.prompts:command", "How questions are asked in each language."),
    "score": ("maskedadv.cli.score:command", "Ask models the items: a response table."),
    "import": ("maskedadv.cli.import_logs:command", "Logs of other programs as a response table."),
    "from-accuracy": ("maskedadv.cli.from_accuracy:command", "Approximate gaps from published accuracies."),
    "diagnose": ("maskedadv.cli.diagnose:command", "Can the draws of a NUTS result be used."),
    "compare": ("maskedadv.cli.compare:command", "Which model of the answers predicts answers held out."),
    "gaps": ("maskedadv.cli.gaps:command", "The gaps of a result, with their mean over models."),
    "dif": ("maskedadv.cli.dif:command", "Is an item equally difficult in both languages."),
    "fit-check": ("maskedadv.cli.fit_check:command", "Does the Rasch model fit."),
    "report": ("maskedadv.cli.report:command", "A page, figures and tables from a result."),
    "power": ("maskedadv.cli.power:command", "How many items and models does a study need?"),
    "sensitivity": ("maskedadv.cli.sensitivity:command", "Does the answer change with the analysis?"),
    "status": ("maskedadv.cli.status:command", "How far a long command is."),
    "simulate": ("maskedadv.cli.simulate:command", "A response table with a known truth."),
    "validity": ("maskedadv.cli.validity:command", "Is a translated benchmark a proxy for a native one?"),
    "annotation": ("maskedadv.cli.annotation:command", "Agreement of annotators, and of a model with them."),
    "export-stan": ("maskedadv.cli.import_stan:export_command", "Program and data for CmdStan elsewhere."),
    "import-stan": ("maskedadv.cli.import_stan:import_command", "A result of Stan CSV files made elsewhere."),
    "doctor": ("maskedadv.cli.doctor:command", "Versions, engines, and a five-row trial of each."),
}


ASKING = ("items", "score")
"""Commands that run language models, which may use every thread there is."""


class LazyGroup(click.Group):
    """A group whose commands are imported only when they run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in ASKING and "numpy" not in sys.modules:
            # Our matrices are small: a second thread waits more than it works (three times the processor time
            # on a busy machine), and adds up in another order, so that last digits hang on the machine.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        command.name = cmd_name  # not that of its function, which the documentation would print
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="maskedadv")
def cli() -> None:
    """Which language gives a language model better access to local knowledge?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; leave with 0 done, 1 not estimable, 2 bad input or 3 do not use."""
    _be_robust()
    gc.set_threshold(100_000, 50, 50)  # few cycles, in a process that soon ends: a twentieth of its time
    try:
        code = cli.main(args=arguments, prog_name="maskedadv", standalone_mode=False)
    except MaskedadvError as error:
        say(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        told = io.StringIO()
        error.show(file=told)  # it repeats what was typed
        say(told.getvalue(), err=True, nl=False)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        say("Interrupted; nothing half-written was left behind.", err=True)
        sys.exit(130)
    except OSError as error:
        _leave_if_output_ended(error)
        raise
    _flush()
    sys.exit(code if isinstance(code, int) else 0)


def program() -> None:
    """The command `maskedadv`: `main`, then an end without the taking down of all that was loaded.

    To let go of libraries and arrays one by one takes Python a quarter of a second after a large fit. What
    asked to be called at the end, threads and temporary folders among it, is called before.
    """
    ended = [1]  # as after a traceback
    atexit.register(_vanish, ended)  # what is registered first is called last
    try:
        main()
    except SystemExit as end:
        ended[0] = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise


def _vanish(ended: list[int]) -> None:
    if sys.gettrace() is not None or "coverage" in sys.modules:  # they write down what they saw after this
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(ended[0])


class _Tell(logging.Handler):
    """What the library has to say while it works: a line on standard error, as progress is."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"  {clean(record.getMessage())}", err=True)


def _be_robust() -> None:
    """Characters that a terminal cannot show become question marks; a polite kill ends workers too."""
    _take_what_a_full_disk_leaves()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    log = logging.getLogger("maskedadv")
    log.handlers, log.propagate = [_Tell()], False
    log.setLevel(logging.INFO)
    if threading.current_thread() is threading.main_thread():
        for name, code in (("SIGTERM", 143), ("SIGHUP", 129)):  # SIGHUP: the terminal is gone
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, lambda *_, code=code: sys.exit(code))
        sys.unraisablehook = _send_again


def _send_again(lost: sys.UnraisableHookArgs) -> None:
    """Send a signal again whose exception Python could raise nowhere: it came while an object was let go."""
    ended = lost.exc_value
    if isinstance(ended, KeyboardInterrupt):
        number: int = signal.SIGINT
    elif isinstance(ended, SystemExit) and ended.code in (143, 129):
        number = ended.code - 128
    else:
        sys.__unraisablehook__(lost)
        return
    later = threading.Timer(
        0.05, os.kill, (os.getpid(), number)
    )  # not from in here, where it would be lost too
    later.daemon = True
    later.start()


def _take_what_a_full_disk_leaves() -> None:
    """Print through a buffer also where Python was told to have none (PYTHONUNBUFFERED, as in containers).

    Without one, Python takes what a nearly full disk wrote of a text for all of it, and says nothing.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        # By its number: a buffer around the stream itself closes it, when let go, for those who lent it.
        own = io.FileIO(raw.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(own), sys.stdout.encoding, line_buffering=True, write_through=True
        )


def _flush() -> None:
    """Bring out what is printed while its failure can still be told."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _leave_if_output_ended(error)
        raise


def _leave_if_output_ended(error: OSError) -> None:
    """Leave quietly where a reader closed the pipe (`| head`), with a sentence where the disk refused."""
    from maskedadv.files.disk import is_disk_error

    if "temporary directory" in str(error):  # the standard library's words, under no number of its own
        say("Error: no folder for temporary files can be written; make room or set TMPDIR.", err=True)
        sys.exit(2)
    if error.errno != errno.EPIPE and not is_disk_error(error):
        return
    # What is still in the buffer would fail once more when Python ends.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        sys.exit(1)  # as click does
    where = f"{error.filename} cannot be written" if error.filename else "the output cannot be written"
    reason = os.strerror(error.errno or 0)
    say(f"Error: {where} ({reason}); make room or write to another place.", err=True)
    sys.exit(2)
