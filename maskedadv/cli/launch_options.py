"""Where the units of a long command run: the same options for every one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from maskedadv.launchers import Launcher

F = TypeVar("F", bound=Callable[..., Any])

slurm_option = click.option(
    "--slurm", metavar="PARTITION", help="Hand the units to Slurm, one job each, and wait for them."
)
ray_option = click.option(
    "--ray",
    metavar="ADDRESS",
    help="Do the units on a Ray cluster: host:port of its head, or auto for this machine's.",
)


def launch_options(unit: str) -> Callable[[F], F]:
    """Options of a command whose units, called so, may run elsewhere; it gets them as the argument `how`."""

    def decorate(command: F) -> F:
        @wraps(command)
        def wrapped(*, jobs: int, slurm: str | None, ray: str | None, cpus: int | None, **given: Any) -> Any:
            return command(how=make_launcher(jobs, slurm, ray, cpus), **given)

        options = (
            click.option(
                "--jobs",
                type=int,
                default=1,
                show_default=True,
                help=f"{unit} at the same time, on this machine.",
            ),
            slurm_option,
            ray_option,
            click.option("--cpus", type=int, help="With --slurm, --ray: processors of a unit.  [default: 1]"),
        )
        changed: Any = wrapped
        for option in reversed(options):
            changed = option(changed)
        return changed

    return decorate


def make_launcher(jobs: int, slurm: str | None, ray: str | None, cpus: int | None) -> Launcher:
    """The launcher that the options name.

    Raises
    ------
    BadSetting
        They exclude each other.
    """
    from maskedadv.checks import Whole
    from maskedadv.errors import BadSetting
    from maskedadv.launchers import Local, Ray, Slurm

    Whole(1, 10**6)("--jobs", jobs)
    if slurm is not None and ray is not None:
        raise BadSetting("--slurm and --ray exclude each other; give one.")
    if slurm is None and ray is None:
        if cpus is not None:
            raise BadSetting("--cpus is for --slurm and --ray; units on this machine share its processors.")
        return Local(jobs)
    if jobs != 1:
        raise BadSetting("--jobs is for this machine; with --slurm or --ray the cluster has its say.")
    Whole(1, 10**4)("--cpus", 1 if cpus is None else cpus)
    return Slurm(slurm, cpus=cpus or 1) if slurm is not None else Ray(ray or "auto", cpus=cpus or 1)
