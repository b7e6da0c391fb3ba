"""An audit of masks: does padding, the future or a neighbour reach the answers of a model, and where?

from zoo.masking import check_masking

report = check_masking(model, {"source": ids, "target_ids": ids}, causal=("target_ids",))
print(report)
assert report.ok, str(report)
"""

from zoo.masking.check_masking import check_masking
from zoo.masking.report import MaskingCheck, MaskingLeak, MaskingReport

__all__ = ["MaskingCheck", "MaskingLeak", "MaskingReport", "check_masking"]
