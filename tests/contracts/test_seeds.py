"""What dropout draws from is among a model's variables, which a checkpoint of a training keeps."""

import gc

import keras
import pytest
from model_cases import MODELS


def generators() -> dict[int, keras.random.SeedGenerator]:
    found = (one for one in gc.get_objects() if isinstance(one, keras.random.SeedGenerator))
    return {id(one): one for one in found}


@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)
def test_every_seed_of_a_model_is_one_of_its_variables(case):
    before = generators()
    model = case.new()
    made = [one for number, one in generators().items() if number not in before]
    assert made, "a model without dropout proves nothing"
    variables = {id(variable) for variable in model.variables}
    for one in made:
        assert id(one.state) in variables
