# SPDX-License-Identifier: MIT
"""A robot that takes a second of wall clock to read a command."""

import time

import rospy
from geometry_msgs.msg import Pose, Twist
from sensor_msgs.msg import JointState
from std_msgs.msg import String

rospy.init_node("slow_robot", disable_rostime=True)
rospy.Subscriber("cmd_vel", Twist, lambda message: time.sleep(1.0))
rospy.Subscriber("body_pose", Pose, lambda message: None)
rospy.Subscriber("gait", String, lambda message: None)
joint_states = rospy.Publisher("joint_states", JointState, queue_size=1)
while not rospy.is_shutdown():
    message = JointState()
    message.header.stamp = rospy.Time.now()
    joint_states.publish(message)
    time.sleep(0.01)
