# SPDX-License-Identifier: MIT
"""dynamic_reconfigure client of a gains page: waits for the server, comes back when it restarts.

All calls that may block run in this client's own thread; the callbacks come from there or from rospy's threads.
"""

from __future__ import annotations

import queue
import threading
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

import rospy
from dynamic_reconfigure import DynamicReconfigureCallbackException, DynamicReconfigureParameterException
from dynamic_reconfigure.client import Client

from shellbot_teleop.gains_model import GainGroup, groups_from_description
from shellbot_teleop.texts import tr

Value = Union[float, str]
_PROBE_PERIOD = 2.0  # s between two looks whether the server still answers
_PROBE_TIMEOUT = 1.0  # s


class GainsClient:
    """Client of one dynamic_reconfigure server.

    Parameters
    ----------
    server : str
        Name of the server, such as ``gains``.
    on_description : callable
        Called with the groups (tuple of GainGroup) when the server tells them.
    on_values : callable
        Called with all values (dict of name to number or choice) on each change, whoever made it.
    on_state : callable
        Called with (available, text) on each change.
    """

    def __init__(
        self,
        server: str,
        on_description: Callable[[Tuple[GainGroup, ...]], None],
        on_values: Callable[[Dict[str, Value]], None],
        on_state: Callable[[bool, str], None],
    ) -> None:
        self._server = server
        self._on_description, self._on_values, self._on_state = on_description, on_values, on_state
        self._changes: queue.Queue[Dict[str, Value]] = queue.Queue()
        self._ending, self._forgetting = threading.Event(), threading.Event()
        self._client: Optional[Client] = None
        self._thread = threading.Thread(target=self._run, name="gains_client", daemon=True)

    def join(self) -> None:
        """Look for the server, at a restarted master anew; does not wait. The node must be initialised."""
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._forgetting.set()
            self._changes.put({})

    def close(self) -> None:
        """Stop; does not wait."""
        self._ending.set()
        self._changes.put({})

    def change(self, values: Mapping[str, Value]) -> None:
        """Set values on the server; the answer comes back through `on_values`, a refusal through `on_state`."""
        self._changes.put(dict(values))

    def _run(self) -> None:
        available: Optional[bool] = None
        while not self._ending.is_set() and not rospy.is_shutdown():
            if self._forgetting.is_set():
                self._forgetting.clear()
                self._leave()
                available = None
            answers = self._probe()
            if answers != available:
                available = answers
                self._on_state(
                    answers,
                    tr("Connected to {name}.", name=self._server)
                    if answers
                    else tr("Waiting for the node {name}.", name=self._server),
                )
            if answers and self._client is None:
                try:
                    self._client = Client(
                        self._server,
                        timeout=_PROBE_TIMEOUT,
                        config_callback=self._values,
                        description_callback=self._description,
                    )
                except (rospy.ROSException, OSError):  # it ended after it had answered
                    continue
                self._values(self._client.config)  # it may have come before Client() returned
            if not self._send_until_probe():
                self._ending.wait(_PROBE_PERIOD)  # while the reason is shown
                available = None
        self._leave()

    def _leave(self) -> None:
        """Leave the topics; rospy registers none at a restarted master of which it has a subscriber left."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _probe(self) -> bool:
        try:
            rospy.wait_for_service(f"{self._server}/set_parameters", timeout=_PROBE_TIMEOUT)
        except (rospy.ROSException, OSError):
            return False
        return True

    def _send_until_probe(self) -> bool:
        """Send changes, or wait for the next look; return whether they were taken."""
        try:
            values = self._changes.get(timeout=_PROBE_PERIOD)
            while not self._changes.empty():  # only the last position of a slider counts
                values.update(self._changes.get_nowait())
        except queue.Empty:
            return True
        if not values:
            return True
        if self._client is None:
            self._on_state(False, tr("{name} is not there: nothing was changed.", name=self._server))
            return False
        try:
            self._client.update_configuration(dict(values))
        except (
            DynamicReconfigureCallbackException,
            DynamicReconfigureParameterException,
            rospy.ROSException,
            OSError,
        ) as error:
            text = tr(
                "{name} did not take {values}: {error}. Trying to reach it again.",
                name=self._server,
                values=", ".join(values),
                error=error,
            )
            self._on_state(False, text)
            return False
        return True

    def _description(self, _flat: Any) -> None:
        client = self._client
        if client is not None and client.group_description:
            self._on_description(groups_from_description(client.group_description))

    def _values(self, config: Optional[Mapping[str, Any]]) -> None:
        client = self._client
        if client is None or not config:
            return
        if client.group_description:
            self._on_description(groups_from_description(client.group_description))
        self._on_values(
            {
                name: value if isinstance(value, str) else float(value)
                for name, value in config.items()
                if isinstance(value, (int, float, str))
            }
        )
