# SPDX-License-Identifier: MIT
"""The operator's page in headless Chromium, as large as on a phone or a desktop, which may end violently."""

from __future__ import annotations

import contextlib
import io
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any, Callable, Iterator, List, Optional, Tuple

import numpy as np
import psutil
from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.interaction import POINTER_TOUCH
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By

from robot_evaluation.errors import EvaluationError

from .launching import teleop_command

PROGRAM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
_WAIT = 60.0  # s
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # root has none
    "--disable-background-networking",
    "--use-angle=swiftshader",  # WebGL on the processor
    "--enable-unsafe-swiftshader",
)


@contextlib.contextmanager
def page_server() -> Iterator[Tuple[str, int]]:
    """Start the node that serves the page; its address and process."""
    command = teleop_command("web_node", "--port", "0")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as node:
        try:
            assert node.stdout is not None
            yield node.stdout.readline().split()[-1], node.pid
        finally:
            node.terminate()


class Browser:
    """A browser that shows the page.

    Parameters
    ----------
    address : str
        Of the page.
    width, height : int
        Pixels.
    is_phone : bool
        Whether it is touched.
    scheme : str
        dark or light: what its user prefers.
    """

    def __init__(self, address: str, width: int, height: int, is_phone: bool = False, scheme: str = "light") -> None:
        self._profile = tempfile.mkdtemp(prefix="browser_")
        options = webdriver.ChromeOptions()
        options.binary_location = PROGRAM
        for option in (*_OPTIONS, f"--user-data-dir={self._profile}", f"--window-size={width},{height}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        metrics = {"width": width, "height": height, "pixelRatio": 1.0, "touch": is_phone, "mobile": is_phone}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self._processes = psutil.Process(self.driver.service.process.pid).children(recursive=True)
        self._finger: Optional[ActionBuilder] = None
        preferred = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", preferred)
        self.driver.get(address)

    def find(self, name: str) -> Any:
        """Return the element with an id."""
        return self.driver.find_element(By.ID, name)

    def text(self, name: str) -> str:
        """Return the text of the element with an id."""
        return str(self.driver.execute_script("return document.getElementById(arguments[0]).textContent", name))

    def click(self, name: str) -> None:
        """Click the element with an id as soon as it can be clicked."""
        self.until(lambda: self.find(name).is_enabled(), f"{name} cannot be clicked")
        self.find(name).click()

    def click_text(self, where: str, text: str) -> None:
        """Click the button of a group with a text, as soon as it can be clicked."""
        path = f"//*[@id='{where}']//button[text()='{text}']"
        self.until(lambda: self.driver.find_element(By.XPATH, path).is_enabled(), f"{text} cannot be clicked")
        self.driver.find_element(By.XPATH, path).click()

    def until(self, condition: Callable[[], bool], words: str) -> None:
        """Wait until something is true; raises EvaluationError with `words` when it does not become so."""
        deadline = time.monotonic() + _WAIT
        while time.monotonic() < deadline:
            with contextlib.suppress(WebDriverException):  # the page draws itself anew
                if condition():
                    return
            time.sleep(0.05)
        raise EvaluationError(f"{words}; the page says {self.text('notices')!r}, {self.text('trouble')!r}")

    def take_control(self) -> None:
        """Take control, and wait until the page says so."""
        self.click("control")
        self.until(lambda: self.text("who") == "you drive", "the page did not get control")

    def hold(self, key: str) -> None:
        """Press a key."""
        ActionChains(self.driver).key_down(key).perform()

    def release(self, key: str) -> None:
        """Release a key."""
        ActionChains(self.driver).key_up(key).perform()

    def push(self, name: str, right: int, down: int) -> None:
        """Put a finger onto the middle of a stick and move it by pixels."""
        self._finger = ActionBuilder(self.driver, mouse=PointerInput(POINTER_TOUCH, "finger"), duration=50)
        pointer = self._finger.pointer_action
        pointer.move_to(self.find(name)).pointer_down().move_to(self.find(name), right, down)
        self._finger.perform()

    def lift(self) -> None:
        """Lift the finger, if it is down."""
        if self._finger is not None:
            self._finger.clear_actions()
            self._finger = None

    def pixels(self, name: str) -> np.ndarray:
        """Return what an element shows, (h, w, 3) integers."""
        image = Image.open(io.BytesIO(self.find(name).screenshot_as_png)).convert("RGB")
        return np.asarray(image).astype(int)

    def picture(self) -> Image.Image:
        """Return what the page shows."""
        return Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")

    def errors(self) -> List[str]:
        """Return what the page's own programs complained of."""
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]

    def signal(self, number: int) -> None:
        """Send a signal to all its processes."""
        for process in self._processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def close(self) -> None:
        """End it, and forget its profile."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.driver.service.process.kill()
        self.driver.service.process.wait(_WAIT)
        shutil.rmtree(self._profile, ignore_errors=True)
