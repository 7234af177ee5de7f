# SPDX-License-Identifier: MIT
"""Node `teleop_web`: the operator's page in a browser joined to ROS."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

import rospy

from shellbot_common import SettingsError, package_file
from shellbot_teleop.action_client_node import ActionClient
from shellbot_teleop.action_model import ActionModel, ActionNews, ActionsSeen
from shellbot_teleop.command_line import argument_parser, load_settings
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Notice, TogglePause
from shellbot_teleop.errors import TeleopError
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.link_events import LinkEvent, LinkState
from shellbot_teleop.robot_monitor import LogLine, RobotMonitor
from shellbot_teleop.ros_link_node import RosLink
from shellbot_teleop.web import page_state, requests
from shellbot_teleop.web.access import Access, addresses
from shellbot_teleop.web.scene import SceneMaker
from shellbot_teleop.web.station import ActionRequest, Station

NO_TORNADO = (
    "teleop_web: tornado, which serves the page, is not installed.\n"
    "Run scripts/setup, or install the package python3-tornado.\n"
)
PORT = 8090
_WATCH_PERIOD = 0.02  # s
_STATE_PERIOD = 0.1  # s
_JOINTS_EVERY = 5  # states: a table that changes ten times a second cannot be read
_MARKS_EVERY = 2
_POSE_PERIOD = 0.05  # s
_PICTURE_PERIOD = 0.1  # s


class WebProgram:
    """Station, link and server, put together. Everything but the callbacks of ROS runs in Tornado's loop."""

    def __init__(self, config: TeleopConfig, keymap: Keymap, layout: str, access: Access) -> None:
        from tornado.ioloop import IOLoop, PeriodicCallback

        from shellbot_teleop.web import server

        self._config = config
        self._loop = IOLoop.current()
        self.monitor = RobotMonitor()
        # a page takes control, and not the program, whose page may not even be open
        self._link = RosLink("teleop_web", config.replace(armed=False), self.monitor, self._from_ros)
        self.model = CommandModel(config, keymap)
        self.station = Station(self.model, config, self._link.execute, self._perform, self._tell)
        if layout:
            self.model.set_layout(layout, time.monotonic())
        self._action_model = ActionModel()
        self._actions = ActionClient(
            lambda news: self._loop.add_callback(self._on_news, news), self._from_ros, config.service_timeout
        )
        self._scene = SceneMaker(self.monitor, config.stale_after)
        self._log = page_state.PageLog()
        self._pictures, self._states = -1, 0
        self.pages: Dict[int, Any] = {}
        folder = Path(package_file("shellbot_teleop", "web/index.html")).parent
        self.application = server.application(
            server.Parts(access, self.station, self._scene, self._greeting, self.pages), folder
        )
        self._timers = [
            PeriodicCallback(call, 1000.0 * period)
            for call, period in (
                (self.station.tick, config.period),
                (self.station.watch, _WATCH_PERIOD),
                (self._show_state, _STATE_PERIOD),
                (self._show_poses, _POSE_PERIOD),
                (self._show_picture, _PICTURE_PERIOD),
            )
        ]

    def run(self) -> None:
        """Serve until `end`."""
        self._link.start()
        for timer in self._timers:
            timer.start()
        try:
            self._loop.start()
        finally:
            self.station.end()
            self._actions.close()
            self._link.close()

    def end(self) -> None:
        """End `run`; may be called in a signal handler."""
        self._loop.add_callback_from_signal(self._loop.stop)

    # ------------------------------------------------------------------ from ROS

    def _from_ros(self, event: LinkEvent) -> None:
        self._loop.add_callback(self._observe, event)

    def _observe(self, event: LinkEvent) -> None:
        self.station.observe(event)
        if isinstance(event, LinkState):
            if event.connected:
                self._actions.join()
            if event.ended:
                self._loop.stop()

    def _on_news(self, news: ActionNews) -> None:
        self._action_model.observe(news, time.monotonic())
        if isinstance(news, ActionsSeen):
            self._send({"actions": page_state.action_list(self._action_model)})

    def _perform(self, request: ActionRequest) -> None:
        if isinstance(request, requests.RunAction):
            self._actions.run(request.name, request.values)
        elif isinstance(request, requests.PauseAction):
            self._actions.pause(request.paused)
        elif isinstance(request, TogglePause):
            self._actions.pause(self._action_model.state(time.monotonic()).phase != "paused")
        else:
            self._actions.cancel()

    # ------------------------------------------------------------------ to pages

    def _send(self, message: Dict[str, Any]) -> None:
        for page in list(self.pages.values()):
            page.send(message)

    def _tell(self, page: Optional[int], notice: Notice) -> None:
        """Show a sentence on the page that it answers, or on all; the log of every page has it."""
        self._log.add(LogLine(notice.level, "page", notice.text, time.time()))
        for number, live in list(self.pages.items()):
            if page in (None, number):
                live.notify(notice)

    def _greeting(self) -> List[Dict[str, Any]]:
        return [
            {"offered": page_state.offered(self.model)},
            {"actions": page_state.action_list(self._action_model)},
            {"log": self._log.sent},
        ]

    def _show_state(self) -> None:
        for line in self.monitor.take_log():
            self._log.add(line)
        fresh = self._log.take()
        self._look()
        if not self.pages:
            return
        self._states += 1
        t = time.monotonic()
        state = page_state.robot_state(self.station, self.monitor, self._action_model, self._config.stale_after, t)
        state["offered"] = page_state.offered(self.model)
        scene = self._scene.scene
        state["scene"] = {"number": scene.number if scene is not None else 0, "failure": self._scene.failure}
        rows = page_state.joint_list(self.monitor, self._config.stale_after, t) if self._is_due(_JOINTS_EVERY) else None
        marks = self._scene.marks(t, self.model.twist) if self._is_due(_MARKS_EVERY) else None
        for number, page in list(self.pages.items()):
            message = {**state, "control": page_state.control_state(number, self.station.pages, self.model)}
            if rows is not None and self.station.pages.shows("joints", number):
                message["joint_rows"] = rows
            if marks is not None and self.station.pages.shows("marks", number):
                message["marks"] = marks
            changed = page_state.changes(page.shown, message)
            page.shown.update(changed)
            if fresh:
                changed["log"] = fresh
            if changed:
                page.send(changed)

    def _is_due(self, every: int) -> bool:
        """Tell whether it is time for what is sent with every so many states."""
        return self._states % every == 0

    def _look(self) -> None:
        """Receive only what a page shows."""
        pages = self.station.pages
        self._link.request("camera", pages.shows("camera"))
        self._link.request("robot", pages.shows("marks"))

    def _show_poses(self) -> None:
        self._scene.refresh()  # also without pages: it holds the interpreter up, which a page that drives would feel
        if not self.pages:
            return
        poses = self._scene.poses(time.monotonic())
        for page in list(self.pages.values()):
            if poses and not page.is_behind:
                page.send(b"P" + poses)

    def _show_picture(self) -> None:
        """Send the camera's newest picture to the pages that show it."""
        watching = [page for number, page in self.pages.items() if self.station.pages.shows("camera", number)]
        picture = self.monitor.picture
        if not watching or picture is None or self.monitor.picture_count == self._pictures:
            return
        self._pictures = self.monitor.picture_count
        data = b"C" + page_state.jpeg(picture)
        for page in watching:
            if not page.is_behind:
                page.send(data)


def main() -> int:
    """Run the node; returns the exit status."""
    parser = argument_parser("The operator's page in a browser.")
    parser.add_argument(
        "--host", default="localhost", help="address to serve on (default: localhost; others need the token)"
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"port (default: {PORT}; 0: a free one)")
    arguments = parser.parse_args(rospy.myargv(sys.argv)[1:])
    try:
        import tornado  # noqa: F401
    except ImportError:
        sys.stderr.write(NO_TORNADO)
        return 3
    from shellbot_teleop.web.server import serve

    access = Access(arguments.host)
    try:
        config, keymap = load_settings(arguments)
        if arguments.layout and arguments.layout not in keymap.layout_names:
            raise SettingsError(f"--layout {arguments.layout}: choose from {', '.join(keymap.layout_names)}")
        program = WebProgram(config, keymap, arguments.layout, access)
        port = serve(program.application, arguments.host, arguments.port)
    except (SettingsError, TeleopError) as error:
        sys.stderr.write(f"teleop_web: {error}\n")
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: program.end())
    # A key press must not wait 5 ms until a ROS thread gives the interpreter away.
    sys.setswitchinterval(0.0005)
    for address in addresses(arguments.host, port, access.token):
        sys.stdout.write(f"teleop_web: open {address}\n")
    sys.stdout.flush()
    program.run()
    return 0
