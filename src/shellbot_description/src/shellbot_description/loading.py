# SPDX-License-Identifier: MIT
"""Reads and checks the variables file."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Type, TypeVar, Union

from shellbot_description.errors import DescriptionError
from shellbot_description.files import package_path, read_yaml
from shellbot_description.names import JOINT_CLASSES
from shellbot_description.variables import (
    Battery,
    Camera,
    Contact,
    FanDrive,
    Foot,
    Gore,
    Imu,
    JointLimits,
    LowerLeg,
    Mass,
    Servo,
    Shapes,
    UpperLeg,
    Variables,
    si,
)

Section = TypeVar("Section")

_SERVO_SETTINGS = {"range_deg", "resolution_deg", "compliance_slope_steps", "armature_kgm2", "mass_kg"}


def _number(value: Any, low: float, high: float, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise DescriptionError(f"{key} = {value!r} is not a number; give one from {low:g} to {high:g}")
    if not low <= value <= high:
        raise DescriptionError(f"{key} = {value!r} is out of range; give a number from {low:g} to {high:g}")
    return float(value)


def _mapping(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise DescriptionError(f"{where}{key}: this section is missing or is no mapping; see config/shellbot.yaml")
    return value


def _take(data: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in data:
        raise DescriptionError(f"{where}{key} is missing; see config/shellbot.yaml for its meaning")
    return data[key]


def _section(cls: Type[Section], data: Mapping[str, Any], where: str) -> Section:
    values: Dict[str, Any] = {}
    known = set()
    for item in dataclasses.fields(cls):  # type: ignore[arg-type]
        unit = item.metadata.get("unit")
        key = f"{item.name}_{unit}" if unit else item.name
        known.add(key)
        value = _take(data, key, where)
        if unit is not None:
            value = si(_number(value, item.metadata["low"], item.metadata["high"], where + key), unit)
        values[item.name] = value
    unknown = sorted(set(data) - known)
    if unknown:
        raise DescriptionError(f"{where}{unknown[0]} is not a known key; known are {', '.join(sorted(known))}")
    return cls(**values)


def merge(base: Mapping[str, Any], changes: Mapping[str, Any], where: str = "") -> Dict[str, Any]:
    """Return `base` with the values of `changes`, section by section.

    Raises
    ------
    DescriptionError
        If `changes` has a key that `base` does not have (a typing error would otherwise change nothing, silently).
    """
    merged = dict(base)
    for key, value in changes.items():
        if key not in base:
            raise DescriptionError(f"{where}{key} is not a key of the base file; known are {', '.join(sorted(base))}")
        both_mappings = isinstance(value, dict) and isinstance(base[key], dict)
        merged[key] = merge(base[key], value, f"{where}{key}.") if both_mappings else value
    return merged


def load_raw(path: Optional[Union[str, Path]] = None) -> Dict[str, Any]:
    """Return the variables as they stand in the file, over those of the file that its key `base` names."""
    path = package_path() / "config" / "shellbot.yaml" if path is None else Path(path)
    data = read_yaml(path)
    if "base" not in data:
        return data
    changes = {key: value for key, value in data.items() if key != "base"}
    try:
        return merge(load_raw(path.parent / str(data["base"])), changes)
    except DescriptionError as error:
        raise DescriptionError(f"{path}: {error}") from error


def variables_from_raw(data: Mapping[str, Any]) -> Variables:
    """Check the raw values and return them in SI; see `load_variables`."""
    known = {"name", "geometry", "mass", "servos", "fan_drive", "joints", "shapes", "battery", "contact", "sensors"}
    unknown = sorted(set(data) - known)
    if unknown:
        raise DescriptionError(f"{unknown[0]} is not a known section; known are {', '.join(sorted(known))}")
    geometry, servos = _mapping(data, "geometry", ""), _mapping(data, "servos", "")
    joints, sensors = _mapping(data, "joints", ""), _mapping(data, "sensors", "")
    extra = sorted(set(servos) - _SERVO_SETTINGS - {key for key in servos if isinstance(servos[key], dict)})
    if extra:
        raise DescriptionError(f"servos.{extra[0]} is not a known key; known are {', '.join(sorted(_SERVO_SETTINGS))}")
    models = {key: value for key, value in servos.items() if isinstance(value, dict)}
    variables = Variables(
        name=str(_take(data, "name", "")),
        lower=_section(LowerLeg, _mapping(geometry, "lower", "geometry."), "geometry.lower."),
        upper=_section(UpperLeg, _mapping(geometry, "upper", "geometry."), "geometry.upper."),
        gore=_section(Gore, _mapping(geometry, "gore", "geometry."), "geometry.gore."),
        foot=_section(Foot, _mapping(geometry, "foot", "geometry."), "geometry.foot."),
        mass=_section(Mass, _mapping(data, "mass", ""), "mass."),
        servos={key: _section(Servo, value, f"servos.{key}.") for key, value in models.items()},
        servo_range=si(_number(_take(servos, "range_deg", "servos."), 10, 360, "servos.range_deg"), "deg"),
        servo_resolution=si(
            _number(_take(servos, "resolution_deg", "servos."), 1e-3, 5, "servos.resolution_deg"), "deg"
        ),
        compliance_slope=_number(
            _take(servos, "compliance_slope_steps", "servos."), 2, 128, "servos.compliance_slope_steps"
        ),
        servo_armature=_number(_take(servos, "armature_kgm2", "servos."), 0, 1, "servos.armature_kgm2"),
        servo_mass=_number(_take(servos, "mass_kg", "servos."), 0.001, 1, "servos.mass_kg"),
        fan_drive=_section(FanDrive, _mapping(data, "fan_drive", ""), "fan_drive."),
        joints={
            name: _section(JointLimits, _mapping(joints, name, "joints."), f"joints.{name}.") for name in JOINT_CLASSES
        },
        shapes=_section(Shapes, _mapping(data, "shapes", ""), "shapes."),
        battery=_section(Battery, _mapping(data, "battery", ""), "battery."),
        contact=_section(Contact, _mapping(data, "contact", ""), "contact."),
        imu=_section(Imu, _mapping(sensors, "imu", "sensors."), "sensors.imu."),
        camera=_section(Camera, _mapping(sensors, "camera", "sensors."), "sensors.camera."),
    )
    _check_relations(variables)
    return variables


def _check_relations(variables: Variables) -> None:
    for name, limits in variables.joints.items():
        if limits.servo not in variables.servos:
            choices = ", ".join(sorted(variables.servos))
            raise DescriptionError(f"joints.{name}.servo = {limits.servo!r} does not exist; choose one of {choices}")
        if not limits.lower < limits.upper:
            raise DescriptionError(
                f"joints.{name}: lower_rad {limits.lower} must be less than upper_rad {limits.upper}; exchange them"
            )
        gear = variables.fan_drive.reduction if name == "fan" else 1.0
        travel = gear * (limits.upper - limits.lower)
        if travel > variables.servo_range:
            raise DescriptionError(
                f"joints.{name}: the servo would turn {math.degrees(travel):.1f} deg, it has "
                f"{math.degrees(variables.servo_range):.1f}; reduce the range or fan_drive.reduction"
            )
    fixed = variables.shapes.rim_mass_share * variables.mass.chassis + 6 * variables.servo_mass + variables.battery.mass
    if fixed >= variables.mass.chassis:
        raise DescriptionError(
            f"mass.chassis_kg {variables.mass.chassis} must be more than rim, battery and six servos "
            f"together, {fixed:.3f} kg; raise it"
        )
    if variables.mass.shell_bracket >= variables.mass.upper_gore:
        raise DescriptionError("mass.shell_bracket_kg must be less than mass.upper_gore_kg, of which it is a part")


def load_variables(path: Optional[Union[str, Path]] = None) -> Variables:
    """Load, check and convert the variables file.

    Parameters
    ----------
    path : str or Path, optional
        The file; `config/shellbot.yaml` of the package by default. A file with the key `base` names another file and
        holds only what differs from it (`config/shellbot_older.yaml`).

    Returns
    -------
    Variables
        Frozen, SI.

    Raises
    ------
    DescriptionError
        If a key is missing, unknown, not a number or out of range; the message names the file and the key.
    """
    file = package_path() / "config" / "shellbot.yaml" if path is None else Path(path)
    data = load_raw(file)
    try:
        return variables_from_raw(data)
    except DescriptionError as error:
        raise DescriptionError(f"{file}: {error}") from error
