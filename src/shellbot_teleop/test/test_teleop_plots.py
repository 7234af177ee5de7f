# SPDX-License-Identifier: MIT
"""The page of plots in the real window."""

from __future__ import annotations

import csv
import math
import time

import numpy as np
import pytest
from PIL import Image
from python_qt_binding.QtCore import Qt

from shellbot_teleop.effects import Notice
from shellbot_teleop.joint_history import COMMANDED, MEASURED, JointSamples
from shellbot_teleop.qt.plot_figure import PlotFigure, PlotRequest

NAMES = tuple(f"lower_{leg}_{part}" for leg in range(1, 3) for part in ("fan", "coxa", "femur", "tibia"))


@pytest.fixture
def page(setup):
    def feed(first, last):
        for tick in range(first, last):
            angle = 0.3 * math.sin(0.1 * tick)
            offsets = [0.3 * index for index in range(len(NAMES))]
            setup.monitor.history.add(COMMANDED, NAMES, 0.01 * tick, [angle + offset for offset in offsets])
            setup.monitor.history.add(MEASURED, NAMES, 0.01 * tick, [0.9 * angle + offset for offset in offsets])

    setup.feed = feed
    setup.window.views.setCurrentWidget(setup.window.plots)
    return setup


def tick(page, joint):
    (item,) = page.window.plots.list.findItems(joint, Qt.MatchExactly)
    item.setCheckState(Qt.Checked)


def colours(page):
    image = page.window.plots.plot.grab().toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def test_it_waits_for_joints_and_then_draws_the_first_two(page):
    assert page.window.plots.isVisible() and page.window.plots.joints == []
    page.feed(0, 800)
    assert page.until(lambda: page.window.plots.plot._image is not None)
    assert page.window.plots.joints == ["lower_1_fan", "lower_1_coxa"]
    assert page.until(lambda: "#38bdf8" in colours(page)), "a curve in the first colour"
    assert "#fbbf24" not in colours(page), "the third joint is not ticked"
    tick(page, "lower_2_tibia")
    assert page.until(lambda: "#fbbf24" in colours(page))


def test_new_samples_draw_curves_only(page, monkeypatch):
    page.feed(0, 1100)
    figure, history, times, whole = PlotFigure(), page.monitor.history, [], []
    draw = figure._canvas.draw
    monkeypatch.setattr(figure._canvas, "draw", lambda: whole.append(draw()))
    for tick in range(1100, 1160, 3):
        page.feed(tick, tick + 3)
        samples = {kind: history.since(kind, 0.01 * tick - 10.0) for kind in (COMMANDED, MEASURED)}
        size = (410, 297)  # in inches a pixel less, by rounding
        begin = time.process_time()
        pixels = figure.draw(PlotRequest(samples, NAMES[:2], 0.01 * tick, 10.0, size))
        times.append(time.process_time() - begin)
    assert len(whole) == 1 and abs(pixels.shape[0] - 297) <= 1 and abs(pixels.shape[1] - 410) <= 1
    print(f"whole: {1e3 * times[0]:.0f} ms, curves: {1e3 * sorted(times)[len(times) // 2]:.1f} ms of processor time")


def test_the_range_of_angles_follows_the_curves(page):
    figure = PlotFigure()

    def limits(low, high):
        samples = JointSamples(("hip",), np.array([0.0, 1.0]), np.radians([[low], [high]]))
        figure.draw(PlotRequest({MEASURED: samples}, ("hip",), 1.0, 5.0, (300, 200)))
        return figure._axes.get_ylim()

    for low, high in ((0.0, 0.0), (-40.0, 60.0), (59.9, 60.0), (-10.0, 10.0)):
        bottom, top = limits(low, high)
        assert bottom < low <= high < top and top - bottom <= 3.0 * max(high - low, 2.0)


def test_pause_holds_the_picture_and_files_have_what_is_shown(page, tmp_path):
    page.feed(0, 1500)
    assert page.until(lambda: page.window.plots.plot._image is not None)
    plots = page.window.plots
    plots.spans._click("5 s")
    plots.refresh()
    plots.pause.setChecked(True)
    page.feed(1500, 1600)
    plots.refresh()
    plots.save(tmp_path / "joints.csv", plots.write_csv)
    with (tmp_path / "joints.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [rows[0]["time_s"], rows[-1]["time_s"]] == ["9.990000", "14.990000"]
    assert set(rows[0]) == {"time_s"} | {
        f"lower_1_{part}.{k}_rad" for part in ("fan", "coxa") for k in (COMMANDED, MEASURED)
    }
    plots.spans._click("10 s")
    page.feed(1600, 8000)  # longer than the history goes back
    plots.spans._click("30 s")
    plots.spans._click("10 s")
    plots.save(tmp_path / "longer.csv", plots.write_csv)
    with (tmp_path / "longer.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [rows[0]["time_s"], rows[-1]["time_s"]] == ["4.990000", "14.990000"], "of before the pause"
    plots.save(tmp_path / "joints.png", plots.write_png)
    assert Image.open(tmp_path / "joints.png").width > 200
    plots.pause.setChecked(False)
    plots.refresh()
    said = []
    plots.noticed.connect(said.append)
    plots.save(tmp_path / "missing" / "joints.csv", plots.write_csv)
    assert [notice.level for notice in said] == ["error"] and "was not written" in said[0].text


def test_a_seventh_joint_is_refused_in_words(page):
    page.feed(0, 10)
    assert page.until(lambda: page.window.plots.plot._image is not None)
    said = []
    page.window.plots.noticed.connect(said.append)
    for name in NAMES:
        tick(page, name)
    assert page.window.plots.joints == list(NAMES[:6])
    assert isinstance(said[-1], Notice) and "6 joints at once" in said[-1].text
    page.window.plots.search.setText("2 coxa")
    shown = [page.window.plots.list.item(row).isHidden() for row in range(len(NAMES))]
    assert [name for name, hidden in zip(NAMES, shown) if not hidden] == ["lower_2_coxa"]
