"""The tests of the clients, with the models of those tests, asked of TensorFlow Serving in the image."""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "serving"))

from test_clients import *  # noqa: F403
from tiny_models import half_plus_two, seq2seq, texts

CONFIG = """
model_config_list {
  config {
    name: "half" base_path: "/models/half" model_platform: "tensorflow"
    model_version_policy { all {} }
    version_labels { key: "stable" value: 1 }
  }
  config { name: "texts" base_path: "/models/texts" model_platform: "tensorflow" }
  config { name: "toy" base_path: "/models/toy" model_platform: "tensorflow" }
}
"""


@pytest.fixture(scope="session")
def server(serving, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    half_plus_two(folder / "half" / "1", offset=2.0)
    half_plus_two(folder / "half" / "2", offset=3.0)
    texts(folder / "texts" / "1")
    seq2seq(folder / "toy" / "7")
    config = tmp_path_factory.mktemp("config")
    (config / "models.config").write_text(CONFIG)
    flags = (
        "--model_config_file=/config/models.config",
        "--allow_version_labels_for_unavailable_models=true",
    )
    # Temporary folders can be read by their owner alone.
    options = (
        "--user",
        f"{os.getuid()}:{os.getgid()}",
        "-v",
        f"{folder}:/models:ro",
        "-v",
        f"{config}:/config:ro",
    )
    with serving(*options, flags=flags, models=("half", "texts", "toy")) as container:
        yield container
