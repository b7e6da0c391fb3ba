"""Every generating model passes the audit of masks, and one that sees padding is caught."""

import keras
import numpy as np
import pytest
from keras import ops
from model_cases import MODELS

from zoo.masking import check_masking
from zoo.models import RecurrentSeq2Seq

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16")


def audit(model, case):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    model.compile(loss=loss)
    return check_masking(
        model,
        {"source": case.source, "target_ids": case.target_ids},
        causal=("target_ids",),
        labels=np.pad(case.target_ids[:, 1:], [(0, 0), (0, 1)]),
        weights=(case.target_ids > 0) * 1.0,
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS.keys())
def test_no_mask_leaks(case, policy):
    report = audit(case.make(dtype=policy), case)
    assert report.ok, str(report)
    assert all(check.passed for check in report.checks), str(report)


def test_an_attention_that_sees_padding_is_caught_inside_its_decoder():
    class Unmasked(RecurrentSeq2Seq):
        def encode(self, source, training=False):
            memory = super().encode(source, training)
            return memory._replace(mask=ops.ones_like(memory.mask), values=memory.values + 0.1)

    case = MODELS["RecurrentSeq2Seq"]
    report = audit(Unmasked(**case.arguments), case)
    assert report["padding ignored"].leak.layer.startswith("decoder/additive_attention")
    assert report["padding ignored"].leak.kind == "AdditiveAttention"
