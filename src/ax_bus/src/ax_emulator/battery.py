# SPDX-License-Identifier: MIT
"""A lithium polymer battery: open voltage over charge, sag under load, discharge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ax_emulator.errors import EmulationError

# Open-circuit voltage of a cell at rest over the charge left; a usual table, cells differ by 20 mV. It ends at 3.27 V;
# below 2 % a cell falls off (estimate), so that an empty pack drives nothing.
_CHARGE = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_OPEN_VOLTAGE = (0.0, 3.0, 3.406, 3.61, 3.69, 3.73, 3.77, 3.80, 3.84, 3.87, 3.95, 4.02, 4.11, 4.20)


@dataclass(frozen=True)
class BatteryParameters:
    """A pack."""

    cells: int = 3  #: In series
    capacity: float = 2.3  #: A·h
    resistance: float = 0.06  #: Ohm, of the pack, plug and wires (estimate)


class Battery:
    """Charge and voltage of a pack.

    Parameters
    ----------
    charge : float
        Fraction that remains, 0 to 1; 0.78 gives the servos' nominal 12.0 V.
    parameters : BatteryParameters, optional
        The pack: by default 3S, 2300 mA·h.

    Raises
    ------
    EmulationError
        If the charge is out of range.
    """

    def __init__(self, charge: float = 0.78, parameters: BatteryParameters = BatteryParameters()) -> None:  # noqa: B008
        self.parameters = parameters
        self.charge = 0.0
        self.set_charge(charge)

    def set_charge(self, charge: float) -> None:
        """Set the remaining charge as a fraction, 0 to 1."""
        if not 0.0 <= charge <= 1.0:
            raise EmulationError(f"battery charge is {charge}; give a fraction from 0 to 1")
        self.charge = float(charge)
        self.voltage = self.open_voltage

    @property
    def open_voltage(self) -> float:
        """Voltage without load, V."""
        return self.parameters.cells * float(np.interp(self.charge, _CHARGE, _OPEN_VOLTAGE))

    def drain(self, current: float, duration: float) -> float:
        """Draw ``current`` (A) for ``duration`` (s); return the voltage at the plug, V."""
        self.charge = max(0.0, self.charge - current * duration / 3600.0 / self.parameters.capacity)
        self.voltage = max(0.0, self.open_voltage - self.parameters.resistance * current)
        return self.voltage
