// Inside an answer: how likely each of its tokens was, and where the model looked for it.

import { Alignment } from "./alignment.js";
import { field, html, refill } from "./elements.js";
import { brief, likely, percent, score } from "./numbers.js";
import { Panel } from "./panel.js";
import { filled, label } from "./tokens.js";

export class Inside extends Panel {
  /** `able`: the signatures; `chosen` is called with the text that is looked into. */
  constructor(asking, able, chosen) {
    super(asking, "Inside the answer", "inside");
    this.able = able;
    this.chosen = chosen;
    this.target = html("input", {
      id: "target",
      dir: "auto",
      autocomplete: "off",
      placeholder: "what the model would answer",
    });
    const submit = (event) => {
      event.preventDefault();
      this.look(this.target.value);
    };
    this.form = html(
      "form",
      { class: "target", submit },
      field("An answer of the model, or any text of yours", this.target),
      html("button", { type: "submit" }, "Look"),
    );
    this.scores = html("div", { class: "scores", "aria-live": "polite" });
    this.alignment = able.align ? new Alignment() : null;
    this.fixed.append(this.form);
    this.clear();
  }

  /** A new question; nothing is looked into until an answer is chosen. */
  ask(text) {
    this.text = text;
    this.clear();
  }

  look(target) {
    this.target.value = target;
    this.chosen(target);
    const inputs = { text: [this.text], target: [target] };
    const wanted = ["score", "align"].filter((name) => this.able[name]).map((name) => [name, inputs]);
    return this.run(wanted, (...outputs) => {
      const found = Object.assign({}, ...outputs.map((each, index) => ({ [wanted[index][0]]: each })));
      this.fill(
        found.score && refill(this.scores, tokenScores(found.score)),
        found.align && this.alignment.show(found.align),
      );
      this.alignment?.draw();
    });
  }
}

function tokenScores(outputs) {
  const tokens = filled(outputs.tokens[0]);
  const total = outputs.score[0];
  const strip = tokens.map((token, place) => chip(token, outputs.token_scores[0][place]));
  return [
    html("p", { class: "total" }, html("strong", {}, percent(likely(total))), ` likely, score ${score(total)}`),
    html("ol", { class: "chips", "aria-label": "Tokens with their probabilities" }, strip),
  ];
}

function chip(token, value) {
  const probability = likely(value);
  const chip = html(
    "li",
    { class: "chip", title: `${percent(probability)}, log probability ${score(value)}` },
    html("bdi", { class: "token" }, label(token)),
    html("span", { class: "percent" }, brief(probability)),
  );
  chip.style.setProperty("--share", probability);
  chip.classList.toggle("unlikely", probability < 0.5);
  return chip;
}
