# SPDX-License-Identifier: MIT
"""From goal to output: the compliance law of AX servos and the PID law of MX servos, both with the speed limit.

AX: the output between the compliance margin and full torque rises over the slope, never below the punch:
``u = max(punch, (|e| - margin) / slope)``, so that the stiffness is stall torque / slope (18.5 N·m/rad of an AX-12A at
slope 16), the one that the simulators take. Inside the margin the output is 0.

MX: ``u = Kp e + Ki ∫e dt + Kd de/dt`` with e in steps and the e-Manual's gains (P / 8, I · 1000 / 2048, D · 4 / 1000);
that u is in steps of the output, 1023 for full torque, is an estimate.
"""

from __future__ import annotations

import math
from typing import Callable

from ax_emulator.control_table import ControlTable

STEP = 1e-3  # s: the servo's control loop runs at 1 kHz
_FULL = 1023.0


def effective_slope(register: int) -> int:
    """Return the slope in steps that a register value acts as: 2, 4, 8, ... 128."""
    return max(2, 1 << (register.bit_length() - 1)) if register else 2


class Law:
    """The control loop of one servo; ``reference`` (rad) is where the goal has got to at the moving speed."""

    def __init__(self, table: ControlTable, reference: float) -> None:
        self.table = table
        self.reference = reference

    def restart(self, position: float) -> None:
        """Restart with the horn at ``position``, rad."""
        self.reference = position

    def prepare(self) -> Callable[[float], float]:
        """Read the registers; return the function that does one step of the loop, from the horn's rad to -1 to 1."""
        raise NotImplementedError


class ComplianceLaw(Law):
    """AX."""

    def prepare(self) -> Callable[[float], float]:
        """See `Law`."""
        table, unit = self.table, self.table.model.rad_per_step
        limit, speed = table["torque_limit"] / _FULL, table["moving_speed"]
        if table.is_wheel:  # an AX's wheel mode sets the output, not the speed
            fraction = min(limit, (speed & 1023) / _FULL)
            return lambda position: -fraction if speed >> 10 & 1 else fraction
        goal, punch = table["goal_position"] * unit, table["punch"] / _FULL
        margins = [table[f"{side}_compliance_margin"] * unit for side in ("ccw", "cw")]
        slopes = [effective_slope(table[f"{side}_compliance_slope"]) * unit for side in ("ccw", "cw")]
        stride = _stride(table)

        def step(position: float) -> float:
            self.reference += max(-stride, min(stride, goal - self.reference))
            error = self.reference - position
            side = 0 if error > 0.0 else 1
            excess = abs(error) - margins[side]
            u = 0.0 if excess <= 0.0 else min(limit, max(punch, excess / slopes[side]))
            return u if error > 0.0 else -u

        return step


class PidLaw(Law):
    """MX."""

    def __init__(self, table: ControlTable, reference: float) -> None:
        super().__init__(table, reference)
        self._speed = 0.0  # of the reference, rad/s
        self._integral = 0.0  # steps · s
        self._error = 0.0  # steps

    def restart(self, position: float) -> None:
        """See `Law`."""
        super().restart(position)
        self._speed = self._integral = self._error = 0.0

    def prepare(self) -> Callable[[float], float]:
        """See `Law`."""
        table, model = self.table, self.table.model
        limit = table["torque_limit"] / _FULL
        if model.has("torque_control_mode_enable") and table["torque_control_mode_enable"]:
            fraction = model.register("goal_torque").to_si(table["goal_torque"]) / model.stall_current
            return lambda position: max(-limit, min(limit, fraction))
        kp, ki, kd = table["p_gain"] / 8.0, table["i_gain"] * 1000.0 / 2048.0, table["d_gain"] * 4.0 / 1000.0
        punch = table["punch"] / _FULL
        advance = self._turn if table.is_wheel else self._approach()
        # a wheel that is held must not be owed ever more turns
        widest = _FULL / kp * model.rad_per_step if kp and table.is_wheel else math.inf

        def step(position: float) -> float:
            advance()
            self.reference = max(position - widest, min(position + widest, self.reference))
            error = (self.reference - position) / model.rad_per_step
            rate, self._error = (error - self._error) / STEP, error
            self._integral += error * STEP
            if ki:  # no wind-up beyond full output
                self._integral = max(-_FULL / ki, min(_FULL / ki, self._integral))
            u = (kp * error + ki * self._integral + kd * rate) / _FULL
            u = math.copysign(max(abs(u), punch), u) if u and abs(error) >= 0.5 else u
            return max(-limit, min(limit, u))

        return step

    def _turn(self) -> None:
        speed = self.table.model.register("moving_speed").to_si(self.table["moving_speed"])
        self._ramp(speed)
        self.reference += self._speed * STEP

    def _approach(self) -> Callable[[], None]:
        table, stride = self.table, _stride(self.table)
        goal = table["goal_position"]
        if table.is_multi_turn:
            goal = (goal - table["multi_turn_offset"]) * table["resolution_divider"]
        aim = goal * table.model.rad_per_step
        fastest = stride / STEP
        acceleration = self._acceleration()

        def advance() -> None:
            left = aim - self.reference
            if math.isinf(acceleration):
                self.reference += max(-stride, min(stride, left))
                return
            brake = math.sqrt(2.0 * acceleration * abs(left))
            self._ramp(math.copysign(min(fastest, brake), left))
            move = self._speed * STEP
            # the last bit: braking ends on the goal
            if abs(left) <= max(abs(move), 0.5 * acceleration * STEP * STEP):
                move, self._speed = left, 0.0
            self.reference += move

        return advance

    def _acceleration(self) -> float:
        number = self.table["goal_acceleration"]
        return self.table.model.register("goal_acceleration").to_si(number) if number else math.inf

    def _ramp(self, speed: float) -> None:
        most = self._acceleration() * STEP
        self._speed += max(-most, min(most, speed - self._speed))


def _stride(table: ControlTable) -> float:
    """Return how far the reference goes in a step, rad; a moving speed of 0 is as fast as it can."""
    speed = table["moving_speed"] & 1023
    return speed * table.model.rad_per_s_per_step * STEP if speed else math.inf


def law_of(table: ControlTable, reference: float) -> Law:
    """Return the law of a servo's model."""
    return (PidLaw if table.model.has("p_gain") else ComplianceLaw)(table, reference)
