# SPDX-License-Identifier: MIT
"""The page over HTTP and a websocket. Tornado's loop runs in the program's main thread, and everything here in it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Union

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from shellbot_teleop.effects import Notice
from shellbot_teleop.errors import TeleopError
from shellbot_teleop.palette import page_colours
from shellbot_teleop.texts import tr
from shellbot_teleop.web.access import Access, host_and_port
from shellbot_teleop.web.page_texts import script, translated
from shellbot_teleop.web.scene import SceneMaker
from shellbot_teleop.web.station import Station

THREE = Path("/usr/share/javascript/three")  # of the distribution's package
NO_THREE = tr(
    "three.js is not installed on the robot, so there is no 3D view: run scripts/setup (package libjs-three)."
)
_FILES = ("page.css", "page.js", "keys.js", "stick.js", "tabs.js", "robot.js", "texts.js")
_LIBRARIES = {"three.js": "build/three.min.js", "orbit.js": "examples/js/controls/OrbitControls.js"}
_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript; charset=utf-8"}
_LONGEST_MESSAGE = 8192  # bytes
_PING = 5.0  # s between two tests whether a page that sends nothing is still there

_MOST_UNSENT = 4

Message = Union[str, bytes]


class PortError(TeleopError):
    """The page cannot be served there."""


class Parts(NamedTuple):
    """What the handlers need."""

    access: Access
    station: Station
    scene: SceneMaker
    greet: Callable[[], List[Dict[str, Any]]]  #: What a new page gets first
    live: Dict[int, Live]  #: The open pages


def application(parts: Parts, folder: Path) -> Application:
    """Return the web application; `folder` holds the page's own files."""
    with_parts = {"parts": parts}
    files: List[Any] = [(f"/{name}", File, {**with_parts, "file": folder / name}) for name in _FILES]
    files.append(("/", File, {**with_parts, "file": folder / "index.html"}))
    files += [(f"/{path}", File, {**with_parts, "file": THREE / name}) for path, name in _LIBRARIES.items()]
    return Application(
        [
            *files,
            ("/colours.css", Colours, with_parts),
            ("/catalogue.js", Texts, {**with_parts, "file": folder}),
            ("/scene.json", SceneText, with_parts),
            ("/scene.bin", SceneBlock, with_parts),
            ("/live", Live, with_parts),
            ("/.*", Nothing, with_parts),
        ],
        compress_response=True,
        websocket_max_message_size=_LONGEST_MESSAGE,
        websocket_ping_interval=_PING,
        log_function=lambda handler: None,
    )


def serve(app: Application, host: str, port: int) -> int:
    """Listen; return the port, which is a free one for 0.

    Raises
    ------
    PortError
        The port is in use, or the address not one of this machine.
    """
    if not 0 <= port < 2**16:
        raise PortError(f"--port {port}: choose one from 1 to 65535, or 0 for a free one")
    try:
        sockets = bind_sockets(port, host)
    except OSError as error:
        raise PortError(
            f"cannot serve the page on {host}, port {port}: {error}; choose another --port, or --host"
        ) from error
    HTTPServer(app).add_sockets(sockets)
    return int(sockets[0].getsockname()[1])


class Guarded(RequestHandler):
    """Answers only who may."""

    def initialize(self, parts: Parts, file: Path = Path()) -> None:  # noqa: B008  a path is never changed
        """Tornado's hook."""
        self.parts, self.file = parts, file

    def prepare(self) -> None:
        """Tornado's hook: refuse before anything else; remember the token for the page's other requests."""
        shown = self.get_query_argument("token", "") or self.get_cookie(self._cookie, "")
        refused = self.parts.access.refusal(self.request.host, shown or "")
        if refused:
            self.set_status(403)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(f"{refused}\n")
        elif self.parts.access.token:
            self.set_cookie(self._cookie, self.parts.access.token, httponly=True, samesite="Strict")

    @property
    def _cookie(self) -> str:
        """Name of the cookie; those of all ports of a machine are in one jar."""
        return f"shellbot_{host_and_port(self.request.host)[1]}"

    def set_default_headers(self) -> None:
        """Tornado's hook: no other site may frame the page, or clicks on that site could drive the robot."""
        self.set_header(
            "Content-Security-Policy",
            "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' blob: data:; "
            "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
        )
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-cache")

    def write_error(self, status_code: int, **_: Any) -> None:
        """Tornado's hook."""
        self.finish(f"{status_code}: {self._reason}\n")


class File(Guarded):
    """A file of the page or of a library."""

    def get(self) -> None:
        """Tornado's hook."""
        if not self.file.is_file():
            self.set_status(404)
            self.finish(f"{NO_THREE}\n")
            return
        self.set_header("Content-Type", _TYPES[self.file.suffix])
        content = self.file.read_text(encoding="utf-8")
        self.finish(translated(content) if self.file.suffix == ".html" else content)


class Colours(Guarded):
    """The colours of the style sheet."""

    def get(self) -> None:
        """Tornado's hook."""
        self.set_header("Content-Type", _TYPES[".css"])
        self.finish(page_colours())


class Texts(Guarded):
    """What the page's scripts say, in the operator's language."""

    def get(self) -> None:
        """Tornado's hook."""
        self.set_header("Content-Type", _TYPES[".js"])
        self.finish(script(self.file))


class SceneText(Guarded):
    """The robot's shapes."""

    def get(self) -> None:
        """Tornado's hook."""
        scene = self.parts.scene.scene
        if scene is None:
            self.set_status(404)
            self.finish(f"{self.parts.scene.failure or tr('No robot is known yet.')}\n")
            return
        self.finish(scene.text)


class SceneBlock(Guarded):
    """Their triangles."""

    def get(self) -> None:
        """Tornado's hook."""
        scene = self.parts.scene.scene
        self.set_header("Content-Type", "application/octet-stream")
        self.finish(scene.block if scene is not None else b"")


class Nothing(Guarded):
    """Everything else."""

    def get(self) -> None:
        """Tornado's hook."""
        self.set_status(404)
        self.finish(tr("There is nothing here; the page is at /.") + "\n")


class Live(WebSocketHandler, Guarded):
    """An open page. Tornado itself refuses a websocket that another site's page opens."""

    _numbers = itertools.count(1)

    def open(self, *_: str, **__: str) -> None:
        """Tornado's hook: the page is there."""
        self.number = next(self._numbers)
        self.shown: Dict[str, Any] = {}  # the state that was sent to the page last
        self._unsent = 0
        self.set_nodelay(True)
        self.parts.live[self.number] = self
        self.parts.station.open(self.number, self.request.remote_ip or "")
        for message in self.parts.greet():
            self.send(message)

    def on_message(self, message: Message) -> None:
        """Tornado's hook."""
        self.parts.station.receive(self.number, message)

    def on_close(self) -> None:
        """Tornado's hook: closed, or the connection broke."""
        self.parts.live.pop(self.number, None)
        self.parts.station.close(self.number)

    @property
    def is_behind(self) -> bool:
        """Whether several messages are not sent yet: such a page gets no pictures on top."""
        return self._unsent > _MOST_UNSENT

    def send(self, message: Union[Dict[str, Any], bytes]) -> None:
        """Send JSON or bytes; a page that has just gone is none."""
        data: Message = message if isinstance(message, bytes) else json.dumps(message, allow_nan=False)
        try:
            sending: Any = self.write_message(data, binary=isinstance(data, bytes))
        except WebSocketClosedError:
            return
        self._unsent += 1
        sending.add_done_callback(self._on_sent)

    def _on_sent(self, sending: Any) -> None:
        self._unsent -= 1
        if not sending.cancelled():
            sending.exception()  # `on_close` tells of it, too

    def notify(self, notice: Notice) -> None:
        """Show a sentence."""
        self.send({"notice": {"level": notice.level, "text": notice.text}})
