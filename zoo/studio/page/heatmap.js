// A heat map: a column for each source token, a row for each target token, the darker the more.

import { heat } from "./colours.js";
import { svg } from "./elements.js";
import { columns, rightToLeft, short } from "./tokens.js";

const LETTER = 7.6;
const GAP = 8;
const [SMALLEST, LARGEST] = [16, 36];
const [SHORTEST, TALLEST] = [16, 30];
const TALL = 600;
const UPRIGHT = 2;

export class HeatMap {
  /** `alignment`: source, target, weights; `width`: room in pixels; `point` is told where the pointer is. */
  constructor({ source, target, weights }, width, point) {
    Object.assign(this, { source, target, weights, point });
    this.mirrored = rightToLeft(this.source);
    const labels = [this.source, this.target].map((tokens) => tokens.map((token) => short(token)));
    const [above, beside] = labels.map((texts) => Math.max(...texts.map(columns)));
    this.left = Math.max(16, beside * LETTER) + GAP;
    this.top = (above > UPRIGHT ? above * LETTER : 14) + GAP;
    const fitting = Math.floor((width - this.left - 2) / this.source.length);
    this.cell = Math.min(LARGEST, Math.max(SMALLEST, fitting));
    this.row = Math.min(TALLEST, this.cell, Math.max(SHORTEST, Math.floor(TALL / this.target.length)));
    this.element = this.#draw(...labels);
  }

  /** Highlights row and column of a place. */
  mark(at) {
    const { s, t } = at ?? {};
    this.columnLabels.forEach((text, place) => text.classList.toggle("on", place === s));
    this.rowLabels.forEach((text, place) => text.classList.toggle("on", place === t));
    place(this.columnMark, s !== undefined && { x: this.#x(s), y: this.top, width: this.cell, height: this.#height });
    place(this.rowMark, t !== undefined && { x: this.left, y: this.#y(t), width: this.#width, height: this.row });
    place(this.cellMark, at && { x: this.#x(s), y: this.#y(t), width: this.cell, height: this.row });
  }

  /** The place that an arrow key leads to from another. */
  move(at, key) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
    if (!step) return null;
    return at ? { t: at.t + step[0], s: at.s + (this.mirrored ? -step[1] : step[1]) } : { t: 0, s: 0 };
  }

  /** Scrolls to a place. */
  reveal(at) {
    this.columnLabels[at.s].scrollIntoView({ block: "nearest", inline: "nearest" });
    this.rowLabels[at.t].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  get #width() {
    return this.cell * this.source.length;
  }

  get #height() {
    return this.row * this.target.length;
  }

  #x(s) {
    return this.left + this.cell * (this.mirrored ? this.source.length - 1 - s : s);
  }

  #y(t) {
    return this.top + this.row * t;
  }

  #draw(above, beside) {
    this.columnLabels = above.map((text, s) => this.#columnLabel(text, this.#x(s) + this.cell / 2));
    this.rowLabels = beside.map((text, t) => {
      const y = this.#y(t) + this.row / 2;
      const place = { x: this.left - GAP, y, "text-anchor": "end", "dominant-baseline": "central" };
      return svg("text", { class: "label", ...place }, text);
    });
    [this.columnMark, this.rowMark, this.cellMark] = ["band", "band", "cell"].map((kind) => svg("rect", { class: `mark ${kind}`, rx: 3 }));
    const [width, height] = [this.left + this.#width + 2, this.top + this.#height + 2];
    return svg(
      "svg",
      {
        class: "heat",
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: "img",
        "aria-label": `${this.target.length} by ${this.source.length} weights`,
        pointermove: (event) => this.point(this.#under(event)),
        pointerdown: (event) => this.point(this.#under(event)),
        pointerleave: () => this.point(null),
      },
      this.#cells(),
      this.#grid(),
      ...this.columnLabels,
      ...this.rowLabels,
      this.columnMark,
      this.rowMark,
      this.cellMark,
    );
  }

  #columnLabel(text, x) {
    const y = this.top - GAP;
    const place = columns(text) > UPRIGHT
      ? { transform: `translate(${x} ${y}) rotate(-90)`, "dominant-baseline": "central" }
      : { x, y, "text-anchor": "middle" };
    return svg("text", { class: "label", ...place }, text);
  }

  /** One picture with a pixel for each weight, so that a thousand tokens are no burden either. */
  #cells() {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [this.source.length, this.target.length];
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    this.weights.forEach((row, t) =>
      row.forEach((weight, s) => {
        const column = this.mirrored ? this.source.length - 1 - s : s;
        image.data.set([...heat(weight), 255], 4 * (t * canvas.width + column));
      }),
    );
    context.putImageData(image, 0, 0);
    const place = { x: this.left, y: this.top, width: this.#width, height: this.#height };
    return svg("image", { class: "cells", href: canvas.toDataURL(), preserveAspectRatio: "none", ...place });
  }

  #grid() {
    const down = this.source.map((_, s) => `M${this.left + this.cell * (s + 1)} ${this.top}v${this.#height}`);
    const across = this.target.map((_, t) => `M${this.left} ${this.top + this.row * (t + 1)}h${this.#width}`);
    return svg("path", { class: "grid", d: [...down, ...across].join("") });
  }

  #under(event) {
    const box = this.element.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left) / this.cell);
    const t = Math.floor((event.clientY - box.top - this.top) / this.row);
    const s = this.mirrored ? this.source.length - 1 - column : column;
    const inside = s >= 0 && t >= 0 && s < this.source.length && t < this.target.length;
    return inside ? { t, s } : null;
  }
}

function place(rect, box) {
  rect.classList.toggle("shown", Boolean(box));
  for (const [name, value] of Object.entries(box || {})) rect.setAttribute(name, value);
}
