"""The audit as one call."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras

from zoo.masking.audit import Audit
from zoo.masking.checks import (
    Labels,
    future_unseen,
    gradients_at_padding_zero,
    loss_ignores_padding,
    padding_content_ignored,
    padding_ignored,
    rows_independent,
)
from zoo.masking.report import MaskingReport
from zoo.masking.sequences import known_names, read_inputs

__all__ = ["check_masking"]


def check_masking(
    model: keras.Model,
    inputs: Any,
    *,
    padding: float | Mapping[str, float] = 0,
    masks: Sequence[str] = (),
    causal: Sequence[str] = (),
    labels: Any = None,
    weights: Any = None,
    training: bool = False,
    tolerance: float | None = None,
) -> MaskingReport:
    """Find out whether padding, the future or other rows reach the outputs of a model, and where.

    The model is called with the inputs as they are, and again with more padding, with noise where padding is,
    with other rows around each row, and with another future. What it gives at tokens must stay as it was. If
    it does not, the first layer is named that was given what is right and gave what is wrong. Any Keras model
    that runs on TensorFlow will do, functional, sequential or subclassed; nothing of it is changed.

    The checks:

    - `padding ignored`: more padding, on the side where padding is, changes nothing.
    - `padding content ignored`: noise at padding changes nothing. It is put into float inputs that have a
      mask of their own; of all other inputs, into what the first layer makes of them, or of other ids that
      were made of them: an embedding or `Masking`. So a model that counts on zeros there leaks.
    - `rows independent`: a row gives the same among others, and in another order.
    - `future unseen`: along inputs named by `causal`, no position depends on a later one.
    - `loss ignores padding`: labels and outputs at padding, and more padding, leave the loss as it is. A loss
      that divides by the number of positions leaks; `reduction="mean_with_sample_weight"` does not.
    - `gradients at padding zero`: of outputs, and of the loss if there are labels, with respect to float
      inputs and to what the first layer makes of inputs.

    All layers' results of several calls are kept for a while, so a few short rows are best: of different
    lengths, one of them full, none empty unless the model promises something for those.

    Args:
        model: as it will be used; compiled with its loss if there are labels.
        inputs: arrays (B, ...) in the structure that the model takes: token ids (B, T), or floats (B, T, D).
            Bool arrays (B, T) are masks, True where a token is.
        padding: what fills up short rows: the id of padding, or the number that all features have there. By
            name of the input if they differ, or if not all inputs have it; the names are the dictionary's
            keys, the numbers of a list, or `inputs`. An input that is not named has the padding of the others
            of its length.
        masks: names of masks that are not bool, such as `attention_mask`; zero is padding.
        causal: names of inputs whose future the outputs must not see.
        labels: as for `fit`, (B, ...).
        weights: sample weights, as for `fit`.
        training: True to audit the training pass, where `BatchNormalization` uses the batch itself. Dropout
            is off all the same.
        tolerance: what counts as equal, relative to the greatest number, or to 1 if all are less. Unless
            given, 1e-5; 1e-2 with float16, or 5e-2 with bfloat16, anywhere in the model.

    Returns:
        The report: `print` it, or `assert report.ok, str(report)`.

    Raises:
        ValueError: the inputs have no padding or are not numbers, a name is unknown, a mask could belong to
            several inputs, the tolerance is not positive, the model was not compiled though there are labels,
            or it gives numbers that are not finite.
        RuntimeError: Keras runs on another backend than TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise RuntimeError(
            f"The audit needs Keras on TensorFlow, got {keras.backend.backend()}; set KERAS_BACKEND."
        )
    if tolerance is not None and tolerance <= 0:
        raise ValueError(f"tolerance must be greater than 0, got {tolerance}.")
    read = read_inputs(inputs, padding, masks)
    known_names(read.names, causal, "causal")
    audit = Audit(model, read, training=training, tolerance=tolerance)
    taught = None if labels is None else Labels(audit, labels, weights)
    checks = (
        padding_ignored(audit),
        padding_content_ignored(audit),
        rows_independent(audit),
        future_unseen(audit, causal),
        loss_ignores_padding(audit, taught),
        gradients_at_padding_zero(audit, taught),
    )
    return MaskingReport(model.name, checks)
