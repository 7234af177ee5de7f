# SPDX-License-Identifier: MIT
"""What a real servo adds to the plain law: steps, dead band, punch, play, a supply that sags and windings that warm up.

All are off in config/simulator.yaml. The law is that of the AX series, as ax_emulator has it for registers: no output
inside the compliance margin, then the slope of the stiffness from the margin's edge, never below the punch. Rotor and
damping stay at the joint while the gear is in its play. A warm winding has more resistance: stall torque, damping and
current fall alike, and the speed without load stays. A servo beyond its temperature limit shuts down, as the AX series
does as delivered (alarm shutdown), here until the reset.
"""

from __future__ import annotations

import numpy as np

from .config import SimulatorConfig

_COPPER = 0.0039  # 1/K: rise of a winding's resistance
_IDLE_CURRENT = 0.05  # A of a servo's electronics (datasheet: 50 mA standby)


class ServoEffects:
    """The effects on all joints.

    Parameters
    ----------
    config : SimulatorConfig
        Sizes of the effects.
    stall, no_load_speed : (n,) array
        Torque limits (N m) and speeds without load at nominal voltage (rad/s).

    Attributes
    ----------
    temperature : (n,) array
        Of the windings, degrees Celsius.
    overheated : (n,) bool array
        Whether a servo has shut down.
    voltage : float
        At the servos, V.
    """

    def __init__(self, config: SimulatorConfig, stall: np.ndarray, no_load_speed: np.ndarray) -> None:
        self._config = config
        self._stall, self._speed = stall, no_load_speed
        self._margin = np.radians(config.servo_margin_deg)
        self._resolution = np.radians(config.servo_resolution_deg)
        self._play = np.radians(config.servo_backlash_deg)
        self.reset()

    @staticmethod
    def are_on(config: SimulatorConfig) -> bool:
        """Whether any effect changes anything."""
        sizes = (config.servo_margin_deg, config.servo_punch, config.servo_resolution_deg, config.servo_backlash_deg)
        return any(sizes + (config.supply_resistance, config.winding_heating)) or (
            config.supply_voltage != config.nominal_voltage
        )

    def reset(self) -> None:
        """Begin cold, without load, with the play open to both sides."""
        n = len(self._stall)
        self.temperature = np.full(n, self._config.ambient_temperature)
        self.overheated = np.zeros(n, dtype=bool)
        self.voltage = self._config.supply_voltage
        self._place = np.full(n, 0.5 * self._play)  # of the motor in its play, rad; 0 and all of it: in touch

    @property
    def braking(self) -> np.ndarray:
        """Damping against that of a cold servo, (n,): what the resistance leaves of stall torque and current, too."""
        return 1.0 / (1.0 + _COPPER * (self.temperature - self._config.ambient_temperature))

    @property
    def strength(self) -> np.ndarray:
        """Torque at full output against that of a cold servo at nominal voltage, (n,)."""
        return self.voltage / self._config.nominal_voltage * self.braking

    def torque(
        self, stiffness: np.ndarray, command: np.ndarray, q: np.ndarray, dq: np.ndarray, duration: float
    ) -> np.ndarray:
        """Return the torques of the position law for the coming step, N m, shape (n,), and let it pass.

        Parameters
        ----------
        stiffness : (n,) array
            N m/rad.
        command, q, dq : (n,) array
            Commanded and present angle (rad) and speed (rad/s).
        duration : float
            Of the step, s.
        """
        config = self._config
        if self._resolution:
            command, q = (self._resolution * np.round(angle / self._resolution) for angle in (command, q))
        error = command - q
        beyond = np.maximum(np.abs(error) - self._margin, 0.0)
        output = np.maximum(stiffness * beyond / self._stall, config.servo_punch * (stiffness > 0.0))
        drives = (stiffness > 0.0) & ~self.overheated
        output = np.where((beyond > 0.0) & drives, np.sign(error) * np.minimum(output, 1.0), 0.0)
        speed, braking = dq / self._speed, self.braking
        self.voltage = self._sagging(output, speed, braking)
        # of that of a cold servo's stall
        current = (output * (self.voltage / config.nominal_voltage) - speed) * braking
        self.temperature += duration * (
            config.winding_heating * current**2 / braking * drives
            - (self.temperature - config.ambient_temperature) / config.winding_cooling_time
        )
        self.overheated |= self.temperature > config.servo_temperature_limit
        torque = output * self._stall * self.strength
        return self._through_the_play(torque, output, dq, duration) if self._play else torque

    def _sagging(self, output: np.ndarray, speed: np.ndarray, braking: np.ndarray) -> float:
        """Return the voltage at which supply and motors agree, V.

        A motor draws the fraction of time that its bridge is on, times its current, as the emulated servos do: a line
        over the voltage, cut off at zero. Their sum is convex, so Newton's method from the supply's own voltage goes
        down to the solution, and is there when no further motor is cut off. Steps from voltage to current and back
        would swing between two values above some 0.2 Ohm.
        """
        config = self._config
        drop = config.supply_resistance * config.servo_stall_current * braking  # V of one servo that stalls
        rise, base = drop * output**2 / config.nominal_voltage, drop * output * speed
        no_load = config.supply_voltage - config.supply_resistance * _IDLE_CURRENT * output.size
        voltage, count = config.supply_voltage, -1
        while True:
            draws = rise * voltage > base
            if draws.sum() == count:
                return max(0.0, voltage)
            count = draws.sum()
            voltage = float((no_load + base[draws].sum()) / (1.0 + rise[draws].sum()))

    def _through_the_play(self, torque: np.ndarray, output: np.ndarray, dq: np.ndarray, duration: float) -> np.ndarray:
        """Return the torque that reaches the horn: none until the motor has crossed the play to that side."""
        moved = self._place + duration * (output * self._speed - dq)
        self._place = np.clip(moved, 0.0, self._play)
        touches = ((moved >= self._play) & (torque > 0.0)) | ((moved <= 0.0) & (torque < 0.0))
        return np.where(touches, torque, 0.0)
