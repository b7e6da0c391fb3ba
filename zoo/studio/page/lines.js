// Lines: the source above, the target below, and between them lines whose width is the weight.

import { hue } from "./colours.js";
import { svg } from "./elements.js";
import { columns, rightToLeft, short } from "./tokens.js";

const LETTER = 9.2;
const WIDEST = 7;
const LEAST = 0.02;
const [TOP, BOTTOM] = [30, 206];
const HEIGHT = 236;

export class Lines {
  /** As for `HeatMap`. */
  constructor({ source, target, weights }, width, point) {
    Object.assign(this, { source, target, weights, point });
    const rows = [this.source, this.target].map((tokens) => tokens.map((token) => short(token)));
    this.width = Math.max(width, ...rows.map(room));
    this.xs = rows.map((texts, row) => spread(texts, this.width, rightToLeft(row ? this.target : this.source)));
    this.element = this.#draw(...rows);
  }

  /** Highlights the lines of a token, or one line, and how much the tokens at their other ends have of them. */
  mark(at) {
    const { s, t } = at ?? {};
    this.element.classList.toggle("marked", Boolean(at));
    for (const { path, ...line } of this.paths) {
      path.classList.toggle("on", Boolean(at) && (s ?? line.s) === line.s && (t ?? line.t) === line.t);
    }
    this.#markRow(this.above, s, (place) => (t === undefined ? 0 : this.weights[t][place]), s === undefined);
    this.#markRow(this.below, t, (place) => (s === undefined ? 0 : this.weights[place][s]), t === undefined);
  }

  /** Left and right along a row, up to the source and down to the target. */
  move(at, key) {
    const above = at && at.t === undefined;
    const place = at ? (above ? at.s : at.t) : -1;
    const mirrored = rightToLeft(above ? this.source : this.target);
    const along = { ArrowLeft: mirrored ? 1 : -1, ArrowRight: mirrored ? -1 : 1 }[key];
    if (along) return above ? { s: place + along } : { t: at ? place + along : 0 };
    if (key === "ArrowUp") return above ? at : { s: at ? this.#strongest(at.t) : 0 };
    if (key === "ArrowDown") return above ? { t: this.#drawn(at.s) } : (at ?? { t: 0 });
    return null;
  }

  /** Scrolls to a token. */
  reveal(at) {
    const label = at.t === undefined ? this.above[at.s] : this.below[at.t];
    label.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #strongest(t) {
    return this.weights[t].indexOf(Math.max(...this.weights[t]));
  }

  #drawn(s) {
    const column = this.weights.map((row) => row[s]);
    return column.indexOf(Math.max(...column));
  }

  #markRow(labels, chosen, share, byShare) {
    labels.forEach((label, place) => {
      label.classList.toggle("on", place === chosen);
      label.classList.toggle("linked", byShare && share(place) >= 0.1);
    });
  }

  #draw(above, below) {
    const hues = below.map((_, t) => hue(below.length > 1 ? t / (below.length - 1) : 0));
    this.paths = this.#lines(hues);
    this.above = above.map((text, s) => this.#label(text, this.xs[0][s], TOP - 12, { s }, null));
    this.below = below.map((text, t) => this.#label(text, this.xs[1][t], BOTTOM + 16, { t }, hues[t]));
    return svg(
      "svg",
      {
        class: "lines",
        viewBox: `0 0 ${this.width} ${HEIGHT}`,
        width: this.width,
        height: HEIGHT,
        role: "img",
        "aria-label": `${this.paths.length} lines between ${above.length} and ${below.length} tokens`,
        pointerleave: () => this.point(null),
      },
      this.paths.map(({ path }) => path),
      this.paths.map((line) => this.#hit(line)),
      this.above,
      this.below,
    );
  }

  /** The lines, thin ones first, so that the strong are on top. */
  #lines(hues) {
    const found = this.weights.flatMap((row, t) => row.map((weight, s) => ({ t, s, weight })));
    const shown = found.filter(({ weight }) => weight >= LEAST).sort((one, other) => one.weight - other.weight);
    return shown.map(({ t, s, weight }) => {
      const look = { stroke: hues[t], "stroke-width": WIDEST * weight, "stroke-opacity": 0.25 + 0.75 * weight };
      return { t, s, path: svg("path", { class: "line", d: this.#curve(t, s), "data-weight": weight, ...look }) };
    });
  }

  /** A line that is wide enough to be met with a pointer. */
  #hit({ t, s }) {
    const over = () => this.point({ t, s });
    return svg("path", { class: "hit", d: this.#curve(t, s), pointerenter: over, pointerdown: over });
  }

  #curve(t, s) {
    const [from, to] = [this.xs[1][t], this.xs[0][s]];
    const middle = (TOP + BOTTOM) / 2;
    return `M${from} ${BOTTOM}C${from} ${middle} ${to} ${middle} ${to} ${TOP}`;
  }

  #label(text, x, y, at, colour) {
    const over = () => this.point(at);
    const half = Math.max(9, (columns(text) * LETTER) / 2 + 3);
    const label = svg(
      "g",
      { class: "token", pointerenter: over, pointerdown: over },
      svg("rect", { x: x - half, y: y - 13, width: 2 * half, height: 26, rx: 6 }),
      svg("text", { x, y, "text-anchor": "middle", "dominant-baseline": "central" }, text),
    );
    if (colour) label.style.setProperty("--hue", colour);
    return label;
  }
}

const wide = (text) => Math.max(16, columns(text) * LETTER + 6);
const room = (texts) => texts.reduce((sum, text) => sum + wide(text), 0);

/** Centres of labels that are spread over a width, each with room after its own. */
function spread(texts, width, mirrored) {
  const each = (width - room(texts)) / texts.length;
  let edge = 0;
  return texts.map((text) => {
    const centre = edge + (wide(text) + each) / 2;
    edge += wide(text) + each;
    return mirrored ? width - centre : centre;
  });
}
