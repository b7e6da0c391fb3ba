"""The command `python -m zoo.verify PATH`."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from zoo.verify import Check, Report, verify

KERAS = ("keras", "tf_keras")

MODEL_CODE = ("zoo.layers", "zoo.models", "zoo.decoders", "zoo.tokenizers", "zoo.predictor")


def main() -> int:
    """Check an export and say what was found; 0 if it may be served, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m zoo.verify", description="Check an export.")
    parser.add_argument("path", type=Path, help="folder NAME/VERSION of the export")
    parser.add_argument("--json", action="store_true", help="print the report as one line of JSON")
    arguments = parser.parse_args()
    # TensorFlow imports Keras when it finds it. Here it finds none, so a graph that needs it fails.
    for name in KERAS:
        sys.modules[name] = None  # type: ignore[assignment]
    report = _standing_alone(verify(arguments.path))
    print(report.to_json() if arguments.json else report)
    return 0 if report.ok else 1


def _standing_alone(report: Report) -> Report:
    """Add whether what was checked ran without the code that made it."""
    imported = sorted(
        name
        for name, module in sys.modules.items()
        if module is not None and (name.split(".")[0] in KERAS or name.startswith(MODEL_CODE))
    )
    detail = (
        f"These were imported: {', '.join(imported[:5])}. Import them where they are used."
        if imported
        else "neither Keras nor any model code was imported"
    )
    return replace(report, checks=(*report.checks, Check("stands alone", not imported, detail)))


if __name__ == "__main__":
    sys.exit(main())
