"""Clients that ask one question after the other, many at a time, and what came of it."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType

__all__ = ["Load", "Outcome"]

WAIT_SECONDS = 120.0
PAUSE = 0.02


@dataclass
class Outcome:
    """What one client or several met.

    Attributes:
        changes: the answers of each client, one after the other, those like the one before left out.
        seconds: how long each answered request took.
        failures: code and message of each request that failed.
    """

    changes: list[list[str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """All that were sent."""
        return len(self.seconds) + len(self.failures)


class Load:
    """Clients under way: from the beginning of a `with` block to its end.

    Args:
        askers: each asks one question and returns the answer; every one has a thread of its own.
    """

    def __init__(self, askers: Sequence[Callable[[], str]]) -> None:
        self._outcomes = [Outcome(changes=[[]]) for _ in askers]
        self._told = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask_on, args=pair, daemon=True)
            for pair in zip(askers, self._outcomes, strict=True)
        ]

    @property
    def outcome(self) -> Outcome:
        """What all clients met so far, together."""
        return Outcome(
            [list(changes) for part in self._outcomes for changes in part.changes],
            [seconds for part in self._outcomes for seconds in list(part.seconds)],
            [failure for part in self._outcomes for failure in list(part.failures)],
        )

    def wait_until_all_answer(self, expected: str) -> None:
        """Wait until the last answer of every client is this one.

        Raises:
            TimeoutError: it did not come about.
        """
        self.wait(
            lambda: all(part.changes[0][-1:] == [expected] for part in self._outcomes),
            f"the answer {expected}",
        )

    def wait_for_more(self, requests: int = 3) -> None:
        """Wait until every client has asked so many times more.

        Raises:
            TimeoutError: it did not come about.
        """
        wanted = [part.requests + requests for part in self._outcomes]
        self.wait(
            lambda: all(part.requests >= n for part, n in zip(self._outcomes, wanted, strict=True)),
            f"{requests} more requests",
        )

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something is the case, which the error names.

        Raises:
            TimeoutError: it did not come about.
        """
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            if time.monotonic() >= deadline:
                met = self.outcome
                raise TimeoutError(
                    f"{what} did not come from every client within {WAIT_SECONDS:.0f} s: the answers were "
                    f"{met.changes}, the last failures {met.failures[-3:]}"
                )
            time.sleep(PAUSE)

    def stop(self) -> None:
        """Let the clients end, each after the question that it has asked."""
        self._told.set()
        for thread in self._threads:
            thread.join(WAIT_SECONDS)

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _ask_on(self, ask: Callable[[], str], outcome: Outcome) -> None:
        while not self._told.is_set():
            started = time.perf_counter()
            try:
                answer = ask()
            except Exception as error:  # whatever it is, the client got no answer
                outcome.failures.append(str(error) or repr(error))
                time.sleep(PAUSE)
                continue
            outcome.seconds.append(time.perf_counter() - started)
            if outcome.changes[0][-1:] != [answer]:
                outcome.changes[0].append(answer)
