"""The API on traces of real programs, over HTTP: every route answers as its description says, and says what is true."""

from __future__ import annotations

import csv
import io
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from json_schema import misfits
from web_server import Client, serving

import tdbg

pytest.importorskip("tensorflow")

PROGRAM = """\
import tensorflow as tf

weights = tf.Variable(tf.ones([4, 3]), name="weights")


@tf.function
def train_step(x, step):
    with tf.GradientTape() as tape:
        with tf.name_scope("model"):
            p = tf.nn.softmax(tf.matmul(x, weights) * tf.cast(step, tf.float32) * 100.0)
            loss = -tf.reduce_mean(tf.math.log(p))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss


for step in range(4):
    x = tf.constant([[1.0, 2.0, -1.0, 0.5], [-3.0, 1.0, 2.0, 0.0]]) * tf.constant(float(step + 1))
    weights.assign_add([[0.0, step, 0.0]] * 4)
    train_step(x, tf.constant(step))
"""
LOG_LINE = 11


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with all values, and one of the same program without them."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "train.py").write_text(PROGRAM)
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(Path(tdbg.__file__).parents[1])}
    for name, mode in (("full", "full"), ("short", "numerics")):
        words = ["run", "-q", "--mode", mode, "-o", f"{name}.tdbg", "train.py"]
        subprocess.run([sys.executable, "-m", "tdbg", *words], cwd=folder, env=environment, check=True, timeout=240)
    return folder


@pytest.fixture(scope="module")
def client(traces: Path) -> Iterator[Client]:
    with serving([traces / "full.tdbg"], [traces]) as client:
        yield client


@pytest.fixture(scope="module")
def log_row(client: Client) -> dict[str, Any]:
    """The first bad Log."""
    return client.get("/api/t/full/tensors", where='bad and op == "Log"')["rows"][0]


def test_every_route_answers_as_its_description_says(client: Client, log_row: dict[str, Any]) -> None:
    described = client.get("/api/openapi.json")
    execution = client.get("/api/t/full/executions")["rows"][0]["execution"]
    stack = tdbg.open(client.server_trace("full")).table("ops")["stack"].to_pylist()[0]
    asked: dict[str, dict[str, Any]] = {
        "/api/t/{trace}/execution": {"execution": execution},
        "/api/t/{trace}/tensor": {"seq": log_row["seq"]},
        "/api/t/{trace}/value": {"seq": log_row["seq"]},
        "/api/t/{trace}/bad_element": {"seq": log_row["seq"]},
        "/api/t/{trace}/lineage": {"seq": log_row["seq"]},
        "/api/t/{trace}/history": {"op": f"0:{log_row['op']}:0"},
        "/api/t/{trace}/timeline": {"loss": 1},
        "/api/t/{trace}/op": {"op": log_row["op"], "depth": 2},
        "/api/t/{trace}/graph": {"graph": log_row["graph"], "norms": 1},
        "/api/t/{trace}/source": {"file": "train.py"},
        "/api/t/{trace}/stack": {"stack": stack},
        "/api/t/{trace}/diff": {"other": "short"},
    }
    checked = 0
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            ((kind, content),) = operation["responses"]["200"]["content"].items()
            if kind != "application/json":
                continue
            where = path.replace("{trace}", "full")
            if method == "post":
                reply = client.post(where, {"line": "lt"})
                assert reply.status == 200
                answer = reply.json
            else:
                answer = client.get(where, **asked.get(path, {}))
            assert list(misfits(answer, content["schema"], described["components"]["schemas"], where)) == []
            assert content["schema"], f"{path} says nothing of its answer"
            checked += 1
    assert checked > 20


def test_numbers_and_pages(client: Client, log_row: dict[str, Any]) -> None:
    about = client.get("/api/t/full/overview")
    everything = client.get("/api/t/full/tensors", limit=5000)
    assert everything["total"] == len(everything["rows"]) > 100
    assert about["bad"] == sum(row["bad"] for row in everything["rows"]) > 0
    seqs = [row["seq"] for row in everything["rows"]]
    assert seqs == sorted(seqs)
    page = client.get("/api/t/full/tensors", offset=40, limit=7, at=log_row["seq"])
    assert [row["seq"] for row in page["rows"]] == seqs[40:47]
    assert seqs[page["at"]] == log_row["seq"]
    largest = client.get("/api/t/full/tensors", sort="max", desc=1, limit=5000)["rows"]
    known = [row["max"] for row in largest if isinstance(row["max"], float)]
    assert known == sorted(known, reverse=True)
    assert all(not isinstance(row["max"], float) for row in largest[len(known) :])
    turned = client.get("/api/t/full/tensors", desc=1, limit=3, at=seqs[-1])
    assert [row["seq"] for row in turned["rows"]] == seqs[:-4:-1]
    assert turned["at"] == 0
    spread = client.get("/api/t/full/tensors", limit=1, map=10)["map"]
    assert sum(spread) == about["bad"]
    by_step = [client.get("/api/t/full/tensors", step=step, limit=1)["total"] for step in range(4)]
    before = client.get("/api/t/full/tensors", where="step in -1:0", limit=1)["total"]
    assert sum(by_step) + before == everything["total"]


def test_a_page_of_columns_has_the_same_numbers(client: Client) -> None:
    rows = client.get("/api/t/full/tensors", offset=20, limit=50)["rows"]
    reply = client.ask("/api/t/full/tensors?offset=20&limit=50&format=columns")
    (length,) = struct.unpack("<I", reply.body[:4])
    header = json.loads(reply.body[4 : 4 + length])
    start = 4 + length
    assert start % 8 == 0
    kinds = {"f64": "<f8", "f32": "<f4", "i32": "<i4", "i16": "<i2", "u16": "<u2", "u8": "u1", "text": "<i4"}
    assert header["rows"] == len(rows) == 50
    for column in header["columns"]:
        assert column["offset"] % 8 == 0
        first = start + column["offset"]
        cells = np.frombuffer(reply.body[first : first + column["bytes"]], kinds[column["type"]]).tolist()
        name = column["name"]
        if column["type"] == "text":
            cells = [header["strings"][name][cell] for cell in cells]
        expected = [float("nan") if row[name] in (None, "NaN") else row[name] for row in rows]
        np.testing.assert_equal(cells, [float(one) if one in ("Infinity", "-Infinity") else one for one in expected])


def test_from_the_verdict_to_the_zeros_of_its_input(client: Client, log_row: dict[str, Any]) -> None:
    verdict = client.get("/api/t/full/verdict")
    (link,) = verdict["links"]
    assert verdict["verdict"] == "bad_values"
    assert (link["seq"], link["op"], link["line"]) == (log_row["seq"], log_row["op"], LOG_LINE)
    assert link["file"].endswith("train.py")
    tensor = client.get("/api/t/full/tensor", seq=link["seq"])
    (given,) = tensor["inputs"]
    assert (given["type"], given["seq"]) == ("Softmax", link["inputs"][0]["seq"])
    assert given["zero"] > 0
    assert next(frame["line"] for frame in tensor["stack"] if frame["is_user"]) == LOG_LINE
    assert "tdbg/tensorflow" not in json.dumps(tensor["stack"])
    value = client.get("/api/t/full/value", seq=given["seq"])
    assert value["values"].count(0.0) == given["zero"] == value["summary"]["zero"]
    assert sum(value["histogram"]["counts"]) == 6
    row = client.get("/api/t/full/value", seq=log_row["seq"], slice="[0, :2]")
    assert row["part"] == [2]
    assert row["values"] == client.get("/api/t/full/value", seq=log_row["seq"])["values"][:2]
    assert "-Infinity" in client.get("/api/t/full/value", seq=log_row["seq"])["values"]
    way = client.get("/api/t/full/lineage", seq=log_row["seq"])
    assert way["stops"][0]["seq"] == log_row["seq"]
    assert "began here" in way["end"]
    reached = client.get("/api/t/full/tensors", where=link["reached"]["gradients"])
    assert reached["total"] > 0
    assert {row["phase"] for row in reached["rows"]} == {"backward"}


def test_alerts_executions_and_the_program(client: Client, log_row: dict[str, Any]) -> None:
    client.get("/api/t/full/verdict")
    alerts = client.get("/api/t/full/alerts", kind="bad_values")
    assert alerts["total"] == alerts["counts"]["bad_values"] > 0
    assert alerts["is_judged"]
    first = client.get("/api/t/full/executions", bad=1)["rows"][0]
    assert (first["kind"], first["label"], first["step"]) == ("function", "train_step", log_row["step"])
    assert client.get("/api/t/full/tensors", execution=first["execution"])["total"] > 0
    everything = client.get("/api/t/full/executions", limit=5000)["rows"]
    assert sum(row["kind"] == "function" for row in everything) == 4
    at = client.get("/api/t/full/executions", at=first["execution"])["at"]
    assert everything[at]["execution"] == first["execution"]

    op = client.get("/api/t/full/op", op=log_row["op"])
    assert op["inputs"][0]["type"] == "Softmax"
    assert op["bad"] == op["outputs"][0]["bad"] > 0
    assert any(node["type"] == "Mean" for node in op["nodes"])
    inside = client.get("/api/t/full/graph", graph=log_row["graph"], scope="model")
    assert "Log" in {thing["name"] for thing in inside["things"] if thing["kind"] == "op"}
    whole = client.get("/api/t/full/graph", graph=log_row["graph"])
    (model,) = (thing for thing in whole["things"] if thing["name"] == "model")
    assert (model["kind"], model["bad"] > 0) == ("scope", True)
    assert any(whole["things"][edge["to"]]["name"] == "model" for edge in whole["edges"])
    lines = client.get("/api/t/full/source", file="train.py")["lines"]
    assert [line["text"] for line in lines] == PROGRAM.splitlines()
    assert log_row["op"] in lines[LOG_LINE - 1]["ops"]
    assert lines[LOG_LINE - 1]["bad"] > 0
    of_line = client.get("/api/t/full/tensors", file="train.py", line=LOG_LINE, limit=5000)
    assert log_row["seq"] in {row["seq"] for row in of_line["rows"]}
    assert {row["op"] for row in of_line["rows"]} <= set(lines[LOG_LINE - 1]["ops"])


def test_numbers_over_steps(client: Client, log_row: dict[str, Any]) -> None:
    time = client.get("/api/t/full/timeline", buckets=100, loss=1, from_=0)
    assert [part["first"] for part in time["parts"]] == [0, 1, 2, 3]
    assert sum(part["bad"] for part in time["parts"]) == client.get("/api/t/full/overview")["bad"]
    assert len(time["loss"]["points"]["first"]) == 4
    zoomed = client.get("/api/t/full/timeline", from_=1, to=2, buckets=1)["parts"]
    assert [(part["first"], part["last"]) for part in zoomed] == [(1, 2)]
    (series,) = client.get("/api/t/full/history", op=[f"0:{log_row['op']}:0"], points=2)["series"]
    assert series["name"] == "model/Log:0"
    assert sum(series["points"]["rows"]) == 4
    assert client.get("/api/t/full/gradients")["layers"]
    names = [layer["name"] for layer in client.get("/api/t/full/layers")["layers"]]
    assert "model" in names


def test_files_the_report_and_the_prompt(client: Client) -> None:
    steps = list(csv.DictReader(io.StringIO(client.ask("/api/t/full/export/steps.csv").body.decode())))
    assert len(steps) == tdbg.open(client.server_trace("full")).row_count("steps")
    reply = client.ask("/api/t/full/export/tensors.parquet?where=bad")
    table = pq.read_table(io.BytesIO(reply.body))
    assert len(table) == client.get("/api/t/full/overview")["bad"]
    assert 'filename="full-tensors.parquet"' in reply.headers["content-disposition"]
    assert client.refused("/api/t/full/export/passwd.csv").status == 404
    assert client.refused("/api/t/full/export/steps.csv", where="bad").status == 400
    report = client.ask("/api/t/full/report.html")
    assert b"train.py:11" in report.body
    assert "unsafe-inline" in report.headers["content-security-policy"]
    assert "script-src" not in report.headers["content-security-policy"]
    said = client.post("/api/t/full/shell", {"line": "lt -f has_inf_or_nan", "step": 3}).json
    assert "model/Log:0" in json.dumps(said["lines"])
    assert client.post("/api/t/full/shell", {"line": "lt -x"}).json["is_error"]
    assert client.post("/api/t/full/shell", {"line": "diff short"}).json["is_error"] is False


def test_a_page_asks_for_everything_at_once(traces: Path) -> None:
    """A fresh server, before anything is known of its traces."""
    paths = ("overview", "verdict", "alerts", "timeline?loss=1", "loss", "gradients", "layers", "executions", "tensors",
             "sources", "graphs", "source?file=train.py", "tensors?where=nan%3E0&map=9", "problems", "report.html",
             "tensors?sort=max", "diff?other=short")  # fmt: skip
    with serving([], [traces]) as client, ThreadPoolExecutor(32) as pool:
        asked = [f"/api/t/{name}/{path}" for name in ("full", "short") for path in (*paths, *paths)]
        asked = [path for path in asked if "/short/diff" not in path]
        replies = list(pool.map(client.ask, asked))
    assert [path for path, reply in zip(asked, replies, strict=True) if reply.status != 200] == []


def test_what_is_not_there_is_said(client: Client, log_row: dict[str, Any]) -> None:
    assert client.refused("/api/t/full/tensor", seq=10**9).status == 400
    said = client.refused("/api/t/full/tensors", where="nann > 0").json
    assert "did you mean 'nan'" in said["error"] + said["next"]
    assert client.refused("/api/t/full/op", op=10**6).status == 404
    assert client.refused("/api/t/full/tensors", step=77).status == 400
    assert client.refused("/api/t/full/overview", process=3).status == 404
    mul = client.get("/api/t/short/tensors", where='op == "MatMul" and not bad')["rows"][0]
    assert not mul["kept"]
    not_kept = client.refused("/api/t/short/value", seq=mul["seq"])
    assert (not_kept.status, "--mode full" in not_kept.json["next"]) == (404, True)
    assert client.refused("/api/t/full/value", seq=log_row["seq"], slice="[9]").status == 400
