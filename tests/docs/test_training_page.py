"""What docs/training.md says is what is there."""

from dataclasses import fields
from pathlib import Path

from readme import blocks, comment_faults, path_faults, run, table

from zoo.training.sampling import GROWTHS, PICKS, READINGS
from zoo.training.schedules import SCHEDULES
from zoo.training.settings import TrainingSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")


def test_its_table_has_every_setting():
    named = {
        name.strip("` ")
        for row in table(PAGE, "setting")
        for part in row[0].split(",")
        for name in part.split(" or ")
    }
    assert named == {field.name for field in fields(TrainingSettings)}


def test_its_table_has_every_schedule():
    assert {row[0].strip("`") for row in table(PAGE, "schedule")} == set(SCHEDULES)


def test_it_names_all_ways_of_sampling():
    assert all(f"`{name}`" in PAGE for name in (*GROWTHS, "drawn"))
    assert all(f'"{name}"' in PAGE for name in READINGS)
    assert '"best"' in PAGE
    assert set(PICKS) == {"best", "drawn"}


def test_the_example_of_sampling_gives_what_it_says():
    (example,) = [block for block in blocks(PAGE) if "ScheduledSampling" in block.code]
    shown, _ = run(example.code, {"__name__": "document"})
    assert [fault for one in shown for fault in comment_faults(one)] == []


def test_its_paths_exist():
    """But for the program that the page itself shows, `train.py`."""
    assert list(path_faults(PAGE, ROOT)) == ["train.py does not exist"]
