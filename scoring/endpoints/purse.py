"""A limit of money that is never passed: what a request may cost at most is set aside before it is sent."""

from __future__ import annotations

import math
import threading

from maskedadv.errors import BadSetting, CostReached


class Purse:
    """Money that the requests of a run share.

    Parameters
    ----------
    limit
        Most that may be spent.

    Raises
    ------
    BadSetting
        The limit is no amount of money.
    """

    def __init__(self, limit: float) -> None:
        if not (math.isfinite(limit) and limit > 0):
            raise BadSetting(f"--max-cost is an amount above 0, not {limit}.")
        self.limit = limit
        self.spent = 0.0
        self._aside = 0.0
        self._changed = threading.Condition()

    def set_aside(self, most: float) -> None:
        """Set aside what a request may cost; waits for those under way where they decide.

        Raises
        ------
        CostReached
            The request could pass the limit.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self.spent + self._aside + most <= self.limit or self.spent + most > self.limit
            )
            if self.spent + most > self.limit:
                raise CostReached(
                    f"{self.spent:,.2f} is spent, and the next request could pass --max-cost "
                    f"{self.limit:,.2f}"
                )
            self._aside += most

    def settle(self, most: float, cost: float) -> None:
        """Pay for a request for which `most` was set aside."""
        with self._changed:
            self._aside -= most
            self.spent += cost
            self._changed.notify_all()
