// A card of the page: a title, what was answered, what went wrong, and the requests that were sent.

import { Requests } from "./curl.js";
import { html, refill } from "./elements.js";

/** How a panel asks: the chosen model, and where trouble goes that every panel has. */
export class Asking {
  constructor(server, model, version, report) {
    Object.assign(this, { server, model, version, report });
  }

  request(signature, inputs) {
    return this.server.request(this.model, this.version, signature, inputs);
  }
}

export class Panel {
  #run = 0;

  /** `asking`: see above; `title`, and `name` for its style. */
  constructor(asking, title, name) {
    this.asking = asking;
    this.fixed = html("div", { class: "fixed" });
    this.body = html("div", { class: "body" });
    this.note = html("p", { class: "note", role: "alert", hidden: true });
    this.requests = new Requests();
    this.element = html(
      "section",
      { class: `card panel ${name}`, "aria-label": title, "aria-busy": "false" },
      html("h2", {}, title),
      this.fixed,
      this.body,
      this.note,
      this.requests.element,
    );
  }

  /**
   * Sends requests, `[signature, inputs, only]` each, and hands their outputs to `draw`; of runs that overlap the
   * last alone is drawn. Resolves to whether it was.
   */
  async run(wanted, draw) {
    const run = ++this.#run;
    const requests = wanted.map(([signature, inputs]) => this.asking.request(signature, inputs));
    this.element.setAttribute("aria-busy", "true");
    this.requests.show(requests);
    this.#tell("");
    try {
      const sent = requests.map((request, index) => this.asking.server.send(request, wanted[index][2]));
      const outputs = await Promise.all(sent);
      if (run !== this.#run) return false;
      draw(...outputs);
      return true;
    } catch (error) {
      if (run === this.#run) this.#fail(error);
      return false;
    } finally {
      if (run === this.#run) this.element.setAttribute("aria-busy", "false");
    }
  }

  /** Shows what was answered. What is `fixed` above it stays in its place, or whoever types there would lose it. */
  fill(...children) {
    refill(this.body, children);
  }

  /** Empties the panel; what is still under way is dropped. */
  clear() {
    this.#run++;
    this.element.setAttribute("aria-busy", "false");
    this.requests.show([]);
    this.#tell("");
    this.fill();
  }

  #fail(error) {
    this.fill();
    if (error.everywhere) this.asking.report(error);
    else this.#tell(error.remedy ? `${error.message.replace(/[\s.]*$/, "")}. ${error.remedy}` : String(error));
    if (!error.remedy) throw error;
  }

  #tell(sentence) {
    this.note.hidden = !sentence;
    this.note.textContent = sentence;
  }
}
