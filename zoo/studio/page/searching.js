// Greedy and beam search side by side.

import { html, written } from "./elements.js";
import { bestFirst, hypothesisList } from "./hypotheses.js";
import { Panel } from "./panel.js";

/** The greedy answer, beside what the beam found. */
export class Greedy extends Panel {
  constructor(asking, choose) {
    super(asking, "Greedy", "greedy");
    this.body.setAttribute("aria-live", "polite");
    this.choose = choose;
  }

  ask(text) {
    this.answer = undefined;
    return this.run([["greedy", { text: [text] }]], (outputs) => {
      this.answer = { text: outputs.text[0], score: outputs.score[0], length: outputs.length[0] };
      this.remark = html("p", { class: "quiet remark" });
      this.fill(hypothesisList([this.answer], this.choose), this.remark);
    });
  }

  /** Says how the greedy answer stands to the best of the beam. */
  compare(best) {
    if (!this.answer || !best) return;
    const gain = best.score - this.answer.score;
    this.remark.textContent =
      best.text === this.answer.text
        ? "The beam's best is the same."
        : gain > 0
          ? `The beam found a text ${times(gain)} as likely.`
          : "The beam ranks another text first.";
  }
}

function times(gain) {
  if (gain > Math.log(1e6)) return "more than a million times";
  return `${Number(Math.exp(gain).toPrecision(3)).toLocaleString("en")} times`;
}

/** The n best of the beam. */
export class Beam extends Panel {
  constructor(asking, choose) {
    super(asking, "Beam", "beam");
    this.choose = choose;
  }

  ask(text) {
    this.found = undefined;
    return this.run([["beam", { text: [text] }]], (outputs) => {
      this.found = bestFirst(outputs);
      this.fill(hypothesisList(this.found, this.choose));
    });
  }
}

/** The answer of a model that has no more than `serving_default`. */
export class Answer extends Panel {
  constructor(asking) {
    super(asking, "Answer", "greedy");
    this.body.setAttribute("aria-live", "polite");
  }

  ask(text) {
    return this.run([["serving_default", { text: [text] }, "text"]], (outputs) =>
      this.fill(written("p", String(outputs.text[0]), { class: "text alone" })),
    );
  }
}
