// SPDX-License-Identifier: MIT
// The operator's page: shows what the robot's page server tells, sends what the operator does. It decides nothing.

import { Keys } from "./keys.js";
import { Stick } from "./stick.js";
import { RobotView } from "./robot.js";
import { ActionsTab, JointsTab, LogTab, degrees, figure } from "./tabs.js";
import { tr } from "./texts.js";

const $ = (id) => document.getElementById(id);
const ALIVE_MS = 40; // while this page drives; the robot brakes after 200 ms without
const IDLE_MS = 500;
const RETRY_MS = 1000;
const NOTICE_MS = { info: 3000, warn: 6000, error: 9000 };

const token = new URLSearchParams(location.search).get("token") || "";
history.replaceState(null, "", location.pathname); // it is in a cookie by now, and need not stand in every screenshot

const state = {};
let socket = null;
let isOpen = false;
let aliveAt = 0;

// ------------------------------------------------------------------ connection

function send(type, fields = {}) {
  if (isOpen) socket.send(JSON.stringify({ type, ...fields }));
}

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live${token ? `?token=${encodeURIComponent(token)}` : ""}`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    isOpen = true;
    document.body.classList.remove("offline");
    for (const key of Object.keys(state)) delete state[key];
    view.forget(); // a server that was restarted counts its robots anew
    look();
    showTrouble();
  };
  socket.onmessage = (event) => (typeof event.data === "string" ? take(JSON.parse(event.data)) : takeBytes(event.data));
  socket.onclose = () => {
    const was = isOpen;
    isOpen = false;
    letGo();
    state.control = { ours: false, who: "" };
    document.body.classList.add("offline");
    if (was) showControl();
    explain();
    setTimeout(connect, RETRY_MS);
  };
}

async function explain() {
  let text = tr("The page server on the robot does not answer. This page connects again as soon as it does.");
  try {
    const answer = await fetch(`scene.json${token ? `?token=${encodeURIComponent(token)}` : ""}`);
    if (answer.status === 403) text = await answer.text();
  } catch (error) { /* it is what the text says */ }
  if (!isOpen) showTrouble(text);
}

function takeBytes(buffer) {
  const kind = String.fromCharCode(new Uint8Array(buffer, 0, 1)[0]);
  if (kind === "P") view.pose(new Float32Array(buffer.slice(1)));
  else if (kind === "C") showPicture(new Blob([new Uint8Array(buffer, 1)], { type: "image/jpeg" }));
}

// The page that drives tells 25 times a second that it works and is seen; from here, so that a frozen page cannot.
setInterval(() => {
  const now = performance.now();
  if (document.visibilityState !== "visible" || now - aliveAt < (drives() ? ALIVE_MS - 5 : IDLE_MS)) return;
  aliveAt = now;
  send("alive");
}, ALIVE_MS);

function letGo() {
  keys.clear();
  moveStick.release();
  turnStick.release();
  deadManUp();
}

addEventListener("blur", () => { letGo(); send("drop", { hidden: false }); });
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") { letGo(); send("drop", { hidden: true }); }
});
addEventListener("pagehide", () => { if (socket) socket.close(); });

// ------------------------------------------------------------------ input

const drives = () => Boolean(state.control && state.control.ours);

function bound(name) {
  if (!state.offered) return null;
  for (const group of state.offered.groups) for (const line of group.lines) if (line.keys.includes(name)) return line.action;
  return null;
}

const keys = new Keys(
  (name) => bound(name) !== null,
  (name) => {
    const action = bound(name);
    if (action === "help.keys") toggleHelp();
    else if (action === "actions.show") showActions();
    else if (action === "session.quit") notify("info", tr("The page has no key to quit: close the tab. The robot stops and control is free."));
    else send("press", { key: name });
  },
  (name) => send("release", { key: name }),
);

const stick = { x: 0, y: 0, yaw: 0, sentAt: 0, timer: null };
function push() {
  clearTimeout(stick.timer);
  const wait = stick.sentAt + ALIVE_MS - performance.now();
  const isCentre = !stick.x && !stick.y && !stick.yaw;
  if (wait > 0 && !isCentre) { stick.timer = setTimeout(push, wait); return; }
  stick.sentAt = performance.now();
  send("push", { axes: [stick.x, stick.y, stick.yaw] });
}
const moveStick = new Stick($("stick"), (right, up) => { stick.x = up; stick.y = -right; push(); }, false);
const turnStick = new Stick($("turn"), (right) => { stick.yaw = -right; push(); }, true);

let deadManKey = null;
function deadManUp() {
  if (deadManKey !== null) send("release", { key: deadManKey });
  deadManKey = null;
}
$("dead-man").onpointerdown = () => { deadManKey = state.offered.dead_man[0]; send("press", { key: deadManKey }); };
for (const end of ["onpointerup", "onpointercancel", "onpointerleave"]) $("dead-man")[end] = deadManUp;

// on the press, not on the release
$("stop").onpointerdown = () => send("do", { action: "safety.emergency_stop" });
$("stop").onclick = (event) => { if (event.detail === 0) send("do", { action: "safety.emergency_stop" }); }; // by the keyboard
$("halt").onpointerdown = () => send("do", { action: "drive.stop" });
$("rearm").onclick = () => send("do", { action: "safety.rearm" });
$("control").onclick = () => { send("do", { action: drives() ? "control.give_up" : "control.take" }); };
$("neutral").onclick = () => send("do", { action: "pose.neutral" });
$("speed").oninput = (event) => send("scale", { value: Number(event.target.value) });
// A button that was clicked gives the keys back to the robot.
document.addEventListener("pointerup", () => setTimeout(() => {
  const field = document.activeElement;
  if (field && (field.tagName === "BUTTON" || field.type === "range")) field.blur();
}));

function button(text, title, act) {
  const made = document.createElement("button");
  made.textContent = text;
  made.title = title;
  made.onclick = act;
  return made;
}

// ------------------------------------------------------------------ what is shown

const view = new RobotView($("canvas"), (text) => { $("view-text").textContent = text; });
const actions = new ActionsTab(send);
const joints = new JointsTab();
const log = new LogTab();
const show = { offered: showOffered, link: showLink, control: showControl, mode: showMode, stopped: showMode, action: () => actions.showState(state),
  actions: () => { actions.showList(state.actions); showTabs(); }, joint_rows: () => joints.show(state.joint_rows), scene: showScene, marks: () => view.mark(hasMarks ? state.marks : []) };
const FACTS = ["odom", "joints", "servos", "nodes", "holding"];
const VELOCITIES = ["twist", "measured", "limits", "scale", "gait"];
const BODY = ["pose", "shells"];

function take(message) {
  if (message.notice) notify(message.notice.level, message.notice.text);
  if (message.log) log.add(message.log);
  Object.assign(state, message);
  for (const name of Object.keys(message)) if (show[name]) show[name]();
  if (FACTS.some((name) => name in message)) showFacts();
  if (VELOCITIES.some((name) => name in message)) showVelocity();
  if (BODY.some((name) => name in message)) showSliders();
  if ("robot" in message) showName();
  if ("control" in message || "stopped" in message) { showControl(); actions.showState(state); }
}

function showTrouble(text = "") {
  const link = state.link;
  const shown = text || (link && !link.connected ? link.text : "");
  $("trouble").textContent = shown;
  $("trouble").hidden = !shown;
}

function showLink() {
  $("link").textContent = state.link.connected ? "ROS" : tr("no ROS");
  $("link").title = state.link.text;
  $("link").dataset.level = state.link.connected ? "ok" : "warn";
  showTrouble();
}

function showName() {
  const name = state.robot ? state.robot[0].toUpperCase() + state.robot.slice(1) : tr("Robot");
  $("robot").textContent = name;
  document.title = name;
}

function showControl() {
  const ours = drives();
  document.body.classList.toggle("drives", ours);
  $("control").textContent = ours ? tr("Give up") : tr("Take control");
  $("control").classList.toggle("primary", !ours);
  $("who").textContent = ours ? tr("you drive") : state.control ? state.control.who : "";
  $("who").dataset.level = ours ? "accent" : "warn";
  $("rearm").disabled = !(ours && state.stopped);
  for (const part of document.querySelectorAll("#modes button, #gaits button, #body-sliders input, #neutral, #speed")) part.disabled = !ours;
  if (!ours) letGo();
}

function showMode() {
  const mode = state.mode;
  const isMoving = mode && mode.target && mode.target !== mode.name;
  $("mode").textContent = !mode ? (state.stopped ? tr("STOPPED") : tr("no mode known")) : isMoving ? `${mode.name} → ${mode.target}` : mode.name;
  $("mode").dataset.level = state.stopped ? "bad" : isMoving ? "warn" : "";
  $("step").textContent = mode ? `${mode.step.replaceAll("_", " ")}${isMoving ? `  ${Math.round(100 * (mode.progress || 0))} %` : ""}` : "";
  $("progress").value = isMoving ? mode.progress || 0 : 0;
  $("progress").hidden = !isMoving;
  $("mode-text").textContent = state.stopped ? tr("Emergency stop is latched: rearm first.") : mode ? mode.text : "";
  document.body.classList.toggle("stopped", Boolean(state.stopped));
  for (const each of $("modes").children) each.setAttribute("aria-pressed", String(Boolean(mode) && each.dataset.mode === mode.name));
}

// Buttons that do what a key does, which their tool tips name.
const KEYS_OF = { "help-button": "help.keys", control: "control.take", rearm: "safety.rearm", stop: "safety.emergency_stop", halt: "drive.stop" };

function showOffered() {
  const offered = state.offered;
  document.body.classList.toggle("no-drive", !offered.drives);
  for (const [id, action] of Object.entries(KEYS_OF)) $(id).title = capsOf(action);
  $("modes").replaceChildren(...offered.modes.map(([text, action]) => {
    const made = button(text, capsOf(action), () => send("do", { action }));
    made.dataset.mode = action.split(".")[1];
    return made;
  }));
  const gaits = offered.gaits.map((name) => button(name, "", () => send("gait", { name })));
  for (const group of offered.groups) {
    for (const line of group.lines) {
      if (line.action === "gait.request") gaits.push(button(line.help, line.caps.join(" "), () => { send("press", { key: line.keys[0] }); send("release", { key: line.keys[0] }); }));
    }
  }
  $("gaits").replaceChildren(...gaits);
  const rows = [...offered.pose.map((slider) => sliderRow("pose", slider)), ...offered.shells.map((slider) => sliderRow("shells", slider))];
  $("body-sliders").replaceChildren(...rows);
  $("mode-card").hidden = !offered.modes.length;
  showTabs();
  $("neutral").hidden = !offered.pose.length;
  $("dead-man").hidden = !offered.dead_man.length;
  $("layouts").replaceChildren(...(Object.keys(offered.layouts).length < 2 ? [] : Object.entries(offered.layouts).map(([name, text]) => {
    const made = button(name, text, () => send("layout", { name }));
    made.setAttribute("aria-pressed", String(name === offered.layout));
    return made;
  })));
  $("help-groups").replaceChildren(...offered.groups.map((group) => {
    const part = document.createElement("section");
    part.innerHTML = "<h3></h3><dl></dl>";
    part.firstChild.textContent = group.title;
    for (const line of group.lines) {
      if (["layout.next", "session.quit"].includes(line.action)) continue; // the page has buttons and its tab for these
      const caps = document.createElement("dt");
      for (const cap of line.caps) caps.append(Object.assign(document.createElement("kbd"), { textContent: cap }), " ");
      part.lastChild.append(caps, Object.assign(document.createElement("dd"), { textContent: line.help }));
    }
    return part;
  }));
  showControl();
  showSliders();
  if ("mode" in state) showMode();
}

function capsOf(action) {
  return state.offered.groups.flatMap((group) => group.lines).filter((line) => line.action === action).flatMap((line) => line.caps).join(` ${tr("or")} `);
}

function sliderRow(kind, slider) {
  const row = document.createElement("label");
  row.className = "slider";
  row.append(kind === "shells" ? tr("shells {name}", slider) : slider.name);
  const input = document.createElement("input");
  Object.assign(input, { type: "range", step: "any", slider, kind });
  let timer = null;
  input.oninput = () => {
    input.isHeld = true;
    if (timer === null) timer = setTimeout(() => { timer = null; send(kind, { axis: slider.axis, value: Number(input.value) }); }, ALIVE_MS);
    showSliders();
  };
  input.onchange = () => { input.isHeld = false; };
  row.append(input, document.createElement("output"));
  return row;
}

function showSliders() {
  for (const input of document.querySelectorAll("#body-sliders input")) {
    const vector = state[input.kind];
    if (!vector) continue;
    const { axis, factor, unit, digits } = input.slider;
    input.min = vector.lower[axis];
    input.max = vector.upper[axis];
    if (!input.isHeld) input.value = vector.target[axis];
    input.nextSibling.textContent = `${figure(factor * Number(input.value), digits)} ${unit}`;
  }
}

const AXES = [[tr("forward"), "m/s"], [tr("left"), "m/s"], [tr("turn"), "rad/s"]];
$("bars").replaceChildren(...AXES.map(([name, unit]) => {
  const row = document.createElement("div");
  row.className = "bar";
  row.innerHTML = `<span></span><div><i class="commanded"></i><i class="measured"></i></div><output></output><small>${unit}</small>`;
  row.firstChild.textContent = name;
  return row;
}));

function showVelocity() {
  AXES.forEach((_, axis) => {
    const row = $("bars").children[axis];
    const limit = (state.limits || [])[axis] || 0;
    for (const [name, vector] of [["commanded", state.twist], ["measured", state.measured]]) {
      const value = vector ? vector[axis] : null;
      const part = limit && value !== null ? Math.max(-1, Math.min(1, value / limit)) : 0;
      const bar = row.querySelector(`.${name}`);
      bar.style.left = `${50 + Math.min(0, part) * 50}%`;
      bar.style.width = `${Math.abs(part) * 50}%`;
    }
    const measured = state.measured ? state.measured[axis] : null;
    row.querySelector("output").textContent = measured === null ? "–" : figure(measured, 2);
    row.title = tr("commanded {value}, limit {limit}", { value: figure((state.twist || [0, 0, 0])[axis], 2), limit: figure(limit, 2) });
  });
  if (document.activeElement !== $("speed")) $("speed").value = state.scale;
  $("speed-value").textContent = `${Math.round(100 * (state.scale || 0))} %`;
  for (const each of $("gaits").children) each.setAttribute("aria-pressed", String(each.textContent === state.gait));
}

function showFacts() {
  const facts = [];
  const odom = state.odom;
  if (odom && odom.position[0] !== null) {
    facts.push([tr("position"), `x ${figure(odom.position[0], 2)}  y ${figure(odom.position[1], 2)} m`], [tr("heading"), degrees(odom.rpy[2])]);
    if (odom.position[2]) facts.push([tr("height"), `${Math.round(1000 * odom.position[2])} mm`]);
    if (odom.has_tilt) facts.push([tr("tilt"), `${tr("roll")} ${degrees(odom.rpy[0])}  ${tr("pitch")} ${degrees(odom.rpy[1])}`]);
  }
  if (state.joints && state.joints.text) facts.push([tr("joints"), state.joints.text, state.joints.level]);
  if (state.holding) facts.push([tr("holding"), state.holding, "warn"]);
  for (const [name, line] of [[tr("servos"), state.servos], [tr("nodes"), state.nodes]]) {
    if (line && line.text) facts.push([name, line.text, line.bad ? "bad" : ""]);
  }
  $("facts").replaceChildren(...facts.flatMap(([name, text, level]) => {
    const value = Object.assign(document.createElement("dd"), { textContent: text });
    value.dataset.level = level || "";
    return [Object.assign(document.createElement("dt"), { textContent: name }), value];
  }));
}

function notify(level, text) {
  const notices = [...$("notices").children];
  const same = notices.find((each) => each.textContent === text);
  const shown = same || document.createElement("p");
  shown.textContent = text;
  shown.dataset.level = level;
  clearTimeout(shown.timer);
  shown.timer = setTimeout(() => shown.remove(), NOTICE_MS[level] || 6000);
  $("notices").append(shown);
  if (!same && notices.length > 3) notices[0].remove();
}

// ------------------------------------------------------------------ view and tabs

function showScene() {
  if (state.scene.failure) view.say(state.scene.failure);
  else view.load(state.scene.number, token);
}

let hasMarks = true;
$("marks").onclick = () => {
  hasMarks = !hasMarks;
  $("marks").setAttribute("aria-pressed", String(hasMarks));
  if (!hasMarks) view.mark([]);
  look();
};

let isCamera = false;
let pictureAt = "";
function showCamera(on) {
  isCamera = on;
  $("camera").hidden = !on;
  $("canvas").hidden = on;
  $("show-camera").setAttribute("aria-pressed", String(on));
  $("show-robot").setAttribute("aria-pressed", String(!on));
  $("view-text").textContent = on ? tr("No picture of a camera (topic camera/image_raw) has come yet.") : view.text;
  view.isShown = !on;
  look();
}

function showPicture(blob) {
  if (!isCamera) return;
  URL.revokeObjectURL(pictureAt);
  pictureAt = URL.createObjectURL(blob);
  $("camera").src = pictureAt;
  $("view-text").textContent = "";
}

function look() {
  send("look", { camera: isCamera, joints: document.body.dataset.tab === "joints", marks: hasMarks && !isCamera });
}

$("show-robot").onclick = () => showCamera(false);
$("show-camera").onclick = () => showCamera(true);
$("follow").onclick = () => {
  view.follows = !view.follows;
  $("follow").setAttribute("aria-pressed", String(view.follows));
};

function showTab(name) {
  document.body.dataset.tab = name;
  for (const each of $("tabs").children) each.setAttribute("aria-pressed", String(each.dataset.tab === name));
  look();
}
function showActions() {
  if (!state.actions || !state.actions.length) { notify("warn", tr("This robot reports no actions.")); return; }
  letGo(); send("drop", { hidden: false });
  showTab("actions");
  $("search").focus();
}
// What this robot has.
function showTabs() {
  const rows = { body: state.offered && $("body-sliders").children.length, actions: state.actions && state.actions.length };
  for (const each of $("tabs").children) each.hidden = rows[each.dataset.tab] === 0;
  const chosen = [...$("tabs").children].find((each) => each.dataset.tab === document.body.dataset.tab);
  if (chosen.hidden) showTab(wide.matches ? "joints" : "state");
}
for (const each of $("tabs").children) each.onclick = () => showTab(each.dataset.tab);
const wide = matchMedia("(min-width: 900px)");
wide.onchange = () => showTab(wide.matches && document.body.dataset.tab === "state" ? "body" : document.body.dataset.tab);
showTab(wide.matches ? "body" : "state");

function toggleHelp() { $("help").hidden = !$("help").hidden; }
$("help-button").onclick = toggleHelp;
$("help-close").onclick = toggleHelp;

connect();
