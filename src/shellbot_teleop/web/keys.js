// SPDX-License-Identifier: MIT
// From the browser's key events to the names of the key map, and which keys are down.

const NAMES = {
  ArrowUp: "Up", ArrowDown: "Down", ArrowLeft: "Left", ArrowRight: "Right", PageUp: "PageUp", PageDown: "PageDown",
  Home: "Home", End: "End", Insert: "Insert", Delete: "Delete", " ": "Space", Escape: "Escape", Enter: "Enter",
  Backspace: "Backspace", "+": "Plus", "-": "Minus", Shift: "Shift",
};
// Tab moves the focus between the page's controls, and its buttons choose the layout.

export function keyName(event) {
  if (event.altKey || event.metaKey) return null;
  const keypad = /^Numpad(\d|Add|Subtract|Enter)$/.exec(event.code);
  if (keypad) return { Add: "Plus", Subtract: "Minus", Enter: "Enter" }[keypad[1]] || keypad[1];
  if (event.ctrlKey) return /^[a-zA-Z]$/.test(event.key) ? `Ctrl+${event.key.toUpperCase()}` : null;
  if (/^[a-zA-Z0-9]$/.test(event.key)) return event.key.toLowerCase();
  if (/^F([1-9]|1[0-2])$/.test(event.key)) return event.key;
  return NAMES[event.key] || null;
}

// While something is typed, these command the robot all the same.
function isOurs(name, field) {
  if (name === "Escape" || /^F\d+$/.test(name)) return true;
  if (field.type === "range") return !["Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown"].includes(name);
  return name === "Space" && field.type === "number";
}

export class Keys {
  // isBound: tells of a name whether the key map has it; press, release: called with a name
  constructor(isBound, press, release) {
    this.down = new Map();
    addEventListener("keydown", (event) => {
      const name = keyName(event);
      const field = document.activeElement;
      const isField = field && ["INPUT", "SELECT"].includes(field.tagName);
      if (name === null || !isBound(name) || (isField && !isOurs(name, field))) return;
      if (name === "Enter" && field && field.tagName === "BUTTON") return;
      event.preventDefault();
      if (event.repeat || this.down.has(event.code)) return;
      this.down.set(event.code, name);
      press(name);
    });
    addEventListener("keyup", (event) => {
      const name = this.down.get(event.code);
      if (name === undefined) return;
      event.preventDefault();
      this.down.delete(event.code);
      if (![...this.down.values()].includes(name)) release(name);
    });
  }

  clear() { this.down.clear(); }
}
