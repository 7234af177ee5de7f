# SPDX-License-Identifier: MIT
"""The page in a real browser, served without a roscore: its texts, its keyboard, and when it draws."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from teleop_language import write_catalogue
from test_teleop_texts import english

NODE = Path(__file__).resolve().parents[1] / "nodes" / "teleop_web"
TEXTS = """
const shown = [document.title];
for (const each of document.querySelectorAll("body *")) {
  for (const part of each.childNodes) if (part.nodeType === Node.TEXT_NODE) shown.push(part.data);
  for (const name of ["title", "placeholder", "aria-label", "alt"]) shown.push(each.getAttribute(name) || "");
}
return shown;
"""
# Calls of draw at times that the test chooses; each picture takes as long as `spent`, ms.
DRAWS = """
const [times, spent] = arguments;
return import("/robot.js").then(({ RobotView }) => {
  const real = window.requestAnimationFrame;
  window.requestAnimationFrame = () => 0;
  const drawn = [];
  const view = Object.assign(Object.create(RobotView.prototype), {
    isShown: true, pausedUntil: 0, drawnAt: 0, camera: { updateProjectionMatrix() {} },
    canvas: { clientWidth: 8, clientHeight: 8, width: 8, height: 8 },
    renderer: { setPixelRatio() {}, setSize() {}, render: () => drawn.push(view.now) },
  });
  for (const now of times) {
    Object.assign(view, { isNew: true, now });
    view.draw(now);
  }
  window.requestAnimationFrame = real;
  return drawn;
});
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page in the invented language."""
    pytest.importorskip("rospy", reason="the program needs rospy, which is not installed")
    browser = pytest.importorskip("shellbot_benchmarks.browser", reason="selenium is not installed")
    if not os.path.exists(browser.PROGRAM):
        pytest.skip("chromium is not installed (scripts/setup --dev installs it on Debian)")
    environment = dict(
        os.environ, ROS_MASTER_URI="http://localhost:1", **write_catalogue(tmp_path_factory.mktemp("locale"))
    )
    process = subprocess.Popen(
        [sys.executable, str(NODE), "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment
    )
    shown = browser.Browser(process.stdout.readline().split()[-1], 1280, 800)
    shown.until(lambda: "ROS" in shown.text("trouble"), "the page does not say that there is no master")
    yield shown
    shown.close()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_every_text_of_the_page_is_in_the_operators_language(page):
    page.click("help-button")
    page.hold("w")
    page.until(lambda: page.text("notices"), "nothing says why W does nothing")
    page.release("w")
    shown = page.driver.execute_script(TEXTS)
    left = {text: english(text) for text in shown if english(text) not in ([], ["page"])}  # who wrote a line of the log
    assert not left
    assert sum(text.count("⟦") for text in shown) > 100
    assert page.errors() == []


def test_a_robot_without_actions_is_said_to_have_none(page):
    page.hold("\ue033")  # F3
    page.until(lambda: "⟦This robot reports no actions.⟧" in page.text("notices"), "nothing says why F3 does nothing")
    page.release("\ue033")


def test_a_slow_picture_is_followed_by_a_pause_twice_as_long_and_quick_ones_by_none(page):
    def drawn(*times):
        return page.driver.execute_script(DRAWS, list(times))

    assert drawn(10, 26, 42, 58, 74) == [10, 26, 42, 58, 74]
    # at 110 the browser can draw for the first time after the picture of 10: it took 100 ms, so 200 ms of pause
    assert drawn(10, 110, 200, 309, 310, 326) == [10, 310, 326]
    assert drawn(10, 2010, 2400, 2509, 2511) == [10, 2511], "no longer than half a second"


CONTROLS = """
const all = [...document.querySelectorAll("button, input, select")];
return all.filter((each) => !each.disabled && each.offsetParent).map((each) => each.id || each.textContent);
"""


def test_tab_walks_through_the_page_and_the_focus_is_seen(page):
    focus = "const f = document.activeElement; return [f.id || f.textContent, getComputedStyle(f).outlineStyle]"
    found = {}
    for _ in range(60):
        page.hold("\ue004")  # Tab
        page.release("\ue004")
        name, outline = page.driver.execute_script(focus)
        found.setdefault(name, outline)
    assert set(page.driver.execute_script(CONTROLS)) <= set(found)
    assert {found[name] for name in ("stop", "control", "follow")} == {"solid"}
