# SPDX-License-Identifier: MIT
"""docs/notebooks: runs from the first cell to the last, and is stored without what it printed."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="scripts/setup --dev installs it")
nbclient = pytest.importorskip("nbclient", reason="scripts/setup --dev installs it")
pytest.importorskip("rospkg", reason="without ROS no workspace is built")

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
# nbclient may miss the answer to a cell that shows sliders: run without them, as where ipywidgets is not installed
WITHOUT_SLIDERS = "import sys; sys.modules['ipywidgets'] = None"


def read(file):
    return nbformat.read(str(file), as_version=4)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_are_stored_without_outputs(file):
    dirty = [c["id"] for c in read(file).cells if c.cell_type == "code" and (c.outputs or c.execution_count)]
    assert not dirty, "clear all outputs before you save"


def test_the_notebook_runs_to_its_end():
    notebook = read(ROOT / "docs/notebooks/shellbot.ipynb")
    notebook.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_SLIDERS))
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in outputs)
    pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    # the limb, the plan, pictures and curves, the gait, the circle
    assert len(pictures) == 6 and min(len(base64.b64decode(picture)) for picture in pictures) > 5000
    assert "7 steps: lean away, lift, wave" in text
    assert 60.0 < float(re.search(r"highest foot (\d+) mm; done", text).group(1)) < 75.0
    loaded, by_gait = re.search(r"([\d.]+) feet carry load on average; by the duty factor ([\d.]+)", text).groups()
    assert float(loaded) == pytest.approx(float(by_gait), abs=0.6)
    assert "circle: moves its body around a circle, and bows; parameters radius, times" in text
    assert float(re.search(r"circle of ([\d.]+) mm, done", text).group(1)) == pytest.approx(25.0, abs=2.0)


def test_sliders_call_the_function_again():
    widgets = pytest.importorskip("ipywidgets", reason="scripts/setup --dev installs it")
    cell = next(c for c in read(ROOT / "docs/notebooks/shellbot.ipynb").cells if "def with_sliders" in c.source)
    names, seen, made = {}, [], []
    exec(cell.source, names)  # noqa: S102 - the notebook's own lines

    def interact(function, **sliders):
        made.append(widgets.interactive(function, **sliders))
        made[-1].update()

    names["interact"] = interact
    names["with_sliders"](lambda knee_deg: seen.append(knee_deg), knee_deg=(-10.0, 10.0, 5.0))
    made[0].children[0].value = -3.0
    assert (seen[0], seen[-1]) == (5.0, -3.0)
