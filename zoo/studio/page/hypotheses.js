// Decoded texts, best first, each with its scores; one of them may be chosen to look into.

import { html, svg, written } from "./elements.js";
import { counted, likely, percent, score } from "./numbers.js";

const UNREACHED = -1e8;

/** Row 0 of what `beam` and `generate` answer, without the places that no hypothesis reached. */
export function bestFirst(outputs) {
  const [texts, scores, ranked, lengths] = ["text", "score", "ranked_score", "length"].map((name) => outputs[name][0]);
  return texts
    .map((text, place) => ({ text, score: scores[place], ranked: ranked[place], length: lengths[place] }))
    .filter((hypothesis) => hypothesis.score > UNREACHED);
}

/** A list of hypotheses; `choose` is called with the text of one that is chosen. */
export function hypothesisList(hypotheses, choose) {
  if (!hypotheses.length) return html("p", { class: "quiet" }, "There are no answers.");
  const best = Math.max(...hypotheses.map((each) => each.score));
  const ranked = hypotheses.some((each) => each.ranked !== undefined && Math.abs(each.ranked - each.score) > 1e-4);
  const rows = hypotheses.map((each, place) => html("li", {}, row(each, place, { best, ranked, alone: hypotheses.length === 1 }, choose)));
  return html("ol", { class: "hypotheses" }, rows);
}

function row(hypothesis, place, { best, ranked, alone }, choose) {
  const { text, score: value, length, times } = hypothesis;
  const facts = [
    html("span", { class: "score", title: "Sum of the log probabilities of its tokens" }, score(value)),
    ranked && html("span", { class: "score", title: "What orders the beam" }, `ranked ${score(hypothesis.ranked)}`),
    html("span", { class: "length" }, counted(length, "token")),
    times > 1 && html("span", { class: "length" }, `${times} times`),
  ].filter(Boolean);
  return html(
    "button",
    {
      type: "button",
      class: "hypothesis",
      "aria-pressed": "false",
      "data-text": text,
      "data-place": place,
      click: () => choose(text),
    },
    written("span", text, { class: "text" }),
    html("span", { class: "facts" }, html("span", { class: "percent" }, percent(likely(value))), ...facts),
    alone ? null : bar(likely(value - best)),
  );
}

/** A bar for a share from 0 to 1. */
export function bar(share) {
  const shape = { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" };
  const width = Math.max(0.4, 100 * share);
  return svg("svg", shape, svg("rect", { width: 100, height: 4 }), svg("rect", { class: "share", width, height: 4 }));
}

/** Shows which text is looked into, wherever it is listed below an element. */
export function markChosen(root, text) {
  for (const button of root.querySelectorAll(".hypothesis")) {
    button.setAttribute("aria-pressed", String(button.dataset.text === text));
  }
}
