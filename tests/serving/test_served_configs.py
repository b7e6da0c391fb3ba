"""Labels, policies and places of models, and configs that replace them."""

from pathlib import Path

import pytest
from half_servables import ask, states
from tiny_models import half_plus_two

from zoo.serving.configs import ModelConfig, Policy
from zoo.serving.folders import find_versions
from zoo.serving.messages import RefusalError
from zoo.serving.servables import Servables


def test_labels_name_versions(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "3", offset=4.0)
    labels = {"stable": 1, "canary": 3, "gone": 9}
    servables = open_servables(Policy.all(), labels, allow_version_labels_for_unavailable_models=True)
    with servables.acquire("half", label="stable") as (number, _):
        assert number == 1
    with servables.acquire("half", label="canary") as (number, _):
        assert number == 3
    with pytest.raises(RefusalError, match=r"Specific\(half, 9\)"), servables.acquire("half", label="gone"):
        pass
    for model in ("half", "other"):
        with pytest.raises(RefusalError, match="label: nope"), servables.acquire(model, label="nope"):
            pass


def test_a_label_in_the_first_config_needs_leave(base, open_servables):
    half_plus_two(base / "1")
    with pytest.raises(RefusalError) as caught:
        open_servables(labels={"stable": 1})
    assert caught.value.code == "FAILED_PRECONDITION"
    assert caught.value.message == (
        "Request to assign label to version 1 of model half, which is not currently available for inference"
    )


@pytest.mark.parametrize("allowed", [True, False])
def test_a_label_in_use_moves_only_to_a_loaded_version(base, open_servables, allowed):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "2", offset=3.0)
    servables = open_servables(Policy.all(), allow_version_labels_for_unavailable_models=allowed)
    for version in (1, 2):
        servables.replace({"half": ModelConfig(base, Policy.all(), {"stable": version})})
        with servables.acquire("half", label="stable") as (number, _):
            assert number == version
    with pytest.raises(RefusalError, match="assign label to version 3"):
        servables.replace({"half": ModelConfig(base, Policy.specific(1), {"stable": 3})})
    assert states(servables) == {2: "AVAILABLE", 1: "AVAILABLE"}, "a refused config changes nothing"


def test_a_new_config_replaces_the_models(base, open_servables, tmp_path):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(tmp_path / "more" / "4", offset=5.0)
    servables = open_servables()
    servables.replace({"more": ModelConfig(tmp_path / "more")})
    with servables.acquire("more") as (number, _):
        assert number == 4
    with pytest.raises(RefusalError, match=r"Latest\(half\)"):
        ask(servables)
    assert states(servables) == {1: "END"}
    assert servables.unavailable() == {}
    servables.replace({"half": ModelConfig(base)})
    assert ask(servables) == (1, [2.5])


def test_a_new_policy_loads_and_unloads(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "2", offset=3.0)
    servables = open_servables()
    servables.replace({"half": ModelConfig(base, Policy.all())})
    assert states(servables) == {2: "AVAILABLE", 1: "AVAILABLE"}
    servables.replace({"half": ModelConfig(base, Policy.specific(1))})
    assert states(servables) == {2: "END", 1: "AVAILABLE"}


def test_a_model_that_moves_is_loaded_from_its_new_place(base, open_servables, tmp_path):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(tmp_path / "moved" / "1", offset=7.0)
    servables = open_servables()
    servables.replace({"half": ModelConfig(tmp_path / "moved")})
    assert ask(servables) == (1, [7.5])
    assert states(servables) == {1: "AVAILABLE"}


def test_a_new_model_that_cannot_be_served_is_told_and_the_others_serve(base, open_servables, tmp_path):
    half_plus_two(base / "1", offset=2.0)
    servables = open_servables()
    (tmp_path / "bad" / "1").mkdir(parents=True)
    with pytest.raises(RefusalError) as caught:
        servables.replace({"half": ModelConfig(base), "bad": ModelConfig(tmp_path / "bad")})
    assert caught.value.code == "UNKNOWN"
    assert caught.value.message.startswith(
        "1 model(s) did not become available: {{{name: bad} due to error: "
    )
    assert ask(servables) == (1, [2.5])


def test_a_path_that_cannot_be_one_keeps_no_other_model_from_loading(base, caplog):
    half_plus_two(base / "1", offset=2.0)
    servables = Servables({"bad": ModelConfig(Path("/a\0b")), "half": ModelConfig(base)})
    for _ in range(3):
        servables.poll()
    assert ask(servables) == (1, [2.5])
    assert servables.unavailable().keys() == {"bad"}
    (said,) = [record.getMessage() for record in caplog.records if "bad" in record.getMessage()]
    assert said == "bad: cannot list its base path (embedded null byte); what is loaded stays"
    servables.close()


def test_a_fault_with_one_model_keeps_no_other_from_being_looked_at(base, caplog, monkeypatch, tmp_path):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(tmp_path / "first" / "4", offset=5.0)
    servables = Servables({"first": ModelConfig(tmp_path / "first"), "half": ModelConfig(base)})
    servables.poll()

    def fail_at_the_first(path):
        return {}["fault"] if path.name == "first" else find_versions(path)

    monkeypatch.setattr("zoo.serving.servables.find_versions", fail_at_the_first)
    half_plus_two(base / "2", offset=3.0)
    servables.poll()
    assert ask(servables) == (2, [3.5])
    with servables.acquire("first") as (number, _):
        assert number == 4
    assert "first: looking for its versions failed; what is loaded stays" in caplog.text
    assert "KeyError" in caplog.text
    servables.close()
