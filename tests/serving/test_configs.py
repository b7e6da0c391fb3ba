from pathlib import Path

import pytest

from zoo.serving.configs import ModelConfig, Policy, of_model, read_file
from zoo.serving.messages import RefusalError


@pytest.fixture
def read(tmp_path):
    def parse(text):
        path = tmp_path / "models.config"
        path.write_text(text)
        return read_file(path)

    return parse


def entry(name="m", path="/models/m", more=""):
    return f"config {{ name: '{name}' base_path: '{path}' model_platform: 'tensorflow' {more} }}"


def listed(*entries):
    return f"model_config_list {{ {' '.join(entries)} }}"


def test_several_models_with_policies_and_labels(read):
    found = read(
        """
        # a comment
        model_config_list: {
          config { name: "a", base_path: "/models/a", model_platform: 'tensorflow' }
          config {
            name: "b" base_path: "/models/b" model_platform: "tensorflow"
            model_version_policy { specific { versions: 42 versions: 43 } }
            version_labels { key: "stable" value: 42 }
            version_labels { key: "canary" value: 43 }
          }
        }
        """
    )
    assert found == {
        "a": ModelConfig(Path("/models/a")),
        "b": ModelConfig(Path("/models/b"), Policy.specific(42, 43), {"stable": 42, "canary": 43}),
    }


@pytest.mark.parametrize(
    ("written", "policy"),
    [
        ("", Policy.latest(1)),
        ("model_version_policy { latest { num_versions: 3 } }", Policy.latest(3)),
        ("model_version_policy { latest {} }", Policy.latest(1)),
        ("model_version_policy { all {} }", Policy.all()),
        ("model_version_policy { specific { versions: 7 } }", Policy.specific(7)),
    ],
)
def test_policies(read, written, policy):
    assert read(listed(entry(more=written)))["m"].policy == policy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (listed(entry(), entry()), "Illegal to list model m multiple times in config list"),
        (
            listed(entry(path="models/m")),
            "Expected model m to have an absolute path or URI; got base_path()=models/m",
        ),
        (
            listed(entry(path="/models/m\\000")),
            r"Expected model m to have a path without NUL characters; got base_path()='/models/m\x00'",
        ),
        (
            listed("config { name: 'm' base_path: '/m' }"),
            "Illegal setting neither ModelServerConfig::model_type (deprecated) nor "
            "ModelServerConfig::model_platform, model name is m",
        ),
        (listed("config { name: 'm' base_path: '/m' model_platform: 'torch' }"), "got torch"),
        (listed(entry(name="")), "Expected each model to have a name"),
        ("custom_model_config {}", "Only ModelConfigList is currently supported"),
        ("models {}", "Invalid protobuf file: '"),
        ("model_config_list {", "models.config"),
    ],
)
def test_what_cannot_be_served(read, text, message):
    with pytest.raises(RefusalError) as caught:
        read(text)
    assert caught.value.code == "INVALID_ARGUMENT"
    assert message in caught.value.message


def test_an_empty_file_has_no_models(read):
    assert read("# nothing yet") == {}


def test_the_flags_of_a_single_model():
    assert of_model("m", "/models/m") == {"m": ModelConfig(Path("/models/m"))}
    with pytest.raises(RefusalError, match=r"got base_path\(\)=rel"):
        of_model("m", "rel")
