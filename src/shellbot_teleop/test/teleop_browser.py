# SPDX-License-Identifier: MIT
"""Headless Chromium with a page as large as a phone's or a desktop's, its processes at hand for a violent end."""

from __future__ import annotations

import contextlib
import io
import signal
import tempfile
import time

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

WAIT = 60.0  # s
PROGRAM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--use-angle=swiftshader",  # WebGL on the processor
    "--enable-unsafe-swiftshader",
)


class Browser:
    def __init__(self, address, width, height, is_phone=False):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = PROGRAM
        for option in (*OPTIONS, f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        metrics = {"width": width, "height": height, "pixelRatio": 1.0, "touch": is_phone, "mobile": is_phone}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_script_timeout(WAIT)
        self._processes = psutil.Process(self.driver.service.process.pid).children(recursive=True)
        self._finger = None
        self.driver.get(address)

    def find(self, name):
        return self.driver.find_element(By.ID, name)

    def text(self, name):
        return self.driver.execute_script("return document.getElementById(arguments[0]).textContent", name)

    def click(self, name):
        """Click as soon as it can be clicked."""
        self.until(lambda: self.find(name).is_enabled(), f"{name} cannot be clicked")
        self.find(name).click()

    def click_text(self, where, text):
        """Click the button of a group with a text, as soon as it can be clicked."""
        path = f"//*[@id='{where}']//button[text()='{text}']"
        self.until(lambda: self.driver.find_element(By.XPATH, path).is_enabled(), f"{text} cannot be clicked")
        self.driver.find_element(By.XPATH, path).click()

    def until(self, condition, words):
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            with contextlib.suppress(WebDriverException):
                if condition():
                    return
            time.sleep(0.05)
        raise AssertionError(f"{words}; the page says {self.text('notices')!r}, {self.text('trouble')!r}")

    def hold(self, key):
        ActionChains(self.driver).key_down(key).perform()

    def let_go(self, key):
        ActionChains(self.driver).key_up(key).perform()

    def push(self, name, right, down):
        """Put a finger onto the middle of a stick and move it by pixels."""
        self._finger = ActionBuilder(self.driver, mouse=PointerInput(POINTER_TOUCH, "finger"), duration=50)
        pointer = self._finger.pointer_action
        pointer.move_to(self.find(name)).pointer_down().move_to(self.find(name), right, down)
        self._finger.perform()

    def lift(self):
        """Lift the finger, if it is down."""
        if self._finger is not None:
            self._finger.clear_actions()
            self._finger = None

    def pixels(self, name):
        """The part of the page as (h, w, 3) integers."""
        image = Image.open(io.BytesIO(self.find(name).screenshot_as_png)).convert("RGB")
        return np.asarray(image).astype(int)

    def errors(self):
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]

    def freeze(self):
        """Stop all its processes: no connection is closed, as when a network is cut."""
        self._signal(signal.SIGSTOP)

    def kill(self):
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGKILL)

    def _signal(self, number):
        for process in self._processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def close(self):
        self.kill()
        self.driver.service.process.kill()
        self.driver.service.process.wait(WAIT)
        self._profile.cleanup()
