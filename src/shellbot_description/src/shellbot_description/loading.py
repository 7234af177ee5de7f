# SPDX-License-Identifier: MIT
"""Reads and checks the variables file."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, Dict, Iterable, Mapping, Tuple, Type, TypeVar, Union

from shellbot_common import SettingsError, check_names, check_number, read_yaml
from shellbot_description.errors import DescriptionError
from shellbot_description.files import package_path
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
Source = Union[
    str, Path, Mapping[str, Any], None
]  # of variables: a file, changes of the adopted set, or the set itself

_SECTIONS = (
    "name", "geometry", "mass", "servos", "fan_drive", "joints", "shapes", "battery", "contact", "sensors",
)  # fmt: skip
# of all servos: least, greatest
_SERVO_SETTINGS = {
    "range_deg": (10.0, 360.0),
    "resolution_deg": (1e-3, 5.0),
    "compliance_slope_steps": (2.0, 128.0),
    "armature_kgm2": (0.0, 1.0),
    "mass_kg": (0.001, 1.0),
}


def _mapping(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise DescriptionError(f"{where}{key}: this section is missing or is no mapping; see config/shellbot.yaml")
    return value


def _section(cls: Type[Section], data: Mapping[str, Any], where: str) -> Section:
    values: Dict[str, Any] = {}
    keys = {item.name: _key(item) for item in dataclasses.fields(cls)}  # type: ignore[arg-type]
    _check_keys(where, data, list(keys.values()))
    for item in dataclasses.fields(cls):  # type: ignore[arg-type]
        value = data[keys[item.name]]
        if "unit" in item.metadata:
            unit, low, high = (item.metadata[name] for name in ("unit", "low", "high"))
            value = si(check_number(where + keys[item.name], value, low, high, unit), unit)
        values[item.name] = value
    return cls(**values)


def _key(item: Any) -> str:
    """Return the key of a field: its name, behind it the unit of the file."""
    return "_".join(filter(None, (item.name, item.metadata.get("unit"))))


def _check_keys(where: str, data: Any, keys: Iterable[str]) -> None:
    """Raise SettingsError if a key is unknown or missing."""
    try:
        check_names(data, keys, keys)
    except SettingsError as error:
        raise SettingsError(f"{where}{error}; config/shellbot.yaml says what each means") from None


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


def load_raw(source: Source = None) -> Dict[str, Any]:
    """Return the variables as they stand in the file, over those of the file that its key `base` names.

    Instead of a file, changes of the adopted set: `{"fan_drive.reduction": 1.0}`.
    """
    if isinstance(source, Mapping):
        changes: Dict[str, Any] = {}
        for dotted, value in source.items():
            *sections, key = dotted.split(".")
            inner = changes
            for section in sections:
                inner = inner.setdefault(section, {})
            inner[key] = value
        return merge(load_raw(), changes)
    return _load_file(package_path() / "config" / "shellbot.yaml" if source is None else Path(source), ())


def _load_file(path: Path, above: Tuple[Path, ...]) -> Dict[str, Any]:
    """Return what `load_raw` does of a file; `above`: the files of which it is the base."""
    if path.resolve() in above:
        raise DescriptionError(f"its base leads back to {path}; name another file, such as the package's shellbot.yaml")
    data = read_yaml(path, DescriptionError)
    if "base" not in data:
        return data
    changes = {key: value for key, value in data.items() if key != "base"}
    try:
        return merge(_load_file(path.parent / str(data["base"]), (*above, path.resolve())), changes)
    except DescriptionError as error:
        raise DescriptionError(f"{path}: {error}") from error


def variables_from_raw(data: Mapping[str, Any]) -> Variables:
    """Check the raw values and return them in SI; see `load_variables`."""
    try:
        variables = _variables(data)
    except SettingsError as error:
        raise DescriptionError(str(error)) from None
    _check_relations(variables)
    return variables


def _variables(data: Mapping[str, Any]) -> Variables:
    _check_keys("", data, _SECTIONS)
    geometry, servos = _mapping(data, "geometry", ""), _mapping(data, "servos", "")
    joints, sensors = _mapping(data, "joints", ""), _mapping(data, "sensors", "")
    models = {key: value for key, value in servos.items() if isinstance(value, dict)}
    _check_keys("servos.", {key: value for key, value in servos.items() if key not in models}, _SERVO_SETTINGS)
    servo = {
        name: check_number(f"servos.{name}", servos[name], low, high) for name, (low, high) in _SERVO_SETTINGS.items()
    }
    return Variables(
        name=str(data["name"]),
        lower=_section(LowerLeg, _mapping(geometry, "lower", "geometry."), "geometry.lower."),
        upper=_section(UpperLeg, _mapping(geometry, "upper", "geometry."), "geometry.upper."),
        gore=_section(Gore, _mapping(geometry, "gore", "geometry."), "geometry.gore."),
        foot=_section(Foot, _mapping(geometry, "foot", "geometry."), "geometry.foot."),
        mass=_section(Mass, _mapping(data, "mass", ""), "mass."),
        servos={key: _section(Servo, value, f"servos.{key}.") for key, value in models.items()},
        servo_range=si(servo["range_deg"], "deg"),
        servo_resolution=si(servo["resolution_deg"], "deg"),
        compliance_slope=servo["compliance_slope_steps"],
        servo_armature=servo["armature_kgm2"],
        servo_mass=servo["mass_kg"],
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
    fixed = (
        variables.shapes.rim_mass_fraction * variables.mass.chassis + 6 * variables.servo_mass + variables.battery.mass
    )
    if fixed >= variables.mass.chassis:
        raise DescriptionError(
            f"mass.chassis_kg {variables.mass.chassis} must be more than rim, battery and six servos "
            f"together, {fixed:.3f} kg; raise it"
        )
    if variables.mass.shell_bracket >= variables.mass.upper_gore:
        raise DescriptionError("mass.shell_bracket_kg must be less than mass.upper_gore_kg, of which it is a part")


def load_variables(source: Source = None) -> Variables:
    """Load, check and convert the variables file.

    Parameters
    ----------
    source : str, Path or mapping, optional
        The file; `config/shellbot.yaml` of the package by default. A file with the key `base` names another file and
        holds only what differs from it (`config/shellbot_older.yaml`). A mapping holds what differs from the
        package's: `{"fan_drive.reduction": 1.0}`.

    Returns
    -------
    Variables
        Frozen, SI.

    Raises
    ------
    DescriptionError
        If a key is missing, unknown, not a number or out of range; the message names the file and the key.
    """
    data = load_raw(source)
    try:
        return variables_from_raw(data)
    except DescriptionError as error:
        if isinstance(source, Mapping):
            raise
        raise DescriptionError(f"{source or package_path() / 'config' / 'shellbot.yaml'}: {error}") from error
