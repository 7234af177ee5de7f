# SPDX-License-Identifier: MIT
"""One dynamic_reconfigure server per joint, where ros_control has it: `<controller>/<joint>/pid`."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import threading
from typing import Any, Callable, Dict, List, Mapping

import rospy
from dynamic_reconfigure.server import Server

from shellbot_simulator.cfg import PidConfig
from shellbot_simulator.core.errors import CommandError
from shellbot_simulator.core.servo import PidGains


class PidServers:
    """The servers of all joints; changes are collected here until the physics loop fetches them.

    Parameters
    ----------
    controller : str
        Name of the controller, relative to the namespace of the node.
    gains : mapping of str to PidGains
        Joint to its initial gains.
    """

    def __init__(self, controller: str, gains: Mapping[str, PidGains]) -> None:
        self._lock = threading.Lock()
        self._current = dict(gains)
        self._changed: Dict[str, PidGains] = {}
        # gains are in force before they stand in the parameters: their answer waits for no master
        self._writer = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        # each server registers three names at the master and writes six parameters: in turn that would take seconds
        with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
            starts = [pool.submit(self._start, controller, joint) for joint in gains]
            self._servers: List[Server] = [start.result() for start in starts]

    def take_changes(self) -> Dict[str, PidGains]:
        """Return the gains changed since the last call, by joint."""
        with self._lock:
            changed, self._changed = self._changed, {}
            return changed

    def _start(self, controller: str, joint: str) -> Server:
        namespace = rospy.resolve_name(f"{controller}/{joint}/pid")
        found = rospy.get_param(namespace, {})  # what else is there, such as i_clamp, stays: ros_control leaves it, too
        written = {**(found if isinstance(found, dict) else {}), **dataclasses.asdict(self._current[joint])}
        rospy.set_param(namespace, written)
        return _Server(lambda config, _level: self._on_change(joint, config), namespace, written, self._write)

    def _write(self, name: str, value: Any) -> None:
        self._writer.submit(rospy.set_param, name, value)

    def _on_change(self, joint: str, config: Any) -> Any:
        with self._lock:
            gains = _gains(config)
            if gains != self._current[joint]:
                self._current[joint] = gains
                self._changed[joint] = gains
        return config


class _Server(Server):
    """Refuses in words what is out of range, where the library clamps without a word, and what is no number.

    The library writes all parameters of a page at each change before it answers, six calls to the master for each of
    36 joints, which the last joint has to wait for; this one has `write` do it, for what differs from `written`.
    """

    def __init__(
        self,
        callback: Callable[[Any, int], Any],
        namespace: str,
        written: Dict[str, Any],
        write: Callable[[str, Any], None],
    ) -> None:
        self._written, self._write = dict(written), write
        super().__init__(PidConfig, callback, namespace=namespace)

    def _copy_to_parameter_server(self) -> None:
        for name in self.type.defaults:
            if self._written.get(name) != self.config[name]:
                self._write(self.ns + name, self.config[name])
                self._written[name] = self.config[name]

    def update_configuration(self, changes: Dict[str, Any]) -> Any:
        """Take changes, all or none."""
        try:
            _gains({**self.config, **changes})
        except CommandError as error:
            rospy.logerr(f"{self.ns.strip('/')}: {error}; nothing changed")
            changes = {}
        return super().update_configuration(changes)


def _gains(config: Mapping[str, Any]) -> PidGains:
    return PidGains(**{field.name: config[field.name] for field in dataclasses.fields(PidGains)})
