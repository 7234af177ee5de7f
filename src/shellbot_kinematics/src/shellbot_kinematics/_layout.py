# SPDX-License-Identifier: MIT
"""Where everything stands in the packed arrays of the kernels, and the codes they answer with.

numba charges for every array that crosses from Python (about 60 ns each), so kernels take few, packed ones.
"""

from __future__ import annotations

# frames, as in references.Frame
FOOT, SPHERE_CENTRE, JOINT, HOLD = 0, 1, 2, 3

# solvers, as in solver_config.SOLVERS
CLOSED_FORM, CLIK, LM = 0, 1, 2

# status of a limb after a tick, as in reports.Status
OK, HELD, BAD_REFERENCE, OUT_OF_REACH, AT_LIMIT, ABSENT = 0, 1, 2, 3, 4, 5

# what stopped a limb: 0 nothing, 1..8 joint (1 + 2 * index, + 1 at the upper end), then geometry
STOP_NONE, STOP_FAR, STOP_NEAR, STOP_AXIS, STOP_PLANE, STOP_HEADING = 0, 9, 10, 11, 12, 13

REACHED = 1e-6  # m: a target is met

# ---- one lower leg: axes and lengths, tips, orientation of the sphere centre, limits (leg_geometry.py writes them)
G_FAN, G_ROT, G_OFF = 0, 3, 12  # fan axis (3,) and axes of the leg (3, 3) in base_link; coxa axis from the fan's (3,)
G_SFAN, G_L2, G_ZF, G_SF, G_ST, G_L, G_A0 = 15, 16, 17, 18, 19, 20, 21
G_TIP = 22  # (h, m, b0) of the foot, then of the sphere centre
G_ACROSS, G_OUT, G_PITCH = 28, 31, 34  # the leg's y and x axis (3,) in the sphere-centre frame, pitch (rad), at zero
G_LOW, G_HIGH, G_SPEED = 35, 39, 43  # limits of fan, coxa, femur, tibia
LEG = 47

# ---- one upper leg; U_XC: the leg's x axis (3,) in the sphere-centre frame at zero
U_ORG, U_ROT, U_SS, U_SH, U_L, U_A0, U_H, U_M, U_B0, U_XC = 0, 3, 12, 13, 14, 15, 16, 17, 18, 19
U_LOW, U_HIGH, U_SPEED = 22, 24, 26
SHELL = 28

# ---- the robot: six legs, six shells (zero if there are none), how many shells; then what the closed loop needs of the
# legs, constant by constant in the order above (G_FAN to the foot's tip), leg by leg in lanes, the last leg three times
LANES = 8
TABLE = (G_TIP + 3) * LANES + 1
P_SHELL = 6 * LEG
P_SHELLS = P_SHELL + 6 * SHELL
P_TABLE = P_SHELLS + 1
PACKED = P_TABLE + TABLE

# ---- one question to a leg's inverse (packed.foot_inverse): point, joints in and out, 1 = keep to the limits, tip (0
# foot, 1 sphere centre), 1 = branch nearest to the joints even if another reaches farther
F_POINT, F_JOINTS, F_LIMITED, F_TIP, F_NEAREST = 0, 3, 7, 8, 9
LEG_BLOCK = 10

# ---- one question to all limbs: feet (6, 3), sphere centres of the upper limbs (6, 3), joints in and out, limits and
# nearest branch as above
L_FEET, L_SHELLS, L_JOINTS, L_LIMITED, L_NEAREST = 0, 18, 36, 72, 73
LIMBS_BLOCK = 74

# ---- one step of the closed loop of six feet: dt, gains (3,), fan rate, feet and their velocities (6, 3), joints
C_DT, C_GAIN, C_FAN, C_FEET, C_RATES, C_JOINTS = 0, 1, 4, 5, 23, 41
CLIK_BLOCK = 65

# ---- the same as a loop that keeps the robot's table and its joints in lanes, and is told only the task: (feet,
# velocities), (2, 6, 3)
K_DT, K_GAIN, K_FAN, K_JOINTS = 0, 1, 4, 5
K_TABLE = K_JOINTS + 4 * LANES
CLIK_LOOP = K_TABLE + TABLE
CLIK_TASK = 36

# ---- one question to an upper leg's inverse (packed.shell_inverse): point, joints in and out, limits and nearest as
# above
H_POINT, H_JOINTS, H_LIMITED, H_NEAREST = 0, 3, 5, 6
SHELL_BLOCK = 7

# ---- references of one tick (LimbReferences.packed)
R_STAMP, R_FAN, R_FAN_RATE, R_FRAME = 0, 1, 2, 3
R_P, R_V, R_RPY, R_W, R_JOINT, R_RATE = 15, 51, 87, 123, 159, 195  # (12, 3) each
REFERENCES = 231

# ---- the solver between ticks: settings, then targets of the tick before and how they moved, what is blended out
S_DT, S_SOLVER, S_STEP, S_BLEND, S_GAIN = 0, 1, 2, 3, 4  # S_GAIN: x, y, z, yaw, pitch
S_MEASURED, S_LAST, S_LAST_RATE, S_OFFSET = 9, 45, 81, 117  # (36,) each
S_LEFT, S_MODE = 153, 166  # (13,) each; row 12 is the fan
STATE = 179

# ---- answer of one tick: joints, rates (36,), distance (12,); codes: status, stop (12,)
O_JOINTS, O_RATES, O_DISTANCE = 0, 36, 72
ANSWER = 84
CODES = 24
