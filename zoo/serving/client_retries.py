"""When a client asks again; standard library only."""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from zoo.serving.answers import ServingError

__all__ = ["NO_RETRIES", "Retries"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Retries:
    """How often a client asks again where it got no answer, and after which pauses.

    Only `UNAVAILABLE` is asked again: no server was reached, the connection broke, or the server said that it
    cannot answer now. Questions change nothing in a server, so one that it may have seen can be asked again.
    Each pause is drawn between half and the whole of its length, lest many clients come back at the same
    moment. All tries and pauses of a call lie within its deadline.

    Attributes:
        most: tries after the first; 0 asks once.
        first_pause: seconds before the first of them; each later pause is twice as long.
        longest_pause: seconds that no pause exceeds.
    """

    most: int = 4
    first_pause: float = 0.1
    longest_pause: float = 2.0

    def __post_init__(self) -> None:
        if self.most < 0 or not 0 <= self.first_pause <= self.longest_pause:
            raise ValueError(f"expected most >= 0 and 0 <= first_pause <= longest_pause, got {self}")

    def pauses(self) -> Iterator[float]:
        """Seconds to wait before each further try."""
        whole = self.first_pause
        for _ in range(self.most):
            yield random.uniform(whole / 2, whole)
            whole = min(2 * whole, self.longest_pause)

    def ask(self, question: Callable[[float], _T], timeout: float) -> _T:
        """What the first try brings that reaches a server.

        Args:
            question: asks once, given the seconds that are left.
            timeout: seconds for everything.

        Raises:
            ServingError: what the last try met.
        """
        deadline = time.monotonic() + timeout
        pauses = self.pauses()
        while True:
            try:
                return question(deadline - time.monotonic())
            except ServingError as error:
                pause = next(pauses, None)
                if error.code != "UNAVAILABLE" or pause is None or time.monotonic() + pause >= deadline:
                    raise
            time.sleep(pause)


NO_RETRIES = Retries(most=0)
"""Asks once."""
