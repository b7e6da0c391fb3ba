"""The learning curve on disk: Keras' own callbacks, for trainings that may be interrupted."""

from importlib.util import find_spec
from pathlib import Path

import keras

__all__ = ["CurveFile", "tensorboard"]


class CurveFile(keras.callbacks.CSVLogger):
    """`keras.callbacks.CSVLogger` with one line for each epoch, even if an interrupted one is trained again.

    Args:
        file: a table with commas; a training that begins anew replaces it.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(file, append=True)
        self.file = file

    def on_train_begin(self, logs=None):
        """The file is opened when the first epoch is known."""

    def on_epoch_begin(self, epoch, logs=None):
        if self.csv_file is None:
            self._keep_before(epoch)
            super().on_train_begin(logs)

    def _keep_before(self, epoch: int) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        rows = [line for line in lines[1:] if int(line.split(",")[0] or epoch) < epoch]
        kept = [*lines[:1], *rows] if rows else []
        self.file.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def tensorboard(folder: Path) -> keras.callbacks.TensorBoard:
    """Keras' own callback: figures of each epoch as events for TensorBoard.

    Raises:
        ImportError: TensorBoard is not installed.
    """
    if find_spec("tensorboard") is None:
        raise ImportError(
            "TensorBoard, which does not come with TensorFlow any more, is not installed: "
            "pip install 'seq2seq-zoo[tensorboard]'. Without it, a learning curve is written as a table: "
            "--curve FILE"
        )
    return keras.callbacks.TensorBoard(folder)
