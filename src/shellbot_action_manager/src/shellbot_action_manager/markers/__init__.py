# SPDX-License-Identifier: MIT
"""What a viewer such as RViz draws of the feet, their support and their plan."""
