# SPDX-License-Identifier: MIT
"""Is scipy here? Imported before it is used, so that whoever installed without it reads what to do."""

try:
    import scipy  # noqa: F401
except ImportError as error:
    raise type(error)(
        f"scipy cannot be imported ({error}); robot_mechanics needs it for trajectories, the integrator rk45, friction"
        " of contacts and closed_form: pip install scipy",
        name="scipy",
    ) from error
