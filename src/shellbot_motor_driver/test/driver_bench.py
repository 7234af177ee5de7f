# SPDX-License-Identifier: MIT
"""What the tests of the driver share: emulated servos in virtual time, a driver, and time that runs in ticks."""

from __future__ import annotations

import numpy as np

from ax_bus import Bus, Timeouts
from ax_emulator import EmulatedChain, Fault, FaultInjector, ServoBehaviour, VirtualPort
from shellbot_motor_driver import Condition, DriverConfig, MotorDriver, Phase, ServoMap
from shellbot_motor_driver.driving.servo_table import Row
from shellbot_motor_driver.emulated_servos import shellbot_servos

SHIPPED = DriverConfig()
QUICK = DriverConfig.from_mapping({"start": {"torque_ramp": 0.2}})  # a simulated second with 19 servos takes 0.4 s
HOST = 40e-6  # s for each write and read of the host: 80 us a READ


class DriverBench:
    """A driver over an emulated chain."""

    def __init__(self, variant="walker", faults=(), seed=0, config=None, behaviour=None, start=True, host_time=HOST,
                 return_delay=0, latency=0.1e-3, reads_trusted=True, echoes=False, chain=EmulatedChain):  # fmt: skip
        self.faults = FaultInjector(faults, seed)
        self.chain = chain(
            shellbot_servos(variant, return_delay, behaviour=behaviour or ServoBehaviour(), seed=seed),
            faults=self.faults,
            echoes=echoes,
        )
        self.port = VirtualPort(self.chain, host_time, reads_trusted=reads_trusted)
        self.map = ServoMap.load(variant)
        self.driver = self.new_driver(config, latency)
        self.said = []
        self.commands = []
        self.targets = np.zeros(len(self.map.joint_names))
        if start:
            self.report = self.driver.start()
            self.targets = self.driver.state().command.copy()

    def new_driver(self, config=None, latency=0.1e-3):
        """Return another driver on the same port, as after a restart."""
        config = DriverConfig.from_mapping(config) if isinstance(config, dict) else config or QUICK
        self.driver = MotorDriver(Bus(self.port, Timeouts(link_latency=latency)), self.map, config)
        return self.driver

    def ready(self, **options):
        """Let the torque come up and targets be followed."""
        self.run(self.driver.config.start.torque_ramp + 0.3, **options)
        assert self.phase is Phase.FOLLOWING, self.driver.state().ladder
        return self

    def run(self, seconds, targets=True, until=None):
        """Let time pass in ticks; targets are True for `targets`, None for none, or a function of time."""
        port, driver = self.port, self.driver
        end = port.now() + seconds
        while port.now() < end - 1e-9:
            given = self.targets if targets is True else targets(port.now()) if callable(targets) else targets
            driver.tick(given)
            self.commands.append(driver.snapshot().command)
            self.said.extend(driver.events())
            self.check_ages()
            if until is not None and until():
                return port.now()
            port.sleep(max(driver.next_tick - port.now(), 0.0))
        return None

    def check_ages(self):
        """Every servo was read within 0.5 s, or the ladder says that the robot must not move, or goes on without it."""
        if self.driver.phase is Phase.FOLLOWING and self.port.reads_trusted:
            table = self.driver.snapshot().table
            ages = self.driver.snapshot().stamp - table[Row.STAMP]
            if any(rung.key == "without" for rung in self.ladder.rungs):
                ages = ages[table[Row.CONDITION] != Condition.LOST]
            oldest = float(ages.max())
            assert oldest <= self.driver.config.servo.old_after + 1e-9, f"{oldest:.2f} s old while following"

    def fault(self, kind, after=0.0, stop=None, **options):
        now = self.port.now()
        more = {} if stop is None else {"stop": now + stop}
        self.faults.add(Fault(kind, start=now + after, **more, **options))

    def servo(self, servo_id):
        return self.chain.servo(servo_id)

    def reading(self, servo_id):
        return self.driver.state().servo(servo_id)

    @property
    def phase(self):
        return self.driver.phase

    @property
    def ladder(self):
        return self.driver.ladder()

    def words(self, key=None):
        return " | ".join(notice.text for notice in self.said if key is None or notice.key == key)

    def largest_step(self):
        """Return the largest step of a command between two ticks over what its speed limit allows, ratio."""
        commands = np.array(self.commands)
        speed = self.driver.limits.velocity[self.map.joint_of_servo]
        return float((np.abs(np.diff(commands, axis=0)) / (speed * 0.0102)).max())
