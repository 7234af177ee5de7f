# SPDX-License-Identifier: MIT
"""URDF and profile of a robot of the workspace, as its launch file has them; without a ROS master."""

from __future__ import annotations

import signal
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import List, Sequence, Tuple

from roslaunch.config import ROSLaunchConfig
from roslaunch.core import RLException
from roslaunch.xmlloader import XmlLoader

from robot_evaluation.errors import EvaluationError
from shellbot_common import PackageFileError, package_file
from shellbot_common.robot_profile import PARAMETER

LAUNCH = "launch/description.launch"


def described_robot(robot: str, arguments: Sequence[str] = ()) -> Tuple[str, str]:
    """Return the texts of URDF and profile.

    Parameters
    ----------
    robot : str
        Name; the package is NAME_description.
    arguments : sequence of str
        NAME:=VALUE of its description.launch.

    Raises
    ------
    EvaluationError
        If there is no such robot, or its description cannot be made.
    """
    try:
        file: Path = package_file(f"{robot}_description", LAUNCH)
    except PackageFileError:
        raise EvaluationError(f"there is no robot {robot!r}: no package {robot}_description with {LAUNCH}") from None
    known = [str(arg.get("name")) for arg in ElementTree.parse(str(file)).getroot().findall("arg")]
    unknown = [word for word in arguments if ":=" not in word or word.split(":=")[0] not in known]
    if unknown:
        takes = f"its arguments are {', '.join(known)}" if known else "it has no arguments"
        raise EvaluationError(f"{file.name} of {robot} does not take {unknown[0]}; {takes}, as NAME:=VALUE")
    config = ROSLaunchConfig()
    # Ctrl-C counts after it: roslaunch shows tracebacks otherwise, and so do the programs that make the texts, which
    # inherit the mask. By other threads, such as numpy's, it still reaches the handler.
    pressed: List[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        XmlLoader(resolve_anon=False).load(str(file), config, argv=list(arguments), verbose=False)
        texts = [str(config.params[f"/{name}"].value) for name in ("robot_description", PARAMETER)]
    except (RLException, KeyError) as error:
        raise EvaluationError(f"{file} with {' '.join(arguments) or 'no arguments'}: {error}") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if pressed:
        raise KeyboardInterrupt
    return texts[0], texts[1]
