// Searches that the request chooses: a beam with knobs, and drawing.

import { NEUTRAL } from "./abilities.js";
import { field, html } from "./elements.js";
import { bestFirst, hypothesisList } from "./hypotheses.js";
import { Panel } from "./panel.js";

const DRAWS = 8;
const LARGEST_SEED = 2147483647;

const number = (name, attributes) =>
  html("input", { type: "number", name, inputmode: "decimal", autocomplete: "off", ...attributes });

/** What both have: fields, of which an empty one leaves its knob neutral, and a button. */
class Knobs extends Panel {
  constructor(asking, title, name, signature, button, fields) {
    super(asking, title, name);
    this.signature = signature;
    this.form = html(
      "form",
      { class: "knobs", submit: (event) => this.#submit(event), change: () => this.#go() },
      fields,
      html("button", { type: "submit" }, button),
    );
    this.fixed.append(this.form);
    this.clear();
  }

  /** A new question: answers to the one before go. */
  ask(text) {
    this.text = text;
    this.clear();
  }

  /** The knobs that the signature has, with the values of the fields. */
  values() {
    const given = Object.fromEntries(
      [...this.form.elements].filter((each) => each.name && each.value !== "").map((each) => [each.name, each.value]),
    );
    const names = Object.keys(this.signature.inputs).filter((name) => name in NEUTRAL);
    return Object.fromEntries(
      names.map((name) => [name, name in given ? read(given[name], this.signature.inputs[name]) : NEUTRAL[name]]),
    );
  }

  #submit(event) {
    event.preventDefault();
    this.#go();
  }

  #go() {
    if (this.text !== undefined && this.form.reportValidity()) this.search();
  }
}

const read = (value, dtype) => (dtype === "DT_STRING" ? value : dtype === "DT_FLOAT" ? Number(value) : Math.round(value));

/** `generate`: a beam of the request's own. */
export class Generate extends Knobs {
  constructor(asking, signature, choose) {
    const widest = signature.widths.text > 0 ? signature.widths.text : null;
    const fields = [
      field("Width", number("width", { min: 1, max: widest, step: 1, placeholder: "as exported" }), `Up to ${widest}`),
      field(
        "Length penalty",
        number("length_penalty", { min: -10, max: 10, step: "any", placeholder: "as exported" }),
        "More favours long answers",
      ),
      field("Least tokens", number("min_length", { min: 0, step: 1, placeholder: "0" })),
      field("Most tokens", number("max_length", { min: 1, step: 1, placeholder: "as exported" })),
      field("Begins with", html("input", { name: "prefix", dir: "auto", autocomplete: "off", placeholder: "anything" })),
    ];
    super(asking, "Steer the search", "generate", signature, "Search", fields);
    this.choose = choose;
  }

  search() {
    const knobs = Object.fromEntries(Object.entries(this.values()).map(([name, value]) => [name, [value]]));
    return this.run([["generate", { text: [this.text], ...knobs }]], (outputs) =>
      this.fill(hypothesisList(bestFirst(outputs), this.choose)),
    );
  }
}

/** `sample`: some draws at once, each with its own seed; equal ones are counted. */
export class Sample extends Knobs {
  constructor(asking, signature, choose) {
    const fields = [
      field("Temperature", number("temperature", { min: 0, step: "any", placeholder: "1" }), "Less: likely tokens get likelier"),
      field("Top k", number("top_k", { min: 0, step: 1, placeholder: "all" }), "Draw from so many likeliest tokens"),
      field(
        "Top p",
        number("top_p", { min: 0, max: 1, step: "any", placeholder: "1" }),
        "Draw from those that together reach this probability",
      ),
      field(
        "First seed",
        number("seed", { min: -LARGEST_SEED, max: LARGEST_SEED - DRAWS, step: 1, placeholder: "0" }),
        "The same seed draws the same text",
      ),
    ];
    super(asking, "Draw", "sample", signature, `Draw ${DRAWS}`, fields);
    this.choose = choose;
  }

  search() {
    const each = Array.from({ length: DRAWS }, (_, draw) => draw);
    const knobs = Object.entries(this.values()).map(([name, value]) => [
      name,
      each.map((draw) => (name === "seed" ? value + draw : value)),
    ]);
    const inputs = { text: each.map(() => this.text), ...Object.fromEntries(knobs) };
    return this.run([["sample", inputs]], (outputs) =>
      this.fill(hypothesisList(tallied(outputs), this.choose)),
    );
  }
}

/** The draws with how often each came, the most frequent first. */
function tallied(outputs) {
  const found = new Map();
  outputs.text.forEach((text, row) => {
    const draw = found.get(text) ?? { text, score: outputs.score[row], length: outputs.length[row], times: 0 };
    draw.times += 1;
    found.set(text, draw);
  });
  return [...found.values()].sort((one, other) => other.times - one.times || other.score - one.score);
}
