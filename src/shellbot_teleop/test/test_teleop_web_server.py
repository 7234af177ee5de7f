# SPDX-License-Identifier: MIT
"""The page's server over real sockets: who is let in, what a page gets, what happens when its connection breaks."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from shellbot_common import package_file
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.effects import ZERO_TWIST, PublishTwist
from shellbot_teleop.link_events import LinkState, OperatorSeen
from shellbot_teleop.palette import PALETTES
from shellbot_teleop.robot_monitor import RobotMonitor
from shellbot_teleop.web import server
from shellbot_teleop.web.access import Access
from shellbot_teleop.web.scene import Scene, SceneMaker
from shellbot_teleop.web.station import Station

WAIT = 60.0  # s
PAGE = package_file("shellbot_teleop", "web/index.html")


class Served:
    """A server in a thread of its own, and what the station had to do."""

    def __init__(self, config, keymap, access):
        self.done, self.live = [], {}
        self.changed = threading.Condition()
        self.station = Station(CommandModel(config, keymap), config, self._keep, self._keep, self._tell)
        self.station.observe(LinkState(True, "connected"))
        self.scene = SceneMaker(RobotMonitor(), 1.0)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(access,), daemon=True)
        self._thread.start()
        assert self._ready.wait(WAIT)

    def _run(self, access):
        asyncio.set_event_loop(asyncio.new_event_loop())
        self.loop = IOLoop.current()
        parts = server.Parts(access, self.station, self.scene, lambda: [{"hello": 1}], self.live)
        self.port = server.serve(server.application(parts, PAGE.parent), "localhost", 0)
        self._ready.set()
        self.loop.start()

    def _keep(self, effect):
        with self.changed:
            self.done.append(effect)
            self.changed.notify_all()

    def _tell(self, page, notice):
        for number, live in list(self.live.items()):
            if page in (None, number):
                live.notify(notice)

    def wait(self, condition):
        with self.changed:
            return self.changed.wait_for(condition, WAIT)

    @property
    def twists(self):
        return [effect for effect in self.done if isinstance(effect, PublishTwist)]

    def get(self, path, **headers):
        """Return status, body and headers."""
        request = urllib.request.Request(f"http://localhost:{self.port}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=WAIT) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read(), error.headers

    def close(self):
        self.loop.add_callback(self.loop.stop)
        self._thread.join(WAIT)


@pytest.fixture
def serve(teleop_config, teleop_keymap):
    made = []

    def make(access):
        made.append(Served(teleop_config, teleop_keymap, access))
        return made[-1]

    yield make
    for served in made:
        served.close()


async def connect(served, path="/live", **headers):
    url = f"ws://localhost:{served.port}{path}"
    return await asyncio.wait_for(websocket_connect(HTTPRequest(url, headers=headers)), WAIT)


async def read_until(connection, words):
    while True:
        message = await asyncio.wait_for(connection.read_message(), WAIT)
        assert message is not None, "the server closed the connection"
        if isinstance(message, str) and words in message:
            return json.loads(message)


def test_the_page_and_its_files_are_served_and_may_not_be_framed(serve):
    served = serve(Access("localhost"))
    for path in ("/", *(f"/{name}" for name in server._FILES)):
        status, body, headers = served.get(path)
        assert status == 200 and b"SPDX-License-Identifier: MIT" in body
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    status, body, _ = served.get("/three.js")
    assert (status, b"three" in body.lower()) == (200 if server.THREE.is_dir() else 404, True)
    assert served.get("/../config/teleop.yaml")[0] == 404
    for host in ("evil.example", "[::1", "a;b=c"):
        assert served.get("/", Host=host)[0] == 403


def test_the_colours_of_the_page_are_those_of_the_window(serve):
    status, body, headers = serve(Access("localhost")).get("/colours.css")
    assert status == 200 and headers["Content-Type"] == "text/css"
    dark, light = body.decode().splitlines()
    for text, palette in ((dark, PALETTES["dark"]), (light, PALETTES["light"])):
        assert f"--on-accent: {palette.on_accent};" in text and f"--background: {palette.background};" in text
    names = set(re.findall(r"(--[a-z-]+):", dark))
    used = set(re.findall(r"var\((--[a-z-]+)\)", (PAGE.parent / "page.css").read_text(encoding="utf-8")))
    assert used and used <= names


def test_a_missing_library_is_said(serve, monkeypatch, tmp_path):
    monkeypatch.setattr(server, "THREE", tmp_path)
    status, body, _ = serve(Access("localhost")).get("/three.js")
    assert status == 404 and b"run scripts/setup" in body


def test_without_the_token_nothing_is_served(serve):
    access = Access("0.0.0.0")
    served = serve(access)
    for path in (
        "/",
        "/page.js",
        "/scene.json",
        "/scene.bin",
        "/nothing",
        "/?token=wrong",
        "/live",
        "/live?token=wrong",
    ):
        status, body, headers = served.get(path)
        assert status == 403 and b"token" in body and "Set-Cookie" not in headers, path
    status, _, headers = served.get(f"/?token={access.token}")
    assert status == 200
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "Strict" in cookie
    assert served.get("/page.js", Cookie=cookie.split(";")[0])[0] == 200

    for host in ("[::1", "a;b=c", "robot:8090;x", "robot:99999999"):  # what may stand in a header, but is no host
        status, _, headers = served.get(f"/?token={access.token}", Host=host)
        assert (status, headers["Set-Cookie"].split("=")[0]) == (200, "shellbot_0"), host

    async def open_pages():
        for path in ("/live", "/live?token=wrong"):
            with pytest.raises(HTTPClientError, match="403"):
                await connect(served, path)
        await read_until(await connect(served, f"/live?token={access.token}"), "hello")
        await read_until(await connect(served, Cookie=cookie.split(";")[0]), "hello")

    asyncio.run(open_pages())


def test_another_sites_page_may_not_open_a_connection(serve):
    served = serve(Access("localhost"))

    async def open_page():
        with pytest.raises(HTTPClientError, match="403"):
            await connect(served, Origin="http://evil.example")
        await read_until(await connect(served, Origin=f"http://localhost:{served.port}"), "hello")

    asyncio.run(open_page())


@pytest.mark.parametrize("way", ["closed", "aborted", "too long a message"])
def test_a_connection_that_ends_while_a_key_is_held_stops_the_robot(serve, way):
    served = serve(Access("localhost"))

    async def drive():
        page = await connect(served)
        await page.write_message('{"type": "do", "action": "control.take"}')
        await asyncio.get_running_loop().run_in_executor(None, served.wait, lambda: served.done)
        served.loop.add_callback(served.station.observe, OperatorSeen("teleop_web", True))
        await read_until(page, "You are in control")
        await page.write_message("what?")
        await read_until(page, "no request")
        await page.write_message('{"type": "press", "key": "w"}')
        await asyncio.get_running_loop().run_in_executor(None, served.wait, lambda: served.twists)
        if way == "closed":
            page.close()
        elif way == "aborted":
            page.protocol.stream.close()
        else:
            await page.write_message("x" * 100000)
        await asyncio.get_running_loop().run_in_executor(
            None, served.wait, lambda: served.twists[-1] == PublishTwist(0.0, 0.0, 0.0)
        )

    asyncio.run(drive())
    assert [twist == ZERO_TWIST for twist in served.twists] == [False, True]


def test_the_robots_shapes_are_served_when_they_are_known(serve):
    served = serve(Access("localhost"))
    assert served.get("/scene.json")[:2] == (404, b"No robot is known yet.\n")
    served.scene.scene = Scene(1, {"number": 1, "shapes": []}, np.arange(3, dtype="<f4").tobytes())
    assert json.loads(served.get("/scene.json")[1]) == {"number": 1, "shapes": []}
    assert served.get("/scene.bin")[1] == served.scene.scene.block


def test_a_port_in_use_is_said(serve):
    served = serve(Access("localhost"))
    with pytest.raises(server.PortError, match=f"port {served.port}.*choose another --port"):
        server.serve(None, "localhost", served.port)
    with pytest.raises(server.PortError, match="from 1 to 65535"):
        server.serve(None, "localhost", 70000)
