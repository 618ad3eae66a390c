"""What the names of files and folders say."""

import pytest

from tdbg.formats.dumps.folder import is_dump_root, runs_in, scan_run
from tdbg.formats.dumps.names import as_path, device_of_folder, folder_of_device, parse_dump_name, split_element


@pytest.mark.parametrize(
    "device",
    [
        "/job:localhost/replica:0/task:0/device:CPU:0",
        "/job:my_worker/replica:0/task:12/device:GPU:3",
        "/job:ps/replica:0/task:0/device:XLA_CPU:1",
    ],
)
def test_devices_and_their_folders(device):
    assert device_of_folder(folder_of_device(device)) == device


def test_names_of_dumps():
    name = parse_dump_name("a_b_1_2_DebugIdentity_1000-3")
    assert (name.node, name.slot, name.debug_op, name.timestamp) == ("a_b_1", 2, "DebugIdentity", 1000)
    assert name.order == (1000, 3) < parse_dump_name("a_0_DebugIdentity_1000-11").order
    for other in ("readme.txt", "a_b_DebugIdentity_10", "a_0_DebugIdentity_", "a_0_DebugIdentity_1-x", ""):
        with pytest.raises(ValueError, match="naming pattern"):
            parse_dump_name(other)


def test_elements():
    assert split_element("a/b:2") == ("a/b", 2) and split_element("a/b") == ("a/b", None)
    assert as_path("a//b") == "a/b" and as_path("a/../../b") is None and as_path("/") is None


def test_runs_in_the_order_they_were_made(tmp_path):
    for name in ("run_5_10", "run_5_9", "run_12_1", "other", "run_empty"):
        (tmp_path / name).mkdir()
        if name != "run_empty":
            (tmp_path / name / "_tfdbg_fetches_info_").touch()
    assert [path.rsplit("/", 1)[1] for path in runs_in(str(tmp_path))] == ["run_5_9", "run_5_10", "run_12_1"]
    assert runs_in(str(tmp_path / "other")) == [str(tmp_path / "other")]
    assert is_dump_root(tmp_path) and not is_dump_root(tmp_path / "run_empty")


def test_scopes_are_folders(tmp_path):
    place = tmp_path / "_tfdbg_device_,job_x,device_CPU_0" / "outer" / "inner"
    place.mkdir(parents=True)
    (place / "a_0_DebugIdentity_7").touch()
    (place / "what").touch()
    files = scan_run(str(tmp_path))
    assert [(file.node, file.name.timestamp) for file in files.devices[0].tensors] == [("outer/inner/a", 7)]
    assert len(files.strangers) == 1 and files.devices[0].device == "/job:x/device:CPU:0"
