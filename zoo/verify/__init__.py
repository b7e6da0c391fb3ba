"""Checks of an export as it lies on the disk.

    python -m zoo.verify saved_models/dates/1

They need TensorFlow, tensorflow-text where the graph uses its ops, and tensorflow-serving-api for the warm-up
requests, each of the version to be checked against; neither Keras nor any model of the zoo.
"""

from pathlib import Path

from zoo.verify.process import verify_in_fresh_process
from zoo.verify.report import Check, Report

__all__ = ["Check", "Report", "verify", "verify_in_fresh_process"]


def verify(path: Path) -> Report:
    """Check an export in this process.

    Args:
        path: folder NAME/VERSION.

    Returns:
        The report; a broken export raises nothing.
    """
    # Imported here, so that the command can decide what TensorFlow gets to see before it is imported.
    from zoo.verify.checks import check_export

    return check_export(Path(path))
