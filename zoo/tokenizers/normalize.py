"""Unicode normalisation of texts, by name, in the graph."""

import tensorflow as tf

__all__ = ["NORMALIZATIONS", "normalize"]

NORMALIZATIONS = ("none", "NFC", "NFKC")
"""`none` leaves code points alone; the others are Unicode's normalisation forms (Unicode Annex 15)."""

LONG_RUN_OF_MARKS = r"(\p{M}{30})\p{M}+"
"""Combining marks beyond the 30 in a row that Unicode's Stream-Safe Text Format allows (Annex 15)."""


def normalize(texts: tf.Tensor, form: str) -> tf.Tensor:
    """Make texts valid UTF-8, then bring them into a normalisation form.

    Args:
        texts: strings of any shape. Each maximal invalid sequence of bytes becomes one U+FFFD.
        form: one of `NORMALIZATIONS`. All but `none` cut more than 30 combining marks in a row to 30.

    Returns:
        Strings of the same shape.

    Raises:
        ValueError: the form is not known.
        ImportError: a form other than `none` was asked for where tensorflow-text is not installed.
    """
    if form not in NORMALIZATIONS:
        raise ValueError(f"normalization must be one of {', '.join(NORMALIZATIONS)}, got {form!r}.")
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
    if form == "none":
        return texts
    # Normalising a run of marks takes time with its square, so one text could keep a server busy for minutes.
    texts = tf.strings.regex_replace(texts, LONG_RUN_OF_MARKS, r"\1")
    return _tensorflow_text(form).normalize_utf8(texts, form)


def _tensorflow_text(form: str):
    try:
        import tensorflow_text
    except ImportError as error:
        raise ImportError(
            f"normalization={form!r} needs the package tensorflow-text, which cannot be imported here "
            f"({error}). Install it (it has no build for Windows), or choose normalization='none'."
        ) from error
    return tensorflow_text
