"""What is seen of a training while it goes on."""

import time
from collections.abc import Mapping

import keras
from rich.console import Console
from rich.live import Live

__all__ = ["ProgressLine"]


class ProgressLine(keras.callbacks.Callback):
    """Epoch, batch, figures and target tokens a second.

    In a terminal the line of an epoch moves; in a file there is one a minute. At the end of an epoch a line
    with all figures stays.

    Args:
        console: where it is shown; standard output, if none.
    """

    def __init__(self, console: Console | None = None) -> None:
        super().__init__()
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.period = 0.5 if self.console.is_terminal else 60.0

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._begun = self._shown = time.monotonic()
        self._tokens_before: float | None = None
        self._live = Live(console=self.console, auto_refresh=False, transient=True)
        if self.console.is_terminal:
            self._live.start()

    def on_train_batch_end(self, batch, logs=None):
        if self._tokens_before is None:  # of an epoch that is gone on with, those before count for no speed
            self._tokens_before, self._begun = logs["tokens"], time.monotonic()
        if time.monotonic() - self._shown >= self.period:
            self._shown = time.monotonic()
            line = self._line(f"batch {batch + 1}/{self.params['steps']}", logs)
            if self.console.is_terminal:
                self._live.update(line, refresh=True)
            else:
                self.console.print(line)

    def on_epoch_end(self, epoch, logs=None):
        self._live.stop()
        self.console.print(self._line(f"{self.params['steps']} batches", logs))

    def _line(self, batches: str, logs: Mapping[str, float]) -> str:
        seconds = time.monotonic() - self._begun
        tokens = logs["tokens"] - (self._tokens_before or 0)
        figures = [f"{name} {value:.4g}" for name, value in logs.items() if not name.endswith("tokens")]
        parts = [f"epoch {self._epoch + 1}/{self.params['epochs']}", batches, *figures]
        return " · ".join([*parts, f"{tokens / max(seconds, 1e-6):,.0f} tokens/s"])
