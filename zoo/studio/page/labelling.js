// Taggers, classifiers and regressors.

import { hue } from "./colours.js";
import { html, written } from "./elements.js";
import { bar } from "./hypotheses.js";
import { brief, percent } from "./numbers.js";
import { Panel } from "./panel.js";
import { filled, label } from "./tokens.js";

const MOST_BARS = 12;

/** `tag`: each token with its label, or with its number. */
export class Tag extends Panel {
  constructor(asking, signature) {
    super(asking, "Tokens", "tagged");
    this.labelled = "labels" in signature.outputs;
  }

  ask(text) {
    return this.run([["tag", { text: [text] }]], (outputs) => {
      const tokens = filled(outputs.tokens[0]);
      if (!tokens.length) return this.fill(written("p", "", {}));
      const [values, scores] = this.labelled ? [outputs.labels[0], outputs.scores[0]] : [outputs.values[0], null];
      const hues = this.labelled ? huesOf(values.slice(0, tokens.length)) : new Map();
      const chips = tokens.map((token, place) => chip(token, values[place], scores?.[place], hues));
      return this.fill(html("ol", { class: "tags", dir: "auto" }, chips));
    });
  }
}

function huesOf(labels) {
  const names = [...new Set(labels)].sort();
  return new Map(names.map((name, place) => [name, hue(names.length > 1 ? place / (names.length - 1) : 0)]));
}

function chip(token, value, score, hues) {
  const shown = typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
  const chip = html(
    "li",
    { class: "tag", title: score === undefined ? null : `${shown}: ${percent(score)}`, tabindex: 0 },
    html("bdi", { class: "token" }, label(token)),
    html("bdi", { class: "value" }, shown),
    score === undefined ? null : html("span", { class: "percent" }, brief(score)),
  );
  if (hues.has(value)) chip.style.setProperty("--hue", hues.get(value));
  return chip;
}

/** `classify`: bars of probabilities, the greatest first. */
export class Classify extends Panel {
  constructor(asking, names) {
    super(asking, "Class", "classify");
    this.names = names;
  }

  ask(text) {
    return this.run([["classify", { text: [text] }]], (outputs) => {
      const [best, probabilities] = [outputs.label[0], outputs.probabilities[0]];
      if (best === "") return this.fill(html("p", { class: "quiet" }, "Of a blank text there is nothing to say."));
      const classes = probabilities.map((probability, place) => ({ name: this.names[place] ?? `class ${place}`, probability }));
      classes.sort((one, other) => other.probability - one.probability);
      // Without the list of labels, the server still tells the name of the best.
      if (!this.names.length) classes[0].name = best;
      const rest = classes.length - MOST_BARS;
      return this.fill(
        html("ol", { class: "classes" }, classes.slice(0, MOST_BARS).map(classRow)),
        rest > 0 && html("p", { class: "quiet" }, `and ${rest} less likely`),
      );
    });
  }
}

const classRow = ({ name, probability }) =>
  html("li", {}, html("bdi", { class: "text" }, name), html("span", { class: "percent" }, percent(probability)), bar(probability));

/** `regress`: a number. */
export class Regress extends Panel {
  constructor(asking) {
    super(asking, "Value", "regress");
  }

  ask(text) {
    return this.run([["regress", { text: [text] }, "value"]], (outputs) =>
      this.fill(html("p", { class: "number" }, String(Number(outputs.value[0].toPrecision(6))))),
    );
  }
}
