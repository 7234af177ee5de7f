# SPDX-License-Identifier: MIT
"""One servo as an object: its registers are attributes, raw or in units; every write is read back."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any, List, NamedTuple

from ax_bus.errors import ImplausibleReadingError, NoSuchRegisterError, RegisterError
from ax_bus.model import Model, Register
from ax_bus.protocol import ErrorFlags

if TYPE_CHECKING:
    from ax_bus.bus import Bus

_AGREE = math.radians(2.0)  # two readings of a position, a ms apart: a servo that is turned by hand does 0.3 degrees
_ELSEWHERE = {"id": "ax-servo set-id", "baud_rate": "ax-servo set-baud"}


class _Angles(NamedTuple):
    """How a servo's positions are meant: range of the goal in steps, rad per step, and the offset in steps."""

    low: int
    high: int
    unit: float
    offset: int
    is_wheel: bool


class Servo:
    """A servo on a bus; get one with ``bus.servo(1)``.

    Every register is an attribute under the name that the manual gives it (`ax_bus.Model.registers`, ``dir(servo)``):

    * ``servo.goal_position`` is the raw number, in the servo's own steps;
    * ``servo.goal_position_si`` is the same in SI (rad from the clockwise end of the range, rad/s, V, s, ...), for
      every register that has a unit.

    And these in the units of their names: `goal_deg`, `present_deg`, `moving_speed_deg_s`, `speed_deg_s`, `load`,
    `voltage`, `temperature`, `torque`. Degrees count from the middle of the range, counter-clockwise positive.

    Getting reads the servo, setting writes and reads back. Nothing is clamped: what the servo does not take is refused
    with the range. Errors are those of `ax_bus.errors`.

    Parameters
    ----------
    model : Model
        Its control table.
    """

    _bus: Bus
    _model: Model
    _servo_id: int

    def __init__(self, bus: Bus, servo_id: int, model: Model) -> None:
        for name, value in (("_bus", bus), ("_servo_id", servo_id), ("_model", model)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<servo {self._servo_id}, {self._model.name}, on {self._bus.port.name}>"

    def __getattr__(self, name: str) -> Any:
        row = self._row(name)
        number = self._raw(row.name)
        return row.to_si(number) if row.name != name else number

    def __setattr__(self, name: str, value: Any) -> None:
        own = getattr(type(self), name, None)
        if isinstance(own, property):
            if own.fset is None:
                raise RegisterError(f"{name} is read-only")
            own.fset(self, value)
            return
        row = self._row(name)
        if row.name in _ELSEWHERE:
            raise RegisterError(
                f"{row.name} of servo {self._servo_id} is not changed here: this object would lose it; "
                f"use {_ELSEWHERE[row.name]}, which makes sure that no other servo is changed"
            )
        self._write(row, row.from_si(value) if row.name != name else value)

    def __dir__(self) -> List[str]:
        rows = self._model.registers
        return [*super().__dir__(), *(row.name for row in rows), *(f"{row.name}_si" for row in rows if row.unit)]

    @property
    def servo_id(self) -> int:
        """The ID under which it is addressed."""
        return self._servo_id

    @property
    def model(self) -> Model:
        """Its model."""
        return self._model

    @property
    def goal_deg(self) -> float:
        """Goal position, degrees from the middle of the range."""
        return self._degrees("goal_position")

    @goal_deg.setter
    def goal_deg(self, value: float) -> None:
        angles = self._angles()
        if angles.is_wheel:
            raise RegisterError(
                f"servo {self._servo_id} is in wheel mode, which has no goal; set its angle limits, or its moving_speed"
            )
        low, high = (self._to_degrees(steps, angles) for steps in (angles.low, angles.high))
        if not low - 0.5 * math.degrees(angles.unit) <= value <= high + 0.5 * math.degrees(angles.unit):
            raise RegisterError(
                f"goal_deg is {value:g}; give {low:.1f} to {high:.1f}, the angle limits of servo {self._servo_id}"
            )
        steps = round((math.radians(value) + self._model.centre) / angles.unit) + angles.offset
        self._write(self._model.register("goal_position"), min(angles.high, max(angles.low, steps)))

    @property
    def present_deg(self) -> float:
        """Present position, degrees from the middle of the range."""
        return self._degrees("present_position")

    @property
    def moving_speed_deg_s(self) -> float:
        """Speed at which it goes to its goal, degrees/s; 0 is as fast as it can."""
        return math.degrees(self.moving_speed_si)

    @moving_speed_deg_s.setter
    def moving_speed_deg_s(self, value: float) -> None:
        self.moving_speed_si = math.radians(value)

    @property
    def speed_deg_s(self) -> float:
        """Present speed, degrees/s, counter-clockwise positive."""
        return math.degrees(self.present_speed_si)

    @property
    def load(self) -> float:
        """Present load, fraction of the stall torque from -1 to 1; inferred from the output, there is no sensor."""
        return float(self.present_load_si)

    @property
    def voltage(self) -> float:
        """Voltage at the servo, V."""
        return float(self.present_voltage_si)

    @property
    def temperature(self) -> float:
        """Temperature inside, degrees Celsius."""
        return float(self.present_temperature_si)

    @property
    def torque(self) -> bool:
        """Whether the torque is on; switching it on first sets the goal to where the horn is, so that nothing jumps."""
        return bool(self._raw("torque_enable"))

    @torque.setter
    def torque(self, value: bool) -> None:
        if value and self.torque:
            return
        if value:
            self._hold_still()
        self._write(self._model.register("torque_enable"), int(value))

    def _hold_still(self) -> None:
        """Set the goal to the present position (in wheel mode the speed to 0), if that reading is plausible."""
        row = self._model.register("present_position")
        if self._angles().is_wheel:
            self.moving_speed = 0
            return
        first, second = (self._bus.read(self._servo_id, row.address, row.size) for _ in range(2))
        steps, before = row.from_bytes(second.data), row.from_bytes(first.data)
        alarms = (first.flags | second.flags) & ErrorFlags.INPUT_VOLTAGE
        if alarms or not row.minimum <= steps <= row.maximum or abs(steps - before) * row.scale > _AGREE:
            why = "its voltage is out of range" if alarms else f"it read {before}, then {steps} steps"
            raise ImplausibleReadingError(
                f"torque of servo {self._servo_id} stays off: its position is not plausible, {why}; "
                "check the supply and let the horn come to rest, then try again"
            )
        self.goal_position = steps

    def _row(self, name: str) -> Register:
        """Return the register behind an attribute."""
        model: Model = object.__getattribute__(self, "_model")
        if model.has(name):
            return model.register(name)
        base = name[:-3] if name.endswith("_si") else ""
        if base and model.has(base) and model.register(base).unit:
            return model.register(base)
        near = difflib.get_close_matches(name, [n for n in self.__dir__() if not n.startswith("_")], n=4, cutoff=0.5)
        raise NoSuchRegisterError(
            f"{model.name} has no register {name!r}; "
            + (f"is it {' or '.join(near)}?" if near else "dir(servo) lists what there is")
        )

    def _raw(self, name: str) -> int:
        return self._bus.read_register(self._servo_id, self._model.register(name))

    def _write(self, row: Register, number: int) -> None:
        self._bus.write_register(self._servo_id, row, number)

    def _angles(self) -> _Angles:
        """Read the angle limits, and what changes the meaning of positions in multi-turn mode."""
        model, top = self._model, self._model.position_max
        first = model.register("cw_angle_limit").address
        last = model.register("resolution_divider" if model.multi_turn else "ccw_angle_limit")
        data = self._bus.read(self._servo_id, first, last.address + last.size - first).data

        def number(name: str) -> int:
            row = model.register(name)
            return row.from_bytes(data[row.address - first : row.address - first + row.size])

        cw, ccw = number("cw_angle_limit"), number("ccw_angle_limit")
        if model.multi_turn and cw == ccw == top:
            unit = model.rad_per_step * max(1, number("resolution_divider"))
            return _Angles(-model.multi_turn, model.multi_turn, unit, number("multi_turn_offset"), False)
        return _Angles(cw, ccw, model.rad_per_step, 0, cw == ccw == 0)

    def _degrees(self, name: str) -> float:
        angles = self._angles() if self._model.multi_turn else _Angles(0, 0, self._model.rad_per_step, 0, False)
        return self._to_degrees(self._raw(name), angles)

    def _to_degrees(self, steps: int, angles: _Angles) -> float:
        return math.degrees((steps - angles.offset) * angles.unit - self._model.centre)
