// SPDX-License-Identifier: MIT
// A stick under a finger or the mouse.

export class Stick {
  // changed: called with right and up, -1 .. 1, whenever the stick moves; 0, 0 when it is let go
  constructor(element, changed, isOneAxis) {
    this.element = element;
    this.knob = element.querySelector("i");
    this.changed = changed;
    this.pointer = null;
    this.isOneAxis = isOneAxis;
    element.addEventListener("pointerdown", (event) => {
      if (this.pointer !== null) return;
      event.preventDefault();
      this.pointer = event.pointerId;
      try { element.setPointerCapture(event.pointerId); } catch (error) { /* a made-up event has no pointer to capture */ }
      this.follow(event);
    });
    element.addEventListener("pointermove", (event) => { if (event.pointerId === this.pointer) this.follow(event); });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(end, (event) => { if (event.pointerId === this.pointer) this.release(); });
    }
  }

  follow(event) {
    const box = this.element.getBoundingClientRect();
    const radius = 0.38 * Math.min(box.width, this.isOneAxis ? Infinity : box.height);
    let right = (event.clientX - box.left - box.width / 2) / radius;
    let up = this.isOneAxis ? 0 : -(event.clientY - box.top - box.height / 2) / radius;
    const length = Math.max(Math.hypot(right, up), 1);
    right /= length;
    up /= length;
    this.knob.style.transform = `translate(${right * radius}px, ${-up * radius}px)`;
    this.changed(right, up);
  }

  release() {
    if (this.pointer === null) return;
    this.pointer = null;
    this.knob.style.transform = "";
    this.changed(0, 0);
  }
}
