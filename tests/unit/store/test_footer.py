"""What a Parquet file's footer claims, and footers in which one bit is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tdbg.store import rollup
from tdbg.store.footer import bounds, read_footer

READS_EVERY_MUTANT = """\
import contextlib, sys
from pathlib import Path
from tdbg.store.rollup import schema
from tdbg.store.segments import UNREADABLE, open_parquet, read_sealed

path = Path(sys.argv[1])
data = path.read_bytes()
footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
for bit in range(8 * footer, 8 * len(data)):
    mutant = bytearray(data)
    mutant[bit // 8] ^= 1 << bit % 8
    path.write_bytes(mutant)
    with contextlib.suppress(*UNREADABLE), open_parquet(path, schema("steps")) as file:
        read_sealed(file, schema("steps"))
print("all read")
"""


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    steps = rollup.schema("steps")
    rows = {field.name: pa.array(range(5), field.type) for field in steps}
    pq.write_table(pa.table(rows, steps), tmp_path / "steps.parquet", row_group_size=3, compression="zstd")
    return tmp_path / "steps.parquet"


def test_it_tells_what_pyarrow_tells_of_a_sound_file(sealed: Path) -> None:
    with open(sealed, "rb") as file:
        groups = read_footer(file)
    about = pq.ParquetFile(sealed).metadata
    assert len(groups) == about.num_row_groups == 2
    for number, group in enumerate(groups):
        for place, (name, column) in enumerate(group.items()):
            other = about.row_group(number).column(place)
            assert (name, column.values) == (other.path_in_schema, other.num_values)
            assert bounds(group, name, -7, -7) == (other.statistics.min, other.statistics.max)
    assert bounds(groups[0], "missing", -7, -8) == (-7, -8)


def test_no_bit_of_a_footer_ends_the_process(sealed: Path) -> None:
    words = [sys.executable, "-c", READS_EVERY_MUTANT, str(sealed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (0, "all read\n"), done.stderr[-2000:]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1\xff\xff\xff\xffPAR1", b"\x00" * 20 + b"\x05\x00\x00\x00PAR1"])
def test_what_is_no_footer_is_said(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(data)
    with open(tmp_path / "a.parquet", "rb") as file, pytest.raises(ValueError, match="footer"):
        read_footer(file)
