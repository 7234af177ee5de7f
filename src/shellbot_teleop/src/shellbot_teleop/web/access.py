# SPDX-License-Identifier: MIT
"""Who may open the page: this machine without a token, other machines with one."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from typing import List, Tuple
from urllib.parse import urlsplit

from shellbot_teleop.texts import tr

_TOKEN_BYTES = 16


class Access:
    """
    Decides about requests.

    Parameters
    ----------
    host : str
        Address that the page is served on.

    Attributes
    ----------
    token : str
        To be shown by every request: a random one; empty on this machine alone.
    """

    def __init__(self, host: str) -> None:
        self.is_local = is_this_machine(host)
        self.token = "" if self.is_local else secrets.token_urlsafe(_TOKEN_BYTES)

    def refusal(self, host: str, shown: str) -> str:
        """Return why a request is refused, or "".

        Parameters
        ----------
        host : str
            Header Host: what the browser believes to speak to.
        shown : str
            The token that came along.
        """
        if self.token:
            if hmac.compare_digest(shown.encode(), self.token.encode()):
                return ""
            what = tr("The token in the address is wrong.") if shown else tr("The address lacks its token.")
            where = tr("Open the whole address that was printed when the page was started; it ends with ?token=...")
            return f"{what} {where}"
        # A page of another site could point its name to this machine, and drive the robot from the operator's browser.
        if is_this_machine(host_and_port(host)[0]):
            return ""
        return tr(
            "The page is served for this machine only: open it as localhost, through ssh -L if the robot is another "
            "machine, or start it with --host 0.0.0.0, which prints an address with a token."
        )


def host_and_port(host: str) -> Tuple[str, int]:
    """Return name and port of a header Host; "" and 0 where it has none, or is none."""
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname or "", parts.port or 0
    except ValueError:
        return "", 0


def is_this_machine(host: str) -> bool:
    """Tell whether an address or name is one that only this machine can reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def addresses(host: str, port: int, token: str) -> List[str]:
    """Return the addresses of the page that an operator may open."""
    names = [host]
    if host in ("0.0.0.0", "::", ""):
        names = [socket.gethostname(), _outward_address()]
    end = f"/?token={token}" if token else "/"
    return [f"http://{f'[{name}]' if ':' in name else name}:{port}{end}" for name in dict.fromkeys(filter(None, names))]


def _outward_address() -> str:
    """Return the address that other machines reach this one at, or ""; nothing is sent for this."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return ""
