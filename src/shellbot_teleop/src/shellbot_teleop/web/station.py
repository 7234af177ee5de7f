# SPDX-License-Identifier: MIT
"""Between the pages and the command model: requests in, effects out; a driving page that falls silent stops."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Callable, Iterable, List, Optional, Union

from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Effect, LayoutChanged, Notice, OfActions, Quit, ShowActions, ToggleHelp
from shellbot_teleop.link_events import LinkEvent, LinkState, OperatorSeen
from shellbot_teleop.observe import observe
from shellbot_teleop.texts import tr
from shellbot_teleop.web import requests
from shellbot_teleop.web.pages import Pages
from shellbot_teleop.web.requests import Request, RequestError, parse_request

_QUIET = 0.08  # s: two signs of life of a page
_GONE_AFTER = 2.0  # s; as long as the robot itself waits for an operator that is silent
_REPORT_EVERY = 5.0  # s; a page that is no page of ours must not fill the robot's log
_FROM_ANY_PAGE = frozenset(("control.take", "safety.emergency_stop"))
_OF_THE_PAGE = (LayoutChanged, ToggleHelp, ShowActions, Quit)  # it shows the first, and does the others itself

ActionRequest = Union[requests.RunAction, requests.PauseAction, OfActions]


class Station:
    """
    The robot's end of all pages.

    Parameters
    ----------
    model : CommandModel
        The operator's command; one for all pages, of which one drives.
    config : TeleopConfig
        How long a page may be silent; whether the first page takes control by itself.
    execute : callable
        Carries out an effect.
    perform : callable
        Passes a request about the robot's actions on.
    tell : callable
        Called with the number of a page, or None for all, and a Notice for its operator.
    clock : callable
        Steady clock, s.
    """

    def __init__(
        self,
        model: CommandModel,
        config: TeleopConfig,
        execute: Callable[[Effect], None],
        perform: Callable[[ActionRequest], None],
        tell: Callable[[Optional[int], Notice], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model, self.pages = model, Pages(config.page_silence, _GONE_AFTER)
        self.link = LinkState(False, tr("Connecting to ROS."))
        self._takes_at_once = config.armed
        self._silence = config.page_silence
        self._execute, self._perform, self._tell, self._clock = execute, perform, tell, clock
        self._reported, self._watched = -_REPORT_EVERY, clock()

    # ------------------------------------------------------------------ pages

    def open(self, page: int, address: str) -> None:
        """Take a page that was opened."""
        self.pages.open(page, address, self._clock())
        if self._takes_at_once and self.pages.driver is None and self.link.connected:
            self._take(page)

    def close(self, page: int) -> None:
        """Take a page that was closed, or whose connection broke: what it held is dropped, and control is free."""
        if page == self.pages.driver:
            self._halt(tr("its page was closed or cut off"))
            self._give_up()
        self.pages.close(page)

    def receive(self, page: int, text: Union[str, bytes]) -> None:
        """Take a message of a page; one that is no request moves nothing and is answered in words."""
        try:
            request = parse_request(text)
        except RequestError as error:
            self._tell(page, Notice("error", tr("The page sent what is no request: {error}.", error=error)))
            self._report_malformed(str(error))
            return
        self.pages.hear(page, self._clock())
        if page == self.pages.driver:
            for effect in self.model.heartbeat():  # at once: without them the robot brakes, harder than at a zero
                self._execute(effect)
        if isinstance(request, requests.Look):
            self.pages.look(page, (name for name, is_shown in asdict(request).items() if is_shown))
        elif isinstance(request, requests.Drop):
            if page == self.pages.driver and request.hidden:
                self._halt(tr("its page is not seen any longer"))
                self._give_up()
            elif page == self.pages.driver:
                self._carry_out(self.model.release_all(self._clock()), page)
        elif _action_of(request, self.model) == "control.take":
            self._take(page)
        elif isinstance(request, requests.Release):
            if page == self.pages.driver:
                self._carry_out(self.model.release(request.key, self._clock()), page)
        elif not isinstance(request, requests.Alive):
            self._command(page, request)

    def _report_malformed(self, text: str) -> None:
        if self._clock() - self._reported >= _REPORT_EVERY:
            self._reported = self._clock()
            self._execute(Notice("warn", tr("A page sent what is no request: {error}.", error=text)))

    def _take(self, page: int) -> None:
        refused = self.pages.drive(page, self._clock(), self.model.control.armed)
        if refused:
            self._tell(page, Notice("warn", tr("Control refused: {reason}", reason=refused)))
        else:
            self._carry_out(self.model.perform("control.take", self._clock()), page)

    def _command(self, page: int, request: Request) -> None:
        """Do what a page requests, if it drives or any page may; without control the model itself refuses."""
        is_foreign = page != self.pages.driver and self.model.control.armed
        if is_foreign and _action_of(request, self.model) not in _FROM_ANY_PAGE:
            self._tell(page, Notice("warn", tr("Monitor mode, nothing was sent: {who}.", who=self.pages.who)))
            return
        if isinstance(request, (requests.RunAction, requests.PauseAction, OfActions)):
            refused = self.model.refused(stopped_counts=isinstance(request, requests.RunAction))
            if not refused:
                self._perform(request)
            self._carry_out(refused, page)
        else:
            self._carry_out(self._effects(request, self._clock()), page)

    def _effects(self, request: Request, t: float) -> List[Effect]:
        model = self.model
        if isinstance(request, requests.Press):
            return model.press(request.key, t)
        if isinstance(request, requests.Push):
            return model.push_stick(request.axes, t)
        if isinstance(request, requests.Do):
            return model.perform(request.action, t)
        if isinstance(request, requests.SetScale):
            return model.refused(stopped_counts=False) or model.set_scale(request.value, t)
        if isinstance(request, requests.SetGait):
            return model.set_gait(request.name)
        if isinstance(request, requests.SetLayout):
            return model.set_layout(request.name, t)
        if isinstance(request, requests.SetPose):
            return model.set_pose_target({request.axis: request.value}, t)
        if isinstance(request, requests.SetShells):
            return model.set_shells_target(request.axis, request.value, t)
        return []

    # ------------------------------------------------------------------- time

    def watch(self) -> None:
        """Stop what a page that fell silent held; call it often: the robot drives on until this is noticed."""
        t, pages = self._clock(), self.pages
        # After a stall of our own the page's messages wait to be read: it is not gone for that.
        has_stalled, self._watched = t - self._watched > self._silence, t
        if pages.driver is not None and not pages.is_alive(t):
            self._halt(tr("its page was silent for {seconds:g} s", seconds=self._silence))
            if pages.is_gone(t) and not has_stalled:
                self._give_up()

    def tick(self) -> None:
        """Go on with what is held, as long as its page is heard: the robot takes a velocity for a sign of life, too."""
        self.watch()
        t = self._clock()
        if self.model.active and self.pages.silence(t) <= _QUIET:
            self._carry_out(self.model.tick(t), self.pages.driver)

    def end(self) -> None:
        """Drop everything before the program ends."""
        self._halt(tr("the program that serves the page ends"))

    def _halt(self, reason: str) -> None:
        """Stop what is driven or still moving, and report why."""
        if self.model.active:
            self._carry_out(
                [*self.model.halt(self._clock()), Notice("warn", tr("Stopped, because {reason}.", reason=reason))], None
            )

    def _give_up(self) -> None:
        self.pages.dismiss()
        if self.model.control.armed:
            self._carry_out(self.model.perform("control.give_up", self._clock()), None)

    # ------------------------------------------------------------ from the robot

    def observe(self, event: LinkEvent) -> None:
        """Take over what the link to ROS tells."""
        if isinstance(event, LinkState):
            self.link = event
            self._tell(None, Notice("info" if event.connected else "warn", event.text))
            return
        if isinstance(event, Notice):
            self._tell(None, event)
            return
        had_control = self.model.control.armed
        self._carry_out(observe(self.model, event, self._clock()), None)
        if isinstance(event, OperatorSeen) and event.is_us and self.pages.driver is None:
            self._give_up()  # its page has gone meanwhile
        elif had_control and not self.model.control.armed:
            self.pages.dismiss()

    def _carry_out(self, effects: Iterable[Effect], page: Optional[int]) -> None:
        for effect in effects:
            if isinstance(effect, Notice):
                self._tell(page, effect)
            if isinstance(effect, _OF_THE_PAGE):
                continue
            if isinstance(effect, OfActions):
                self._perform(effect)
            else:
                self._execute(effect)


def _action_of(request: Request, model: CommandModel) -> str:
    """Return the action that a request asks for, by its key or its name, or ""."""
    if isinstance(request, requests.Do):
        return request.action
    binding = model.keymap.find(model.layout, request.key) if isinstance(request, requests.Press) else None
    return binding.action if binding is not None else ""
