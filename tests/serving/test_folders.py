import json

import pytest
import tensorflow as tf
from tiny_models import TEXT, half_plus_two, save, texts

from zoo.serving.folders import BrokenVersionError, check, find_models, find_versions, fingerprint


@pytest.fixture
def version(tmp_path):
    return half_plus_two(tmp_path / "1")


def reason(folder):
    with pytest.raises(BrokenVersionError) as caught:
        check(folder)
    message = str(caught.value)
    assert str(folder) in message
    assert "Remedy: " in message
    return caught.value.reason


def write_manifest(folder, manifest):
    (folder / "assets.extra").mkdir()
    (folder / "assets.extra" / "zoo.json").write_text(manifest)


def sizes(folder):
    return {str(p.relative_to(folder)): p.stat().st_size for p in folder.rglob("*") if p.is_file()}


def test_versions_are_the_children_named_by_a_number_highest_first(tmp_path):
    for name in ("2", "10", "007", "v3", "1.0", ".tmp", "-1"):
        (tmp_path / name).mkdir()
    assert list(find_versions(tmp_path).items()) == [
        (10, tmp_path / "10"),
        (7, tmp_path / "007"),
        (2, tmp_path / "2"),
    ]


def test_models_are_the_folders_with_a_version(tmp_path):
    (tmp_path / "dates" / "1").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "README.md").touch()
    assert find_models(tmp_path) == {"dates": tmp_path / "dates"}
    assert find_models(tmp_path / "nowhere") == {}


def test_a_complete_version_gives_its_graph(version):
    assert "serving_default" in check(version).signature_def


def test_a_graph_without_variables_needs_no_variable_files(tmp_path):
    folder = texts(tmp_path / "1")
    for path in (folder / "variables").iterdir():
        path.unlink()
    check(folder)


def test_a_file_in_place_of_a_version(tmp_path):
    (tmp_path / "1").touch()
    assert "a file" in reason(tmp_path / "1")


def test_a_missing_saved_model(version):
    (version / "saved_model.pb").unlink()
    assert reason(version) == "it has no saved_model.pb"


@pytest.mark.parametrize("content", [b"", b"not a protobuf"])
def test_a_saved_model_that_cannot_be_read(version, content):
    (version / "saved_model.pb").write_bytes(content)
    assert "saved_model.pb" in reason(version)


def test_a_saved_model_that_is_cut_off(version):
    path = version / "saved_model.pb"
    path.write_bytes(path.read_bytes()[:-100])
    assert "saved_model.pb cannot be read" in reason(version)


@pytest.mark.parametrize("name", ["variables.index", "variables.data-00000-of-00001"])
def test_a_missing_variable_file(version, name):
    (version / "variables" / name).unlink()
    assert "the graph has variables" in reason(version)


def test_a_missing_shard(version):
    data = version / "variables" / "variables.data-00000-of-00001"
    data.rename(data.with_name("variables.data-00000-of-00002"))
    assert reason(version) == "variables/variables.data-00001-of-00002 is missing"


def test_a_missing_asset(tmp_path):
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("a\nb\n")
    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            str(vocabulary),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        ),
        -1,
    )
    folder = save(
        tmp_path / "1", module, serving_default=(lambda text: {"id": module.table.lookup(text)}, [TEXT])
    )
    check(folder)
    (folder / "assets" / "words.txt").unlink()
    assert reason(folder) == "assets/words.txt is missing"


def test_the_manifest_tells_a_half_copied_file(version):
    write_manifest(version, json.dumps({"files": sizes(version)}))
    check(version)
    data = version / "variables" / "variables.data-00000-of-00001"
    whole = data.read_bytes()
    data.write_bytes(whole[:-1])
    assert reason(version) == (
        f"variables/{data.name} has {len(whole) - 1} bytes where its manifest says {len(whole)}"
    )


def test_the_manifest_tells_a_missing_file(version):
    write_manifest(version, json.dumps({"files": {"assets/words.txt": 3}}))
    assert reason(version) == "assets/words.txt is missing, which its manifest lists"


@pytest.mark.parametrize("manifest", ['{"files": ', "[]"])
def test_a_manifest_that_cannot_be_read(version, manifest):
    write_manifest(version, manifest)
    assert "assets.extra/zoo.json is not a manifest" in reason(version)


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "\x00",
        "null",
        "1",
        '"files"',
        '{"files": null}',
        '{"files": []}',
        '{"files": "saved_model.pb"}',
        '{"files": 3}',
        '{"files": {"saved_model.pb": null}}',
        '{"files": {"saved_model.pb": "3"}}',
        '{"files": {"saved_model.pb": 3.5}}',
        '{"files": {"saved_model.pb": true}}',
        '{"files": {"saved_model.pb": [3]}}',
        '{"files": {"saved_model.pb": NaN}}',
        '{"files": {"saved_model.pb": ' + "9" * 5000 + "}}",
    ],
)
def test_a_malformed_manifest(version, manifest):
    write_manifest(version, manifest)
    assert "assets.extra/zoo.json is not a manifest" in reason(version)


def test_whatever_else_goes_wrong_makes_a_broken_version(version):
    write_manifest(version, "[" * 100_000)
    assert "it cannot be checked (RecursionError" in reason(version)


def test_a_manifest_of_bytes_that_are_no_text(version):
    write_manifest(version, "")
    (version / "assets.extra" / "zoo.json").write_bytes(b'{"files": {"\xff\xfe": 1}}')
    assert "assets.extra/zoo.json" in reason(version)


def test_a_manifest_may_list_no_files(version):
    write_manifest(version, '{"card": {}}')
    check(version)


@pytest.mark.parametrize(
    "name", ["../outside", "variables/../../outside", "..", "{absolute}", "variables/../saved_model.pb"]
)
def test_a_manifest_lists_only_files_of_its_version(version, name):
    outside = version.parent / "outside"
    outside.write_bytes(b"abc")
    write_manifest(version, json.dumps({"files": {name.format(absolute=outside): 3}}))
    assert "lists a file outside the version" in reason(version)


@pytest.mark.parametrize("name", ["", ".", "a\0b", "a" * 5000, "variables"])
def test_a_manifest_lists_names_of_files(version, name):
    write_manifest(version, json.dumps({"files": {name: 3}}))
    assert reason(version)


@pytest.mark.parametrize(
    "name",
    [
        "variables.data-x-of-y",
        "variables.data-00000-of-",
        "variables.data-00000-of-00001.tempstate",
        "variables.data-00000-of-00000",
        "variables.data-00000-of--0001",
        "variables.data-00000-of-1e3",
        "variables.data-00000-of-٠٠٠٠١",
    ],
)
def test_a_malformed_name_of_a_shard(version, name):
    data = version / "variables" / "variables.data-00000-of-00001"
    data.rename(data.with_name(name))
    assert reason(version) == "the graph has variables, and there is no variables/variables.data-* file"


def test_a_shard_that_counts_far_more_than_there_are(version):
    data = version / "variables" / "variables.data-00000-of-00001"
    data.rename(data.with_name("variables.data-00000-of-999999999"))
    assert reason(version) == "variables/variables.data-00001-of-999999999 is missing"


def test_a_stray_file_beside_the_shards_does_no_harm(version):
    (version / "variables" / "variables.data-00000-of-00001.bak").touch()
    (version / "variables" / "variables.data-00000-of-00001~").touch()
    check(version)


def test_the_fingerprint_changes_with_the_content(version):
    before = fingerprint(version)
    assert fingerprint(version) == before
    (version / "more").write_text("x")
    assert fingerprint(version) != before
