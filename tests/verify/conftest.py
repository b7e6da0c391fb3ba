"""A good export, and copies of it to be broken."""

import shutil
from pathlib import Path

import pytest
from broken_exports import write_three


@pytest.fixture(scope="session")
def good(tmp_path_factory):
    return write_three(tmp_path_factory.mktemp("exports"))


@pytest.fixture
def copy(good, tmp_path):
    return Path(shutil.copytree(good, tmp_path / "elsewhere" / "7"))
