// SPDX-License-Identifier: MIT
// The tabs for actions, joints and the log.

import { tr } from "./texts.js";

const $ = (id) => document.getElementById(id);
const LEVELS = { debug: 0, info: 1, warn: 2, error: 3, fatal: 3 };
const MOST_LINES = 400;

// A number as it is shown: what is rounded to nothing has no sign.
export const figure = (value, digits) => value.toFixed(digits).replace(/^-(?=[0.]+$)/, "");
export const degrees = (angle) => `${figure(180 * angle / Math.PI, 1)}°`;

export class ActionsTab {
  constructor(send) {
    this.entries = [];
    this.chosen = null;
    this.phase = "idle";
    this.isFree = false; // whether this page may start an action
    $("search").oninput = () => this.filter();
    $("run").onclick = () => send("run", { name: this.chosen.name, values: this.values() });
    $("pause").onclick = () => send("pause", { paused: this.phase !== "paused" });
    $("cancel").onclick = () => send("cancel");
  }

  showList(entries) {
    this.entries = entries;
    this.filter();
  }

  filter() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.entries.filter((entry) => words.every((word) => `${entry.name} ${entry.text}`.toLowerCase().includes(word)));
    $("action-list").replaceChildren(...found.map((entry) => {
      const item = document.createElement("li");
      const made = document.createElement("button");
      made.textContent = entry.name;
      made.onclick = () => this.choose(entry);
      item.append(made);
      return item;
    }));
    this.choose(found.find((entry) => this.chosen && entry.name === this.chosen.name) || found[0] || null);
  }

  choose(entry) {
    for (const made of $("action-list").querySelectorAll("button")) made.setAttribute("aria-pressed", String(Boolean(entry) && made.textContent === entry.name));
    if (entry && this.chosen && JSON.stringify(entry) === JSON.stringify(this.chosen)) return; // typed values stay
    this.chosen = entry;
    $("action-text").textContent = entry ? `${entry.text}. ${entry.cancels}` : this.entries.length ? tr("No action matches.") : tr("This robot reports no actions.");
    $("parameters").replaceChildren(...(entry ? entry.parameters.map(parameterRow) : []));
    this.showRun();
  }

  showRun() {
    $("run").disabled = !(this.isFree && this.chosen);
  }

  values() {
    return Object.fromEntries([...$("parameters").querySelectorAll("input")].map((input) => [input.name, Number(input.value)]));
  }

  showState(state) {
    const action = state.action;
    if (!action) return;
    const ours = Boolean(state.control && state.control.ours);
    this.phase = action.phase;
    this.isFree = ours && !action.busy && !state.stopped;
    this.showRun();
    $("pause").disabled = !ours || !["running", "paused"].includes(action.phase);
    $("pause").textContent = action.phase === "paused" ? tr("Resume") : tr("Pause");
    $("cancel").disabled = !ours || !action.busy;
    $("action-progress").value = action.fraction || 0;
    $("action-state").textContent = [action.line, action.text].filter(Boolean).join("\n");
    $("action-state").dataset.level = action.level === "warn" && action.text ? "warn" : "";
  }
}

function parameterRow(parameter) {
  const row = document.createElement("label");
  row.className = "parameter";
  row.title = parameter.text;
  const input = document.createElement("input");
  Object.assign(input, { type: "number", name: parameter.name, min: parameter.low, max: parameter.high, step: parameter.whole ? 1 : "any" });
  input.value = parameter.default;
  row.append(parameter.name, input, Object.assign(document.createElement("small"), { textContent: `${tr("{low} to {high}", parameter)} ${parameter.unit}` }));
  return row;
}

export class JointsTab {
  show(rows) {
    const angle = (value) => (value === null ? "–" : degrees(value));
    $("joint-rows").replaceChildren(...rows.map((row) => {
      const line = document.createElement("tr");
      const heat = row.temperature === null ? "" : `, ${Math.round(row.temperature)} °C`;
      for (const text of [row.joint, angle(row.position), angle(row.target), `${row.text}${heat}`]) line.append(Object.assign(document.createElement("td"), { textContent: text }));
      line.lastChild.dataset.level = row.level;
      return line;
    }));
  }
}

export class LogTab {
  constructor() {
    this.lines = [];
    $("log-search").oninput = () => this.filter();
    $("log-level").onchange = () => this.filter();
  }

  add(lines) {
    this.lines = [...this.lines, ...lines].slice(-MOST_LINES);
    const list = $("log-lines");
    const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 20;
    list.append(...lines.filter((line) => this.matches(line)).map(logLine));
    while (list.children.length > MOST_LINES) list.firstChild.remove();
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  }

  matches(line) {
    const words = $("log-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = `${line.level} ${line.source} ${line.text}`.toLowerCase();
    return LEVELS[line.level] >= Number($("log-level").value) && words.every((word) => text.includes(word));
  }

  filter() {
    $("log-lines").replaceChildren(...this.lines.filter((line) => this.matches(line)).map(logLine));
    $("log-lines").scrollTop = $("log-lines").scrollHeight;
  }
}

function logLine(line) {
  const item = document.createElement("li");
  item.dataset.level = line.level;
  const when = new Date(1000 * line.time).toTimeString().slice(0, 8);
  item.append(Object.assign(document.createElement("small"), { textContent: `${when} ${line.source} ` }), line.text);
  return item;
}
