// The page: which model is asked, the question, and the panels that the model's signatures call for.

import { abilities } from "./abilities.js";
import { html, refill } from "./elements.js";
import { markChosen } from "./hypotheses.js";
import { Inside } from "./inside.js";
import { Classify, Regress, Tag } from "./labelling.js";
import { counted } from "./numbers.js";
import { Asking } from "./panel.js";
import { Answer, Beam, Greedy } from "./searching.js";
import { Server } from "./server.js";
import { Generate, Sample } from "./steering.js";

const AGAIN_MS = 1500;
const part = (id) => document.getElementById(id);

class Studio {
  // What was begun last: a load or an answer that comes after a later one of its kind is let go.
  #loads = 0;
  #asks = 0;

  async open() {
    part("ask").addEventListener("submit", (event) => this.#submit(event));
    part("question").addEventListener("keydown", (event) => this.#keyed(event));
    part("question").addEventListener("input", () => this.#fit());
    part("choice").addEventListener("submit", (event) => event.preventDefault());
    part("version").addEventListener("change", () => this.#load(part("version").value));
    const told = await (await fetch("models.json")).json();
    this.server = new Server(told.rest_url, told.started_here);
    this.known = new Map(told.models.map((model) => [model.name, model]));
    this.field = modelField([...this.known.keys()], told.started_here);
    this.field.addEventListener("change", () => this.#choose(this.field.value.trim()));
    refill(part("model-field"), this.field, suggestions([...this.known.keys()]));
    this.#state("", told.rest_url);
    if (this.field.value) await this.#choose(this.field.value);
    else this.#about("Write the name of a served model above.");
  }

  /** Another model: its own first example is asked at once. */
  async #choose(name) {
    if (!name) return;
    this.model = name;
    this.panels = null;
    for (const id of ["panels", "about", "version"]) refill(part(id));
    const { examples = [] } = this.known.get(name) ?? {};
    refill(part("examples"), examples.map((text) => this.#example(text)));
    part("question").value = examples[0] ?? "";
    this.#fit();
    await this.#load("");
  }

  /** Learns what the model can do, and asks it. */
  async #load(version) {
    const load = ++this.#loads;
    this.#asks++;
    this.#quiet();
    this.#state("", this.server.url);
    try {
      const versions = await this.server.versions(this.model);
      const signatures = await this.server.signatures(this.model, version);
      if (load !== this.#loads) return;
      this.#offer(versions, version);
      this.#furnish(abilities(signatures), version);
      this.#state("ready", this.server.url);
      await this.ask();
    } catch (error) {
      if (load === this.#loads) this.#report(error);
    }
  }

  #offer(versions, chosen) {
    const latest = html("option", { value: "" }, `latest (${versions[0]})`);
    refill(part("version"), latest, versions.map((version) => html("option", { value: version }, version)));
    part("version").value = versions.includes(chosen) ? chosen : "";
  }

  /** The panels for what a model can do. */
  #furnish({ able, others }, version) {
    const { description = "", languages = [], labels = [] } = this.known.get(this.model) ?? {};
    const spoken = languages.length > 6 ? counted(languages.length, "language") : languages.join(", ");
    const asking = new Asking(this.server, this.model, version, (trouble) => this.#report(trouble));
    const choose = (text) => (this.inside ? this.inside.look(text) : markChosen(part("panels"), text));
    const make = {
      greedy: () => new Greedy(asking, choose),
      beam: () => new Beam(asking, choose),
      serving_default: () => new Answer(asking),
      tag: (signature) => new Tag(asking, signature),
      classify: () => new Classify(asking, labels),
      regress: () => new Regress(asking),
      generate: (signature) => new Generate(asking, signature, choose),
      sample: (signature) => new Sample(asking, signature, choose),
    };
    const made = (names) => Object.fromEntries(names.filter((name) => able[name]).map((name) => [name, make[name](able[name])]));
    this.panels = made(Object.keys(make));
    const looks = able.score || able.align;
    this.inside = looks ? new Inside(asking, able, (text) => markChosen(part("panels"), text)) : null;
    const { generate, sample, ...answers } = this.panels;
    const shown = [...Object.values(answers), this.inside, generate, sample].filter(Boolean);
    refill(part("panels"), shown.map((panel) => panel.element));
    this.#about(description, spoken, shown.length ? "" : nothingToShow(others));
  }

  #about(...sentences) {
    refill(part("about"), sentences.filter(Boolean).map((text) => html("span", {}, text)));
  }

  /** Asks all panels; the best answer is looked into. A model that is being loaded is asked when it is there. */
  async ask() {
    if (!this.panels) return;
    const text = part("question").value;
    const turn = ++this.#asks;
    this.#quiet();
    for (const button of part("examples").children) {
      button.setAttribute("aria-pressed", String(button.textContent === text));
    }
    this.inside?.ask(text);
    await Promise.all(Object.values(this.panels).map((panel) => panel.ask(text)));
    if (turn !== this.#asks) return;
    const { greedy, beam } = this.panels;
    const best = beam?.found?.[0];
    greedy?.compare(best);
    const answer = best?.text ?? greedy?.answer?.text;
    if (this.inside && answer !== undefined) await this.inside.look(answer);
  }

  #example(text) {
    const ask = () => {
      part("question").value = text;
      this.#fit();
      this.ask();
    };
    return html("button", { type: "button", dir: "auto", click: ask }, text);
  }

  #submit(event) {
    event.preventDefault();
    if (part("trouble").hidden) this.ask();
    else this.#load(part("version").value);
  }

  #keyed(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    part("ask").requestSubmit();
  }

  /** The field grows with its text, to a bound; its length is counted as people count. */
  #fit() {
    const field = part("question");
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
    part("count").textContent = field.value ? counted(lengthOf(field.value), "character") : "";
  }

  #quiet() {
    clearTimeout(this.again);
    part("trouble").hidden = true;
  }

  /** Trouble that all panels have is told once, above them. */
  #report(trouble) {
    if (!trouble.remedy) throw trouble;
    clearTimeout(this.again);
    const retry = () => this.#load(part("version").value);
    if (trouble.loading) this.again = setTimeout(retry, AGAIN_MS);
    const button = html("button", { type: "button", click: retry }, "Try again");
    refill(part("trouble"), html("p", {}, html("strong", {}, trouble.message), ` ${trouble.remedy}`), button);
    part("trouble").hidden = false;
    this.#state(trouble.loading ? "waiting" : "lost", this.server.url);
  }

  #state(state, url) {
    part("server").dataset.state = state;
    const word = { ready: "ready", lost: "in trouble", waiting: "loading" }[state] ?? "asking";
    const dot = html("span", { class: "dot", "aria-hidden": "true" });
    const said = html("span", { class: "hidden" }, `Server ${word}: `);
    refill(part("server"), dot, said, url.replace(/^https?:\/\//, ""));
  }
}

/** A choice among the models of a server that was started here; a foreign one tells no names: they are written. */
function modelField(names, startedHere) {
  if (startedHere) return html("select", { id: "model" }, names.map((name) => html("option", {}, name)));
  const attributes = { id: "model", list: "names", autocomplete: "off", spellcheck: "false", placeholder: "name" };
  return html("input", { ...attributes, value: names[0] ?? "" });
}

const suggestions = (names) => html("datalist", { id: "names" }, names.map((name) => html("option", { value: name })));

const nothingToShow = (others) =>
  `The studio asks models with a text, and this one has other signatures: ${others.join(", ") || "none"}.`;

function lengthOf(text) {
  if (text.length > 20000 || !Intl.Segmenter) return text.length;
  return [...new Intl.Segmenter().segment(text)].length;
}

new Studio().open();
