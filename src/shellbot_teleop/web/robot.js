// SPDX-License-Identifier: MIT
// The robot in 3D: the shapes of its description, where the page server says its bodies are. three.js draws.

import { tr } from "./texts.js";

const FIELD_OF_VIEW_DEG = 45; // vertical
const FLOOR_M = 24; // an even number: a line of the texture is at 0
const BUSY_MS = 40; // from one picture to the next time that the browser could draw
const LONGEST_PAUSE_MS = 500;
const FIRST_VIEW = [-1.1, -1.5, 0.9]; // direction from the robot to the eye: behind it, to its right, above

export class RobotView {
  constructor(canvas, say) {
    this.canvas = canvas;
    this.say = (text) => { this.text = text; if (this.isShown) say(text); };
    this.isShown = true;
    this.follows = true;
    this.number = 0;
    this.bodies = [];
    this.isNew = true;
    this.text = "";
    this.say(tr("No robot is known yet."));
    if (typeof THREE === "undefined") {
      fetch("three.js").then((answer) => answer.text()).then((text) => this.say(text.length < 300 ? text : tr("This browser could not load three.js.")));
      return;
    }
    try {
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "low-power" });
    } catch (error) {
      this.say(tr("This browser has no WebGL, so there is no 3D view; everything else works."));
      return;
    }
    this.prepare();
    this.drawnAt = 0; // ms
    this.pausedUntil = 0;
    requestAnimationFrame((now) => this.draw(now));
  }

  prepare() {
    const isLight = matchMedia("(prefers-color-scheme: light)").matches;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(isLight ? 0xdfe7f0 : 0x1a212b);
    this.scene.fog = new THREE.Fog(this.scene.background, 4, 14);
    this.floor = floor(isLight ? ["#dfe7f0", "#b9c6d4", "#93a5b8"] : ["#1d2530", "#2c3743", "#46566a"], this.renderer);
    this.scene.add(this.floor);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x556070, 0.75));
    const sun = new THREE.DirectionalLight(0xffffff, 0.6);
    sun.position.set(1.5, -2, 4);
    this.scene.add(sun);
    this.camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW_DEG, 1, 0.02, 60);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(...FIRST_VIEW);
    this.controls = new THREE.OrbitControls(this.camera, this.canvas);
    this.controls.enableKeys = false; // the arrows are the robot's
    this.controls.maxPolarAngle = 0.495 * Math.PI;
    this.controls.minDistance = 0.15;
    this.controls.maxDistance = 12;
    this.controls.addEventListener("change", () => { this.isNew = true; });
    new ResizeObserver(() => { this.isNew = true; }).observe(this.canvas);
    this.robot = new THREE.Group();
    this.scene.add(this.robot);
    this.drawn = new THREE.Group();
    this.scene.add(this.drawn);
  }

  forget() {
    this.number = 0;
  }

  async load(number, token) {
    if (!this.renderer || number === this.number) return;
    this.number = number;
    this.robot.remove(...this.robot.children);
    this.bodies = [];
    if (!number) { this.say(tr("No robot is known yet.")); return; }
    const end = token ? `?token=${encodeURIComponent(token)}` : "";
    try {
      const text = await (await fetch(`scene.json${end}`)).json();
      const block = await (await fetch(`scene.bin${end}`)).arrayBuffer();
      if (number !== this.number) return;
      this.build(text, block);
      this.say("");
    } catch (error) {
      this.number = 0;
      this.say(tr("The robot's shapes could not be loaded: {error}", { error }));
    }
  }

  build(text, block) {
    const vertices = new Float32Array(block, 0, 3 * text.vertices);
    const faces = new Uint32Array(block, 12 * text.vertices);
    const meshes = text.meshes.map((mesh) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(vertices.slice(3 * mesh.vertices[0], 3 * (mesh.vertices[0] + mesh.vertices[1])), 3));
      geometry.setIndex(new THREE.BufferAttribute(faces.slice(3 * mesh.faces[0], 3 * (mesh.faces[0] + mesh.faces[1])), 1));
      return geometry;
    });
    const materials = new Map();
    for (const shape of text.shapes) {
      while (this.bodies.length <= shape.body) {
        this.bodies.push(new THREE.Group());
        this.robot.add(this.bodies[this.bodies.length - 1]);
      }
      const key = shape.colour.join();
      if (!materials.has(key)) {
        const [red, green, blue, alpha] = shape.colour;
        const look = { color: new THREE.Color(red, green, blue), flatShading: true, shininess: 25, specular: 0x222222, side: THREE.DoubleSide, transparent: alpha < 1, opacity: alpha };
        materials.set(key, new THREE.MeshPhongMaterial(look));
      }
      const part = new THREE.Mesh(shape.kind === "mesh" ? meshes[shape.mesh] : primitive(shape), materials.get(key));
      part.position.set(...shape.position);
      part.quaternion.set(...shape.quaternion);
      this.bodies[shape.body].add(part);
    }
    this.isFirst = true;
  }

  pose(numbers) {
    if (!this.bodies.length || numbers.length !== 7 * this.bodies.length) return;
    const before = this.bodies[0].position.clone();
    this.bodies.forEach((body, index) => {
      body.position.fromArray(numbers, 7 * index);
      body.quaternion.fromArray(numbers, 7 * index + 3);
    });
    const [x, y] = numbers;
    this.floor.position.set(Math.round(x), Math.round(y), 0); // whole metres, so that it seems to stand still
    if (this.isFirst) this.frame();
    else if (this.follows) {
      const step = this.bodies[0].position.clone().sub(before).setZ(0);
      this.camera.position.add(step);
      this.controls.target.add(step);
      this.controls.update();
    }
    this.isNew = true;
  }

  // What is drawn over the robot, in the world's axes.
  mark(marks) {
    if (!this.renderer) return;
    for (const each of this.drawn.children) each.geometry.dispose();
    this.drawn.remove(...this.drawn.children);
    for (const mark of marks) for (const each of shapes(mark)) this.drawn.add(each);
    this.isNew = true;
  }

  // All of the robot in the picture.
  frame() {
    this.isFirst = false;
    this.robot.updateMatrixWorld(true);
    const ball = new THREE.Box3().setFromObject(this.robot).getBoundingSphere(new THREE.Sphere());
    const aspect = Math.min(1, this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1));
    const half = Math.atan(Math.tan(FIELD_OF_VIEW_DEG * Math.PI / 360) * aspect);
    const distance = Math.max(1.1 * ball.radius / Math.sin(half), 0.4);
    const middle = ball.center.clone().setZ(ball.center.z - 0.3 * ball.radius); // the sticks stand at the lower edge
    this.controls.target.copy(middle);
    this.camera.position.set(...FIRST_VIEW).setLength(distance).add(middle);
    this.controls.update();
  }

  // A picture that keeps the browser busy, as without a graphics card, is followed by a pause twice as long: the keys and
  // the sign of life come first.
  draw(now) {
    requestAnimationFrame((next) => this.draw(next));
    if (this.drawnAt) {
      const spent = now - this.drawnAt;
      this.pausedUntil = spent > BUSY_MS ? now + Math.min(2 * spent, LONGEST_PAUSE_MS) : 0;
      this.drawnAt = 0;
    }
    if (now < this.pausedUntil) return;
    if (!this.isNew || !this.isShown || document.visibilityState !== "visible") return;
    this.isNew = false;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (!width || !height) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
    }
    this.drawnAt = now;
    this.renderer.render(this.scene, this.camera);
  }
}

// Kept for good: three.js compiles the program of a material anew once none is left, and a page that compiles is silent.
const markMaterials = new Map();
function markMaterial(mark) {
  const key = `${mark.kind === "line"} ${mark.colour}`;
  if (!markMaterials.has(key)) {
    const [red, green, blue, alpha] = mark.colour;
    const look = { color: new THREE.Color(red, green, blue), transparent: alpha < 1, opacity: alpha, side: THREE.DoubleSide, depthWrite: alpha === 1 };
    markMaterials.set(key, mark.kind === "line" ? new THREE.LineBasicMaterial(look) : new THREE.MeshBasicMaterial(look));
  }
  return markMaterials.get(key);
}

// One mark as objects to draw: see shellbot_common.view.Mark.
function shapes(mark) {
  const material = markMaterial(mark);
  const flat = mark.points.flat();
  if (mark.kind === "line" || mark.kind === "area") {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(flat, 3));
    return [mark.kind === "line" ? new THREE.Line(geometry, material) : new THREE.Mesh(geometry, material)];
  }
  if (mark.kind === "arrow") {
    const [start, end] = mark.points.map((point) => new THREE.Vector3(...point));
    const along = end.clone().sub(start);
    const cone = new THREE.Mesh(new THREE.ConeBufferGeometry(1.5 * mark.size, along.length(), 16), material);
    cone.position.copy(start).addScaledVector(along, 0.5);
    cone.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
    return [cone];
  }
  return mark.points.map((point) => {
    const geometry = mark.kind === "sphere" ? new THREE.SphereBufferGeometry(mark.size / 2, 12, 8) : new THREE.CircleBufferGeometry(mark.size / 2, 20);
    const made = new THREE.Mesh(geometry, material);
    made.position.set(...point);
    if (mark.kind === "disc") made.position.z += 0.001;
    return made;
  });
}

// Tiles of 0.1 m with a stronger line every metre, so that distances can be read off.
function floor(colours, renderer) {
  const size = 512;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d");
  pen.fillStyle = colours[0];
  pen.fillRect(0, 0, size, size);
  for (let line = 0; line <= 10; line += 1) {
    const at = line * size / 10;
    const isMetre = line % 10 === 0;
    pen.fillStyle = colours[isMetre ? 2 : 1];
    const width = isMetre ? 4 : 2;
    pen.fillRect(at - width / 2, 0, width, size);
    pen.fillRect(0, at - width / 2, size, width);
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.repeat.set(FLOOR_M, FLOOR_M);
  texture.anisotropy = Math.min(8, renderer.capabilities.getMaxAnisotropy());
  return new THREE.Mesh(new THREE.PlaneBufferGeometry(FLOOR_M, FLOOR_M), new THREE.MeshBasicMaterial({ map: texture }));
}

function primitive(shape) {
  if (shape.kind === "box") return new THREE.BoxGeometry(2 * shape.size[0], 2 * shape.size[1], 2 * shape.size[2]);
  if (shape.kind === "sphere") return new THREE.SphereGeometry(shape.size[0], 24, 16);
  return new THREE.CylinderGeometry(shape.size[0], shape.size[0], 2 * shape.size[1], 24).rotateX(Math.PI / 2); // along z
}
