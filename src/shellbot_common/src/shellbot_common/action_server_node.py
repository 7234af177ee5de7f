# SPDX-License-Identifier: MIT
"""An action server whose own timer may still publish while its node shuts down."""

from __future__ import annotations

import actionlib

from shellbot_common.publisher_node import Publisher


class ActionServer(actionlib.ActionServer):
    """An ``actionlib.ActionServer`` that ends without a traceback; why is said at `Publisher`."""

    def initialize(self) -> None:
        """Make the topics, which drop messages once a shutdown was requested."""
        super().initialize()
        for publisher in (self.status_pub, self.result_pub, self.feedback_pub):
            publisher.__class__ = Publisher
