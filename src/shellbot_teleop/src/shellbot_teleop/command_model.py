# SPDX-License-Identifier: MIT
"""The command model: keys in, effects out. Window, terminal and page drive this one; it knows no toolkit and no ROS.

Rules: before the robot gave us control nothing is commanded but the emergency stop (monitor mode). A velocity key
publishes at once, again with every tick while it is held, and one zero when the last one is released; then silence, so
that navigation may drive.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Callable, Dict, FrozenSet, List, Sequence, Tuple

from shellbot_teleop import effects
from shellbot_teleop.actions import ACTIONS, Command, HeldAction, Quantity, find_action
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.control_state import ControlState, is_held
from shellbot_teleop.drive import twist_from_actions, why_it_stays
from shellbot_teleop.effects import Effect, Notice, PublishBodyPose, PublishUpperShells
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.limits import Limits
from shellbot_teleop.slewed_vector import SlewedVector
from shellbot_teleop.stick import Stick
from shellbot_teleop.texts import tr

_MIN_SCALE, _MAX_SCALE = 0.1, 1.0
_LONGEST_STEP = 0.1  # s; a stalled program must not make the body jump when it goes on
_AXIS_NAMES = {
    Quantity.POSE: (tr("shift x"), tr("shift y"), tr("height"), tr("roll"), tr("pitch"), tr("yaw")),
    Quantity.SHELLS: (tr("height"), tr("opening")),
}


class CommandModel:
    """State of the operator's command.

    Parameters
    ----------
    config : TeleopConfig
        Rates, ranges and the speed scale at start.
    keymap : Keymap
        What the keys do.

    Attributes
    ----------
    keymap, layout, scale, gait : Keymap, str, float, str
        What the keys do, their present layout, fraction of the full speed, and the gait last chosen here or "".
    limits, twist, stopped : Limits, PublishTwist, bool
        Limits in use, the twist last sent, whether the robot reports the emergency stop.
    control, stick : ControlState, Stick
        Who is in control, and the stick. All these are to be read only.

    Notes
    -----
    Every method that lets something happen takes the time `t` (s, any steady clock) and returns the effects to carry
    out, in order.
    """

    def __init__(self, config: TeleopConfig, keymap: Keymap) -> None:
        self._config = config
        self.keymap = keymap
        self.limits = config.fallback_limits
        self.layout = keymap.default_layout
        self.scale = config.speed_scale
        self._held: Dict[str, HeldAction] = {}
        self.stick = Stick()
        self.twist = effects.ZERO_TWIST
        self.gait = ""
        self._mode = ""
        self.stopped = False
        self.control = ControlState(config.dead_man)
        self._last_step, self._last_twist = 0.0, float("-inf")
        tilt, shift = config.tilt_rate, config.shift_rate
        self.pose = SlewedVector((shift,) * 3 + (tilt,) * 3, self.limits.pose_lower, self.limits.pose_upper, (0.0,) * 6)
        ranges = (config.shell_height_range, config.shell_angle_range)
        # The ball opens with its upper shells up: the state in which it walks.
        self.shells = SlewedVector(
            (config.shell_height_rate, config.shell_angle_rate),
            [low for low, _ in ranges],
            [high for _, high in ranges],
            (config.shell_height_range[1], config.shell_angle_range[0]),
        )

    # ------------------------------------------------------------------ state

    @property
    def held(self) -> FrozenSet[str]:
        """The keys that count as held."""
        return frozenset(self._held)

    @property
    def gaits(self) -> Tuple[str, ...]:
        """Gaits to choose from: the robot's; until it names them, those of the settings."""
        return self.limits.gaits or self._config.gaits

    @property
    def active(self) -> bool:
        """True while `tick` has something to do."""
        return bool(self._held) or self.stick.pushes or not self.pose.at_rest or not self.shells.at_rest

    def refused(self, stopped_counts: bool = True) -> List[Effect]:
        """Return why nothing may be commanded now, as a notice; empty if it may.

        Parameters
        ----------
        stopped_counts : bool
            Whether a latched emergency stop is a reason.
        """
        text = self.control.refusal(self._held.values(), self._keys)
        if not text and self.stopped and stopped_counts:
            text = tr("The emergency stop is latched: rearm first ({keys}).", keys=self._keys("safety.rearm"))
        return [Notice("warn", text)] if text else []

    # ------------------------------------------------------------------- keys

    def press(self, key: str, t: float) -> List[Effect]:
        """Take a key that went down; a second press of a held key is ignored."""
        binding = self.keymap.find(self.layout, key)
        if binding is None or key in self._held:
            return []
        action = find_action(binding.action)
        if binding.argument:
            return self.set_gait(binding.argument)
        if not isinstance(action, HeldAction):
            return self.perform(binding.action, t)
        if not self.active:
            self._last_step = t
        if action.quantity is Quantity.DEAD_MAN:
            return self.hold_dead_man(key)
        if action.quantity is Quantity.FINE:
            self._held[key] = action
            return self._send_twist(t) if self._driving() else []
        refused = self.refused()
        if refused:
            return refused
        self._held[key] = action
        if action.quantity is Quantity.VELOCITY:
            return self._send_twist(t) + self._obstacles(action.axis)
        return self._push((action,), self._config.period, announce=True)

    def release(self, key: str, t: float) -> List[Effect]:
        """Take a key that came up; the last velocity key sends one zero."""
        action = self._held.pop(key, None)
        if action is not None and action.quantity is Quantity.DEAD_MAN:
            return self._let_go(t)
        if action is not None and (
            action.quantity is Quantity.VELOCITY or (action.quantity is Quantity.FINE and self._driving())
        ):
            return self._send_twist(t)
        return []

    def push_stick(self, axes: Sequence[float], t: float) -> List[Effect]:
        """Take the position of a stick: forward, left, turn left, -1 .. 1; back in the middle it sends one zero."""
        before, was_active = self.stick.axes, self.active
        refused = self.refused() if any(axes) and not self.stick.is_dropped else []
        if refused:
            self.stick.refuse()
        else:
            self.stick.move(axes)
        if self.stick.axes == before:
            return refused
        if not was_active:
            self._last_step = t
        largest = max(range(3), key=lambda axis: abs(axes[axis]))
        return self._send_twist(t) + ([] if any(before) else self._obstacles(largest))

    def push_axis(self, key: str, name: str, fraction: float, t: float) -> List[Effect]:
        """Take how far an axis of a joystick pushes body or shells.

        Parameters
        ----------
        key : str
            Name under which it is held.
        name : str
            The held action that a positive fraction does.
        fraction : float
            -1 .. 1 of the rate of the settings; 0 lets go.
        t : float
            Time, s.
        """
        action = find_action(name)
        if not isinstance(action, HeldAction) or not math.isfinite(fraction):
            raise ValueError(f"{name} by {fraction}: only what is held is pushed, by a finite fraction")
        if fraction == 0.0:
            self._held.pop(key, None)
            return []
        is_new = key not in self._held
        refused = self.refused() if is_new else []
        if refused:
            return refused
        if not self.active:
            self._last_step = t
        action = replace(action, sign=action.sign * fraction)
        self._held[key] = action
        return self._push((action,), self._config.period, announce=True) if is_new else []

    def hold_dead_man(self, key: str) -> List[Effect]:
        """Take a dead-man switch, key or button, that is held from now on; `release` lets it go."""
        if not self.control.needs_dead_man:
            text = tr("There is no need to hold it: the option --dead-man makes it a dead-man switch.")
            return [Notice("info", text)]
        self._held[key] = ACTIONS["control.dead_man"]  # type: ignore[assignment]
        return []

    def _let_go(self, t: float) -> List[Effect]:
        """Stop what the dead-man switch allowed; keys that are down must be pressed anew."""
        if is_held(self._held.values()) or not self.active:
            return []
        return [*self.halt(t), Notice("info", tr("Dead-man switch released: stopped."))]

    def release_all(self, t: float) -> List[Effect]:
        """Drop every key: focus lost, window closed. One zero if a velocity key was held."""
        driving = self._driving()
        self._held.clear()
        self.stick.drop()
        return self._send_twist(t) if driving else []

    def tick(self, t: float) -> List[Effect]:
        """Go on with what is held; call it at the publishing rate while `active`."""
        out: List[Effect] = []
        if self._driving() and t - self._last_twist >= 0.8 * self._config.period:
            out += self._send_twist(t)
        dt = min(max(t - self._last_step, 0.0), _LONGEST_STEP)
        self._last_step = t
        out += self._push([action for action in self._held.values() if action.quantity is not Quantity.VELOCITY], dt)
        pushed = {action.quantity for action in self._held.values()}
        if Quantity.POSE not in pushed and self.pose.step(dt):
            out.append(PublishBodyPose(self.pose.value))
        if Quantity.SHELLS not in pushed and self.shells.step(dt):
            out.append(PublishUpperShells(*self.shells.value))
        return out

    # --------------------------------------------------------------- commands

    def perform(self, name: str, t: float) -> List[Effect]:
        """Do a command by its action name, as its key or its button does."""
        action = find_action(name)
        if not isinstance(action, Command):
            raise ValueError(f"{name} is held, not a command: use press and release")
        if action.name == "mode":
            return self.refused(stopped_counts=False) or [effects.RequestMode(action.argument)]
        handlers: Dict[str, Callable[[float], List[Effect]]] = {
            "drive.stop": self.stop,
            "safety.emergency_stop": self._emergency_stop,
            "safety.rearm": lambda _t: self.refused(stopped_counts=False) or [effects.Rearm()],
            "control.take": lambda _t: [effects.TakeControl()],
            "control.give_up": lambda t: [*self.halt(t), effects.TakeControl(False)],
            "pose.neutral": lambda t: self.set_pose_target(dict.fromkeys(range(6), 0.0), t),
            "speed.faster": lambda t: self.set_scale(self.scale + self._config.speed_step, t),
            "speed.slower": lambda t: self.set_scale(self.scale - self._config.speed_step, t),
            "gait.next": self._next_gait,
            "layout.next": self._next_layout,
            "actions.show": lambda t: self.release_all(t) + [effects.ShowActions()],
            "actions.pause": lambda _t: self.refused(stopped_counts=False) or [effects.TogglePause()],
            "actions.cancel": lambda _t: self.refused(stopped_counts=False) or [effects.CancelAction()],
            "help.keys": lambda t: [effects.ToggleHelp()],
            "session.quit": lambda t: self.release_all(t) + [effects.Quit()],
        }
        return handlers[action.name](t)

    def stop(self, t: float) -> List[Effect]:
        """Stop at once: a zero twist even if nothing was sent before; keys dropped, body and shells stay."""
        if not self.control.armed:
            keys = self._keys("safety.emergency_stop")
            text = tr("To stop the robot whoever drives: emergency stop, {keys}.", keys=keys)
            return [*self.refused(), Notice("warn", text)]
        self._halt()
        return self._send_twist(t) + [Notice("info", tr("Stop: zero velocity sent, keys dropped."))]

    def halt(self, t: float) -> List[Effect]:
        """Drop every key and stop body and shells where they are: whoever commands has gone. One zero if it drove."""
        driving = self._driving()
        self._halt()
        return self._send_twist(t) if driving else []

    def _emergency_stop(self, t: float) -> List[Effect]:
        self._halt()
        return [effects.EmergencyStop()] + (self._send_twist(t) if self.control.armed else [])

    def _halt(self) -> None:
        # Shift that is still down must not make the next key fast
        self._held = {key: action for key, action in self._held.items() if action.quantity is Quantity.FINE}
        self.stick.drop()
        self.pose.freeze()
        self.shells.freeze()

    def set_pose_target(self, targets: Dict[int, float], t: float) -> List[Effect]:
        """Let the body go to a pose (axes x, y, z, roll, pitch, yaw) at the configured rates, as the sliders do."""
        return self._aim(self.pose, targets, t)

    def set_shells_target(self, axis: int, value: float, t: float) -> List[Effect]:
        """Let the upper shells go to a height (axis 0, m) or an opening angle (axis 1, rad)."""
        return self._aim(self.shells, {axis: value}, t)

    def _aim(self, vector: SlewedVector, targets: Dict[int, float], t: float) -> List[Effect]:
        refused = self.refused()
        if refused:
            return refused
        if not self.active:
            self._last_step = t
        for axis, value in targets.items():
            vector.set_target(axis, value)
        return []

    def set_scale(self, scale: float, t: float) -> List[Effect]:
        """Set the fraction of the full speed; a held key takes it over at once."""
        self.scale = round(min(max(scale, _MIN_SCALE), _MAX_SCALE), 3)
        return self._send_twist(t) if self._driving() else []

    def set_gait(self, name: str) -> List[Effect]:
        """Choose a gait by name."""
        refused = self.refused(stopped_counts=False)
        if refused:
            return refused
        self.gait = name
        return [effects.PublishGait(name), Notice("info", tr("Gait {name} requested.", name=name))]

    def _next_gait(self, _t: float) -> List[Effect]:
        current = self.gait or self.limits.gait
        following = self.gaits.index(current) + 1 if current in self.gaits else 0
        return self.set_gait(self.gaits[following % len(self.gaits)])

    def set_layout(self, name: str, t: float) -> List[Effect]:
        """Change the key layout; keys that are held are dropped, because their meaning changes."""
        if name not in self.keymap.layout_names:
            choices = ", ".join(self.keymap.layout_names)
            text = tr("There is no key layout {name!r}: choose one of {choices}.", name=name, choices=choices)
            return [Notice("error", text)]
        out = self.release_all(t)
        self.layout = name
        text = tr("Key layout {name}: {description}.", name=name, description=tr(self.keymap.layouts[name]))
        return out + [effects.LayoutChanged(name), Notice("info", text)]

    def _next_layout(self, t: float) -> List[Effect]:
        names = self.keymap.layout_names
        return self.set_layout(names[(names.index(self.layout) + 1) % len(names)], t)

    # ------------------------------------------------------- what the robot says

    def observe_limits(self, limits: Limits) -> None:
        """Take over the limits that the action manager sent."""
        self.limits = limits
        self.pose.set_bounds(limits.pose_lower, limits.pose_upper)

    def observe_mode(self, mode: str) -> None:
        """Take over the name of the robot's mode."""
        self._mode = mode

    def observe_stopped(self, stopped: bool, t: float) -> List[Effect]:
        """Take over whether the emergency stop is latched; when it comes, everything held is dropped."""
        newly = stopped and not self.stopped
        self.stopped = stopped
        if not newly:
            return []
        text = tr("Emergency stop is latched. Rearm with {keys}.", keys=self._keys("safety.rearm"))
        return [*self.halt(t), Notice("error", text)]

    def observe_operator(self, name: str, is_us: bool) -> List[Effect]:
        """Take over who is in control; when control goes, everything held is dropped."""
        before = (self.control.armed, self.control.operator)
        self.control.observe(name, is_us)
        if before == (is_us, name):
            return []
        if is_us:
            keys = self._keys("control.give_up")
            return [Notice("info", tr("You are in control; {keys} gives it up.", keys=keys))]
        self._halt()
        self.twist = effects.ZERO_TWIST  # nothing we sent counts any longer
        level, keys = "warn" if before[0] else "info", self._keys("control.take")
        return [Notice(level, tr("Monitor mode: {who}; {keys} takes control.", who=self.control.who, keys=keys))]

    def heartbeat(self) -> List[Effect]:
        """Return the sign of life that is due while we are in control; to be called at the rate of the settings."""
        return [effects.Heartbeat()] if self.control.armed else []

    def observe_body_pose(self, pose: Sequence[float]) -> None:
        """Take over a body pose that another operator or program commanded, so that our next key goes on from there."""
        self.pose.jump(pose)

    def observe_upper_shells(self, shells: Sequence[float]) -> None:
        """Take over upper shells that another operator or program commanded."""
        self.shells.jump(shells)

    # ---------------------------------------------------------------- helpers

    def _driving(self) -> bool:
        return self.stick.pushes or any(action.quantity is Quantity.VELOCITY for action in self._held.values())

    @property
    def _fineness(self) -> float:
        is_fine = any(action.quantity is Quantity.FINE for action in self._held.values())
        return self._config.fine if is_fine else 1.0

    def _keys(self, action: str) -> str:
        return f" {tr('or')} ".join(self.keymap.keys_of(self.layout, action)) or tr("its button")

    def _send_twist(self, t: float) -> List[Effect]:
        actions = [action for action in self._held.values() if action.quantity is Quantity.VELOCITY]
        scale = self.scale * self._fineness
        self.twist = twist_from_actions(actions, self.limits.velocity, scale, self.stick.axes)
        self._last_twist = t
        return [self.twist]

    def _obstacles(self, axis: int) -> List[Effect]:
        # the modes of a robot without this one say in their own text what they obey
        mode = self._mode if any(binding.action == "mode.hexapod" for binding in self.keymap.bindings) else ""
        text = why_it_stays(mode, self.limits.velocity[axis], self._keys("mode.hexapod"))
        return [Notice("warn", text)] if text else []

    def _push(self, actions: Sequence[HeldAction], dt: float, announce: bool = False) -> List[Effect]:
        out: List[Effect] = []
        for quantity, vector in ((Quantity.POSE, self.pose), (Quantity.SHELLS, self.shells)):
            pushes = {action for action in actions if action.quantity is quantity}
            moved = False
            for action in pushes:
                free = vector.push(action.axis, action.sign, dt * self._fineness)
                moved = moved or free
                if announce and not free:
                    name, value = _AXIS_NAMES[quantity][action.axis], vector.value[action.axis]
                    text = tr("{name} is at its limit ({value:+.3f}); go back.", name=name, value=value)
                    out.append(Notice("warn", text))
            if moved:
                out.append(
                    PublishBodyPose(self.pose.value)
                    if quantity is Quantity.POSE
                    else PublishUpperShells(*self.shells.value)
                )
        return out
