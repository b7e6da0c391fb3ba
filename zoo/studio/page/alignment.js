// The alignment of a text and an answer, in one of two drawings, with a line of text that reads it.

import { onScheme } from "./colours.js";
import { html, refill } from "./elements.js";
import { HeatMap } from "./heatmap.js";
import { Lines } from "./lines.js";
import { weight } from "./numbers.js";
import { filled, label } from "./tokens.js";

const DRAWINGS = { "Heat map": HeatMap, Lines };
const MOST_NAMED = 4;

export class Alignment {
  constructor() {
    this.kind = "Heat map";
    this.place = html("div", { class: "drawing" });
    this.reading = html("p", { class: "reading", "aria-live": "polite" });
    const buttons = Object.keys(DRAWINGS).map((kind) => this.#button(kind));
    this.switch = html("div", { class: "switch", role: "group", "aria-label": "Drawing" }, buttons);
    this.element = html(
      "div",
      { class: "alignment" },
      html("div", { class: "row" }, html("h3", {}, "Where it looked"), scale(), this.switch),
      this.place,
      this.reading,
    );
    new ResizeObserver(() => this.place.clientWidth !== this.width && this.draw()).observe(this.place);
    onScheme(() => this.draw());
  }

  /** Row 0 of what `align` answers, without its padding. */
  show(outputs) {
    this.source = filled(outputs.source_tokens[0]);
    this.target = filled(outputs.target_tokens[0]);
    this.weights = outputs.alignment[0].slice(0, this.target.length).map((row) => row.slice(0, this.source.length));
    return this.element;
  }

  draw() {
    if (!this.element.isConnected || !this.source) return;
    this.width = this.place.clientWidth;
    this.element.dataset.kind = this.kind;
    for (const button of this.switch.children) {
      button.setAttribute("aria-pressed", String(button.textContent === this.kind));
    }
    if (!this.source.length || !this.target.length) {
      refill(this.place, html("p", { class: "quiet" }, "There is nothing to draw: the text or the answer has no tokens."));
      this.#read(null);
      return;
    }
    this.drawing = new DRAWINGS[this.kind](this, this.width, (at) => this.#point(at));
    const frame = {
      class: "scroller",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "alignment",
      "aria-label": `${this.kind} of the alignment; arrow keys read it`,
      keydown: (event) => this.#key(event),
      blur: () => this.#point(null),
    };
    refill(this.place, html("div", frame, this.drawing.element));
    this.#point(null);
  }

  #button(kind) {
    const choose = () => {
      this.kind = kind;
      this.draw();
    };
    return html("button", { type: "button", click: choose }, kind);
  }

  /** `at`: `{ t, s }`, a target and a source token, or one of them, or nothing. */
  #point(at) {
    this.at = at;
    this.drawing?.mark(at);
    this.#read(at);
  }

  #key(event) {
    const moved = this.drawing.move(this.at, event.key);
    if (!moved) return;
    event.preventDefault();
    const last = { t: this.target.length - 1, s: this.source.length - 1 };
    const inside = Object.entries(moved).map(([axis, place]) => [axis, Math.min(last[axis], Math.max(0, place))]);
    this.#point(Object.fromEntries(inside));
    this.drawing.reveal?.(this.at);
  }

  #read(at) {
    const source = (place) => quote(this.source[place]);
    const target = (place) => quote(this.target[place]);
    if (!at) {
      refill(this.reading, html("span", { class: "quiet" }, this.source?.length ? "Point at the drawing to read it." : ""));
    } else if (at.t !== undefined && at.s !== undefined) {
      refill(this.reading, target(at.t), " drew ", html("strong", {}, weight(this.weights[at.t][at.s])), " from ", source(at.s));
    } else if (at.t !== undefined) {
      refill(this.reading, target(at.t), " drew ", ...most(this.weights[at.t], source, " from "));
    } else {
      refill(this.reading, source(at.s), " gave ", ...most(this.weights.map((row) => row[at.s]), target, " to "));
    }
  }
}

/** The colours of a heat map from nothing to all; lines have none. */
const scale = () =>
  html("p", { class: "scale", "aria-hidden": "true" }, "0", html("span", { class: "ramp" }), "1");

const quote = (token) => html("span", {}, "“", html("bdi", {}, label(token)), "”");

/** The greatest weights of a row or a column, in words. */
function most(weights, name, preposition) {
  const places = weights.map((_, place) => place).filter((place) => weights[place] >= 0.005);
  places.sort((one, other) => weights[other] - weights[one]);
  if (!places.length) return ["next to nothing"];
  return places.slice(0, MOST_NAMED).flatMap((place, index) => [
    index ? ", " : "", html("strong", {}, weight(weights[place])), preposition, name(place),
  ]);
}
