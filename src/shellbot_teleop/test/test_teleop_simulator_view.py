# SPDX-License-Identifier: MIT
"""Keys pressed in the simulator's window, on a real X server."""

from __future__ import annotations

import select

from Xlib import X
from Xlib.display import Display

from shellbot_teleop.qt.simulator_view import WINDOW_NAME, SimulatorView


def test_a_release_that_comes_while_keys_are_sent_on_is_not_forgotten(setup, teleop_display, teleop_keyboard):
    display = Display(teleop_display)
    screen = display.screen()
    viewer = screen.root.create_window(0, 0, 100, 100, 0, screen.root_depth)
    viewer.set_wm_class(WINDOW_NAME, WINDOW_NAME)
    viewer.map()
    display.sync()
    viewer.set_input_focus(X.RevertToParent, X.CurrentTime)
    display.sync()
    view = SimulatorView(setup.window)
    view.start()
    try:
        assert setup.until(lambda: view.has_focus and not setup.window.isActiveWindow())
        connection, released = view._display, []
        flush = connection.flush

        def flush_late():
            if not released:
                teleop_keyboard.release("w")
                released.append(True)
                # Xlib reads what has come while it sends: the release, and the focus events of the grab that ends
                teleop_keyboard.window("")
                assert select.select([connection.fileno()], [], [], 10.0)[0]
            flush()

        teleop_keyboard.press("w")
        connection.flush = flush_late
        assert setup.until(lambda: setup.twists, 20.0), "no key arrived"
        assert setup.until(lambda: not setup.model.held, 20.0), "the robot would walk on"
    finally:
        teleop_keyboard.release("w")
        view.close()
        display.close()
