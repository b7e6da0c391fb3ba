"""Every generating model passes the audit of masks, and one that sees padding is caught."""

import keras
import numpy as np
import pytest
from keras import ops
from model_cases import MODELS, SOURCE, TARGET

from zoo.layers import AdditiveAttention
from zoo.masking import check_masking
from zoo.models import RecurrentSeq2Seq

WITHOUT_NOISE = ("padding ignored", "rows independent", "future unseen")
POLICIES = ("float32", "mixed_float16", "mixed_bfloat16")


def audit(model, source, target_ids):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    model.compile(loss=loss)
    return check_masking(
        model,
        {"source": source, "target_ids": target_ids},
        causal=("target_ids",),
        labels=np.pad(target_ids[:, 1:], [(0, 0), (0, 1)]),
        weights=(target_ids > 0) * 1.0,
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS.keys())
def test_no_mask_leaks(case, policy):
    report = audit(case.make(dtype=policy), case.source, case.target_ids)
    # Where inputs are joined, the contents of padding are left to test_padding_is_never_seen.
    of_one = () if case.members else ("loss ignores padding",)
    checks = [report[name] for name in (*WITHOUT_NOISE, *of_one)] if case.joins_inputs else report.checks
    assert all(check.passed and not check.not_checked for check in checks), str(report)


def test_an_attention_that_sees_padding_is_found_among_the_steps_of_a_decoder(monkeypatch):
    masked = AdditiveAttention.call

    def unmasked(self, query, keys, values, mask):
        return masked(self, query, keys, values, ops.ones_like(mask))

    monkeypatch.setattr(AdditiveAttention, "call", unmasked)
    model = RecurrentSeq2Seq(10, 8, embedding_dim=4, encoder_units=4, decoder_units=4)
    leak = audit(model, SOURCE, TARGET)["padding ignored"].leak
    assert leak.kind == "AdditiveAttention"
    assert leak.layer.startswith("decoder/")
