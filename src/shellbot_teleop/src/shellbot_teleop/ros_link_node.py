# SPDX-License-Identifier: MIT
"""The operator's link to ROS, shared by window and terminal.

It looks for the ROS master in a thread of its own, so a program starts without roscore and connects when it appears,
also after roscore was restarted. Effects of the command model are carried out at once; services run in threads, so that
no missing node can block a key.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Set

import rosgraph
import rospy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import BatteryState, Image, JointState
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

from shellbot_common import ImageError, ProfileError, RobotProfile
from shellbot_common.robot_profile import PARAMETER
from shellbot_msgs.msg import Contacts, Footsteps, Mode, ReferenceStatus, ServoStates, UpperShells, Walkspace
from shellbot_teleop import teleop_conversions as conversions
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.console_node import silence_console
from shellbot_teleop.effects import Effect, Notice
from shellbot_teleop.errors import LimitsError
from shellbot_teleop.joint_history import COMMANDED, MEASURED
from shellbot_teleop.link_events import BodyPoseSeen, LinkEvent, LinkState, OperatorSeen, StoppedSeen, UpperShellsSeen
from shellbot_teleop.node_name_node import free_name
from shellbot_teleop.robot_monitor import JointsInfo, ModeInfo, RobotMonitor
from shellbot_teleop.ros_commands_node import RosCommands, own_name
from shellbot_teleop.texts import tr

_POLL_PERIOD = 1.0  # s between two looks at the master
_SHOWN_PERIOD = 0.03  # s; converting all 100 messages a second would only take the key presses' time
_SILENCE = 1.0  # s without joint_states in which the robot may have been started anew, with another description
_ODOM = conversions.ODOM_FRAME.encode()
_FLUSH = 0.15  # s for rospy's queues to write the last zero before the node goes


class RosLink:
    """Publishers, subscribers and services of the operator side.

    Parameters
    ----------
    name : str
        Name of the node.
    config : TeleopConfig
        Settings.
    monitor : RobotMonitor
        Takes what arrives often (odometry, contacts, pictures, log).
    on_event : callable
        Called with a LinkEvent from ROS threads, for what must be acted on.
    console : bool
        False keeps rospy's messages off the terminal that we draw on; the log file and /rosout get them still.
    """

    def __init__(
        self,
        name: str,
        config: TeleopConfig,
        monitor: RobotMonitor,
        on_event: Callable[[LinkEvent], None],
        console: bool = True,
    ) -> None:
        self._name = name
        self._monitor = monitor
        self._on_event, self._console, self._armed = on_event, console, config.armed
        self._connections = 0
        self._ending = threading.Event()
        self._lock = threading.RLock()
        # a program that runs several plugins has a node already, which is not ours to end
        self._is_guest = rospy.core.is_initialized()
        self._initialised, self._connected = self._is_guest, False
        self._master_pid: Optional[int] = None  # of the master at which the topics were set up
        self._subscribers: List[rospy.Subscriber] = []
        self._commands = RosCommands(config.service_timeout, on_event, self._report_throttled)
        self._seen: Set[str] = set()  # views that are shown
        self._on_demand: Dict[str, List[rospy.Subscriber]] = {}
        self._last_trouble: Dict[str, float] = {}
        self._watcher = threading.Thread(target=self._watch, name="master_watch", daemon=True)

    # ------------------------------------------------------------------- life

    def start(self) -> None:
        """Begin to look for the master."""
        self._watcher.start()

    def close(self) -> None:
        """Write what is queued, give control up and leave the graph; can be called twice."""
        if self._ending.is_set():
            return
        self._ending.set()
        if self._initialised:
            self._commands.give_up()
            time.sleep(_FLUSH)
            if self._is_guest:
                self._disconnect()
            else:
                rospy.signal_shutdown("the operator left")

    @property
    def connected(self) -> bool:
        """True while the master answers and topics are set up."""
        return self._connected

    def _watch(self) -> None:
        master = rosgraph.Master(f"/{self._name}_watch")
        is_reported_missing = False
        while not self._ending.is_set():
            known = self._known_by(master)
            if known is None:
                if not is_reported_missing:
                    is_reported_missing, self._connected = True, False
                    text = tr(
                        "Waiting for the ROS master at {address}: start scripts/sim, scripts/onboard or roscore; it "
                        "connects as soon as it answers.",
                        address=rosgraph.get_master_uri(),
                    )
                    self._on_event(LinkState(False, text))
            elif not (known and self._connected):
                is_reported_missing = False
                self._connect(known, master)
            if self._initialised and rospy.is_shutdown() and not self._ending.is_set():
                text = tr("ROS ended this node (another one with its name, or rosnode kill).")
                self._on_event(LinkState(False, text, ended=True))
                return
            self._ending.wait(_POLL_PERIOD)

    def _known_by(self, master: rosgraph.Master) -> Optional[bool]:
        """Tell whether the master knows our topics, which a restarted one does not; None while there is none.

        A restarted one may know the node: by what another part of it registers before we look.
        """
        try:
            master.lookupNode(rospy.get_name() if self._initialised else f"/{self._name}")
            return self._initialised and master.getPid() == self._master_pid
        except rosgraph.MasterError:
            return False
        except OSError:
            return None

    def _connect(self, known: bool, master: rosgraph.Master) -> None:
        try:
            if not self._initialised:
                name, argv = free_name(master, self._name, sys.argv)
                rospy.init_node(name, disable_signals=True, argv=argv)
                self._initialised = True
                if not self._console:
                    silence_console()
            with self._lock:
                if not known:
                    pid = master.getPid()
                    self._disconnect()
                    self._monitor.forget_robot()
                    self._on_event(OperatorSeen("", False))  # until this robot says otherwise: monitor mode
                    self._set_up_topics()
                    self._ask_for_control()
                    self._master_pid = pid
                self._connected = True
            self._on_event(LinkState(True, tr("Connected to {name}.", name=rosgraph.get_master_uri())))
        except (rospy.ROSException, OSError) as error:
            self._on_event(LinkState(False, tr("Cannot join the ROS graph: {error}. Trying again.", error=error)))

    def _ask_for_control(self) -> None:
        """Take control of each robot as soon as it gives it, where the settings say so."""
        self._connections += 1
        number = self._connections
        if self._armed:
            self._commands.take_when_offered(lambda: self._ending.is_set() or self._connections != number)

    def _on_operator(self, message: String) -> None:
        self._commands.in_control = message.data == own_name()
        self._on_event(OperatorSeen(message.data, self._commands.in_control))

    def _disconnect(self) -> None:
        seen = itertools.chain.from_iterable(self._on_demand.values())
        for endpoint in [*self._subscribers, *self._commands.publishers.values(), *seen]:
            with contextlib.suppress(OSError):  # the old master may be gone and need not know
                endpoint.unregister()
        self._subscribers, self._commands.publishers, self._on_demand = [], {}, {}

    def _set_up_topics(self) -> None:
        self._commands.advertise()

        def subscriber(name: str, kind: Any, callback: Callable[[Any], None], queue_size: int = 1) -> None:
            self._subscribers.append(rospy.Subscriber(name, kind, callback, queue_size=queue_size, tcp_nodelay=True))

        subscriber("mode", Mode, lambda message: self._on_mode(conversions.mode_info(message)))
        subscriber("walkspace", Walkspace, self._on_walkspace)
        subscriber("stopped", Bool, lambda message: self._on_event(StoppedSeen(bool(message.data))))
        subscriber("operator", String, self._on_operator, queue_size=5)
        subscriber("odom", Odometry, self._store("odom", conversions.odom_info))
        subscriber("foot_contacts", Contacts, self._store("contacts", conversions.contacts_info))
        subscriber("reference_status", ReferenceStatus, self._store("status", conversions.status_info))
        subscriber("joint_states", JointState, self._store("joints", self._joints))
        subscriber("joint_targets", JointState, self._store("targets", conversions.joints_info))
        subscriber("battery_state", BatteryState, self._store("battery", conversions.battery_info))
        subscriber("servo_states", ServoStates, self._store("servos", conversions.servos_info))
        subscriber("body_pose", Pose, lambda message: self._from_others(message, BodyPoseSeen, conversions.pose_vector))
        subscriber(
            "upper_shells",
            UpperShells,
            lambda message: self._from_others(
                message, UpperShellsSeen, lambda shells: (shells.sphere_centre_height, shells.opening_angle)
            ),
        )
        subscriber("/tf", rospy.AnyMsg, self._on_transforms, queue_size=5)
        subscriber("/diagnostics", DiagnosticArray, self._on_diagnostics, queue_size=20)
        subscriber("/rosout_agg", Log, self._on_log, queue_size=100)
        for view in self._seen:
            self._on_demand[view] = self._subscribe(view)

    # ---------------------------------------------------------------- incoming

    def _store(self, field: str, convert: Callable[[Any, float], Any]) -> Callable[[Any], None]:
        """Return a callback that keeps the newest message for the views, as often as they can show it."""
        last = [-1.0]

        def keep(message: Any) -> None:
            now = time.monotonic()
            if now - last[0] >= _SHOWN_PERIOD:
                last[0] = now
                setattr(self._monitor, field, convert(message, now))

        return keep

    def _joints(self, message: JointState, now: float) -> JointsInfo:
        """Return the measured joints; other ones, and those after a silence, may be another robot's, which is read."""
        info = conversions.joints_info(message, now)
        known = self._monitor.joints
        if known is None or known.names != info.names or now - known.arrived > _SILENCE:
            name = rospy.search_param(PARAMETER)
            try:
                self._monitor.profile = RobotProfile.from_text(rospy.get_param(name)) if name else None
                name = rospy.search_param("robot_description")
                self._monitor.description = rospy.get_param(name) if name else None
            except ProfileError as error:
                self._report_throttled("profile", Notice("warn", str(error)))
        return info

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self._monitor.diagnostics.take(conversions.reports(message), time.monotonic())

    def _on_mode(self, info: ModeInfo) -> None:
        self._monitor.mode = info
        self._on_event(info)

    def _on_walkspace(self, message: Walkspace) -> None:
        try:
            self._on_event(conversions.limits_from_walkspace(message))
        except LimitsError as error:
            self._report_throttled("walkspace", Notice("warn", tr("walkspace is not usable: {error}", error=error)))

    def _from_others(self, message: Any, event: Callable, convert: Callable) -> None:
        if message._connection_header.get("callerid") != rospy.get_name():
            self._on_event(event(tuple(convert(message))))

    def _on_log(self, message: Log) -> None:
        if message.name != rospy.get_name():
            self._monitor.add_log(conversions.log_line(message))

    def _on_picture(self, message: Image) -> None:
        try:
            self._monitor.picture = conversions.picture(message)
            self._monitor.picture_count += 1
        except ImageError as error:
            self._report_throttled("camera", Notice("warn", str(error)))

    def _report_throttled(self, what: str, notice: Notice) -> None:
        now = time.monotonic()
        if now - self._last_trouble.get(what, -10.0) >= 10.0:
            self._last_trouble[what] = now
            self._on_event(notice)

    def request(self, view: str, is_seen: bool) -> None:
        """Subscribe to what a view shows only while it is shown: it costs robot and network.

        Parameters
        ----------
        view : str
            camera, robot, plots (every sample of the joints), or truth: the pose that only a simulator knows.
        is_seen : bool
            Whether it is shown.
        """
        with self._lock:
            (self._seen.add if is_seen else self._seen.discard)(view)
            if is_seen and self._commands.publishers and view not in self._on_demand:
                self._on_demand[view] = self._subscribe(view)
            elif not is_seen and view in self._on_demand:
                for subscriber in self._on_demand.pop(view):
                    subscriber.unregister()

    def _subscribe(self, view: str) -> List[rospy.Subscriber]:
        if view == "camera":
            return [rospy.Subscriber("camera/image_raw", Image, self._on_picture, queue_size=1, buff_size=2**24)]
        if view == "truth":
            store = self._store("truth", conversions.base_info)
            return [rospy.Subscriber("ground_truth/odom", Odometry, store, queue_size=1)]
        if view == "plots":
            return [
                rospy.Subscriber(topic, JointState, self._remember, callback_args=kind, queue_size=50, tcp_nodelay=True)
                for topic, kind in (("joint_states", MEASURED), ("joint_targets", COMMANDED))
            ]
        return [
            rospy.Subscriber("footsteps", Footsteps, self._store("footsteps", conversions.footsteps_info), queue_size=1)
        ]

    def _remember(self, message: JointState, kind: str) -> None:
        self._monitor.history.add(kind, message.name, message.header.stamp.to_sec(), message.position)

    def _on_transforms(self, message: rospy.AnyMsg) -> None:
        """Take odometry's transforms; those of the joints come as often on the same topic, and are not even decoded."""
        now = time.monotonic()
        known = self._monitor.base
        if _ODOM not in message._buff or (known is not None and now - known.arrived < _SHOWN_PERIOD):
            return
        profile = self._monitor.profile
        base_frame = profile.base.link if profile is not None else "base_link"
        decoded = TFMessage().deserialize(message._buff)
        self._monitor.base = conversions.base_from_transforms(decoded, base_frame, now) or known

    # ---------------------------------------------------------------- outgoing

    def execute(self, effect: Effect) -> None:
        """Carry out an effect of the command model; without a master the operator gets a notice."""
        if isinstance(effect, Notice):
            self._log_notice(effect)
        else:
            self._commands.execute(effect)

    def _log_notice(self, notice: Notice) -> None:
        if not self._initialised:
            return
        {"info": rospy.loginfo, "warn": rospy.logwarn}.get(notice.level, rospy.logerr)(notice.text)
