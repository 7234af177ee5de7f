# SPDX-License-Identifier: MIT
"""Writes what is generated from config/shellbot.yaml: inertials, collisions, joint classes and controllers in
config/, and meshes/.

Run it after a change of the variables, with the workspace's interpreter (.venv/bin/python), and commit what changed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PACKAGE / "src"))

from shellbot_control.controllers import controllers_text  # noqa: E402
from shellbot_description import VARIANTS, expand, robot_profile  # noqa: E402
from shellbot_description.generation import write_config, write_joint_classes, write_meshes  # noqa: E402
from shellbot_description.loading import load_variables  # noqa: E402


def main() -> None:
    """Write the files and say which."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", default=str(PACKAGE / "config" / "shellbot.yaml"), help="variables file")
    parser.add_argument("--output", default=str(PACKAGE), help="folder that gets config/ and meshes/")
    parser.add_argument("--no-meshes", action="store_true", help="only config/")
    options = parser.parse_args()
    variables, output = load_variables(options.variables), Path(options.output)
    (output / "config").mkdir(parents=True, exist_ok=True)
    written = list(write_config(output / "config", variables).values())
    written.append(write_joint_classes(output / "config", variables))
    for variant in VARIANTS:
        path = output / "config" / f"controllers_{variant}.yaml"
        urdf = expand(variant, variables=options.variables)
        path.write_text(controllers_text(robot_profile(variant, options.variables), urdf), encoding="utf-8")
        written.append(path)
    if not options.no_meshes:
        written += write_meshes(output / "meshes", variables)
    size = sum(path.stat().st_size for path in written)
    print(f"{len(written)} files, {size / 1e6:.2f} MB, below {output}")


if __name__ == "__main__":
    main()
