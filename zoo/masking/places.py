"""Where a leak began: the first moment at which something differs, and the layer to blame for it."""

from collections.abc import Callable

from zoo.masking.recording import Moment, Recording
from zoo.masking.report import MaskingLeak

__all__ = ["first_leak"]


def first_leak(
    base: Recording, differs: Callable[[Moment], bool], difference: float, done: str
) -> MaskingLeak:
    """Name the layer through which a difference came in that the outputs of the model show.

    If a layer was given what is right and gave what is wrong, it leaks: the innermost one, since an inner
    layer is left before the outer one. If a layer was given what is wrong, the layer around it leaks, in code
    of its own.

    Args:
        base: a call of the model, recorded.
        differs: whether something is wrong at a moment.
        difference: to report.
        done: what was done to the inputs.
    """
    number = next((n for n, m in enumerate(base.moments[:-1]) if differs(m)), len(base.moments) - 1)
    found = base.moments[number]
    if found.after:
        blamed, inside = found, [m for m in base.moments[:number] if _inside(m, found)]
        place = f"in its own code, after {inside[-1].path}" if inside else ""
    else:
        around = base.find(found.key[:-1], True)
        blamed, place = around or found, f"in its own code, before {found.path}"
    detail = "; ".join(filter(None, [done, place, _lost_mask(base, number, found)]))
    return MaskingLeak(blamed.path, blamed.kind, difference, detail)


def _inside(moment: Moment, around: Moment) -> bool:
    return len(moment.key) > len(around.key) and moment.key[: len(around.key)] == around.key


def _lost_mask(base: Recording, number: int, found: Moment) -> str:
    """What became of the mask that the blamed layer was not given."""
    given = base.find(found.key, False)
    if given is None or given.masked or not found.after:
        return ""
    last = None
    for moment in base.moments[:number]:
        came_masked = (before := base.find(moment.key, False)) is not None and before.masked
        if moment.after and (moment.masked or came_masked) and found.key[: len(moment.key)] != moment.key:
            last = moment
    if last is None:
        return "it was given no mask"
    verb = "was the last to pass one on" if last.masked else "dropped the one that it was given"
    return f"it was given no mask: {last.path} {verb}"
