#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A dynamic_reconfigure server per joint of the legs' controller, with ros_control's entries and ranges."""

from types import SimpleNamespace

import rospy
from dynamic_reconfigure.server import Server

ENTRIES = (
    ("p", "double", 10.0, -100000.0, 100000.0),
    ("i", "double", 0.1, -100000.0, 100000.0),
    ("d", "double", 1.0, -1000.0, 1000.0),
    ("i_clamp_min", "double", -10.0, -100000.0, 0.0),
    ("i_clamp_max", "double", 10.0, 0.0, 100000.0),
    ("antiwindup", "bool", False, False, True),
)


def pid_config():
    entries = [
        {"name": n, "type": t, "default": v, "min": low, "max": high, "level": 1, "description": n, "edit_method": ""}
        for n, t, v, low, high in ENTRIES
    ]
    return SimpleNamespace(
        config_description={
            "name": "Default", "type": "", "state": True, "cstate": "true", "id": 0, "parent": 0,
            "parameters": entries, "groups": [],
        },
        **{field: {e["name"]: e[key] for e in entries} for field, key in
           (("min", "min"), ("max", "max"), ("defaults", "default"), ("level", "level"), ("type", "type"))},
        all_level=1,
    )  # fmt: skip


def main():
    rospy.init_node("pid_servers")
    legs = rospy.resolve_name("shellbot_legs_controller")
    servers = [
        Server(pid_config(), lambda config, level: config, namespace=f"{legs}/{joint}/pid")
        for joint in rospy.get_param(f"{legs}/joints")
    ]
    rospy.loginfo("%d pid servers", len(servers))
    rospy.spin()


if __name__ == "__main__":
    main()
