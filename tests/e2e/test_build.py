"""The built page is what its sources give, is small, and its own unit tests and types hold."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tdbg.web.static_files import STATIC

WEBUI = Path(__file__).parents[2] / "webui"
MOST_BYTES = 150_000  # gzipped, in all

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (WEBUI / "node_modules/.bin/vite").exists(),
    reason="no Node, or its packages are not installed: make page-tools",
)


def _run(*words: str) -> str:
    ran = subprocess.run(words, cwd=WEBUI, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@needs_node
def test_the_built_page_is_that_of_the_sources(tmp_path: Path) -> None:
    _run("node_modules/.bin/vite", "build", "--outDir", str(tmp_path), "--emptyOutDir")
    assert _files(tmp_path).keys() == _files(STATIC).keys()
    changed = [name for name, content in _files(tmp_path).items() if content != _files(STATIC)[name]]
    assert not changed, "the page is older than its sources: make web"


@needs_node
def test_types_and_unit_tests_of_the_page() -> None:
    _run("node_modules/.bin/tsc", "--noEmit")
    _run("node_modules/.bin/vitest", "run")


def test_the_page_is_small() -> None:
    sizes = {name: len(gzip.compress(content, 9)) for name, content in _files(STATIC).items()}
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def test_the_page_is_one_module_that_exports_render() -> None:
    code = (STATIC / "index.js").read_text()
    assert re.search(r"export\s*\{[^}]*\bas render\b[^}]*\}", code)
    assert not re.search(r"\bimport\s*[{*\"']", code)


def test_the_page_names_no_other_host() -> None:
    """Only names of XML languages, which nobody asks for."""
    for name, content in _files(STATIC).items():
        hosts = set(re.findall(rb"https?://([\w.-]+)", content)) - {b"www.w3.org"}
        assert not hosts, (name, hosts)


def test_versions_are_exact_and_the_lock_names_no_registry() -> None:
    package = json.loads((WEBUI / "package.json").read_text())
    versions = [*package["dependencies"].values(), *package["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
    locked = json.loads((WEBUI / "package-lock.json").read_text())["packages"]
    assert not [name for name, about in locked.items() if "resolved" in about]
