import pytest

from zoo.training.settings import TrainingSettings, Watch


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "give batch_size or batch_tokens, one of them"),
        ({"batch_size": 8, "batch_tokens": 512}, "Got batch_size=8, batch_tokens=512"),
        ({"batch_size": 0}, "batch_size is a whole number of 1 or more, got 0"),
        ({"batch_tokens": 0.5}, "batch_tokens is a whole number"),
        ({"batch_size": 8, "epochs": 0}, "epochs is a whole number of 1 or more"),
        ({"batch_size": 8, "warmup_steps": -1}, "warmup_steps is a whole number of 0 or more"),
        ({"batch_size": 8, "learning_rate": 0.0}, "learning_rate is above 0"),
        ({"batch_size": 8, "learning_rate": float("nan")}, "learning_rate is above 0"),
        ({"batch_size": 8, "beta_2": 1.0}, "beta_2 is a share"),
        ({"batch_size": 8, "clip_norm": float("inf")}, "clip_norm is above 0 and finite, or None"),
        ({"batch_size": 8, "label_smoothing": 1.0}, "a share from 0 to below 1"),
        ({"batch_size": 8, "schedule": "linear"}, "There are: noam, inverse_sqrt, cosine, constant"),
        ({"batch_size": 8, "precision": "float8"}, "There are: float32, mixed_bfloat16, mixed_float16"),
        ({"batch_size": 8, "epochs": 2, "average_last": 3}, "The last 3 of 2 epochs cannot be averaged"),
    ],
)
def test_what_cannot_be_is_told(given, told):
    with pytest.raises(ValueError, match=told):
        TrainingSettings(**given)


def test_what_is_watched_grows_or_falls():
    with pytest.raises(ValueError, match="mode='up'"):
        Watch("bleu", mode="up")
    with pytest.raises(ValueError, match="1 or more, got 0 and 500"):
        Watch("bleu", patience=0)
