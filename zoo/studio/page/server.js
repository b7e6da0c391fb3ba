// TensorFlow Serving's REST interface, and what its refusals mean for the person at the page.

/** What went wrong, in a sentence, and what to do. `everywhere`: every other request will meet it too. */
export class Trouble extends Error {
  constructor(sentence, remedy, { everywhere = false, loading = false } = {}) {
    super(sentence);
    this.remedy = remedy;
    this.everywhere = everywhere;
    this.loading = loading;
  }
}

export class Server {
  /** `startedHere`: whether the studio runs the server, or somebody else does. */
  constructor(url, startedHere) {
    this.url = url;
    this.startedHere = startedHere;
  }

  /** The versions that the server can be asked for, highest first. */
  async versions(model) {
    const answer = await this.#call(this.#path(model, ""));
    const statuses = answer.model_version_status ?? [];
    const available = statuses.filter((each) => each.state === "AVAILABLE").map((each) => each.version);
    if (available.length) return available;
    if (statuses.some((each) => each.state === "START" || each.state === "LOADING")) throw loading(model);
    const reason = statuses.map((each) => each.status?.error_message).find(Boolean) ?? "it was unloaded";
    throw new Trouble(`No version of ${model} can be asked: ${reason}`, "Publish a good version of it.", {
      everywhere: true,
    });
  }

  /** The signatures by name, `{ inputs: { name: dtype }, outputs: { name: dtype }, widths: { name: last axis } }`. */
  async signatures(model, version) {
    const answer = await this.#call(`${this.#path(model, version)}/metadata`, undefined, model);
    const found = answer.metadata?.signature_def?.signature_def ?? {};
    const named = Object.entries(found).filter(([name]) => !name.startsWith("__"));
    return Object.fromEntries(
      named.map(([name, entry]) => [
        name,
        { inputs: dtypes(entry.inputs), outputs: dtypes(entry.outputs), widths: lastAxes(entry.outputs) },
      ]),
    );
  }

  /** A request for a signature, to be sent and to be shown: columns of rows by input name. */
  request(model, version, signature, inputs) {
    const url = `${this.url}${this.#path(model, version)}:predict`;
    return { url, body: JSON.stringify({ signature_name: signature, inputs }), model };
  }

  /** The outputs of a request by name; of a signature with one output, under `only`. */
  async send(request, only) {
    const answer = await this.#call(request.url.slice(this.url.length), request.body, request.model);
    const outputs = answer.outputs;
    if (outputs === undefined) throw foreign(this.url);
    return Array.isArray(outputs) ? { [only]: outputs } : outputs;
  }

  #path(model, version) {
    return `/v1/models/${encodeURIComponent(model)}${version ? `/versions/${version}` : ""}`;
  }

  async #call(path, body, model) {
    let response;
    try {
      // A string goes as text/plain, which saves asking for leave with OPTIONS; the server reads no type.
      response = await fetch(this.url + path, { method: body === undefined ? "GET" : "POST", body });
    } catch {
      throw await this.#silence();
    }
    const text = await response.text();
    if (!response.ok) throw await this.#refusal(response.status, said(text), model);
    try {
      return JSON.parse(text);
    } catch {
      throw foreign(this.url);
    }
  }

  /** Why nothing came back. A page is not told; but who refuses pages still answers without showing what. */
  async #silence() {
    try {
      await fetch(this.url, { mode: "no-cors" });
    } catch {
      return new Trouble(
        `No server answers at ${this.url}.`,
        this.startedHere ? "Start the studio again: zoo studio FOLDER." : "Start it, then try again.",
        { everywhere: true },
      );
    }
    return new Trouble(
      `The server at ${this.url} does not let web pages ask.`,
      "Start it with --rest_api_enable_cors_support, then try again.",
      { everywhere: true },
    );
  }

  async #refusal(status, message, model) {
    if ((status === 404 || status === 503) && model && (await this.#isLoading(model))) return loading(model);
    const [sentence, remedy, everywhere] = REFUSALS[status] ?? [
      `The server failed with status ${status}`, "Look into its log.", false,
    ];
    return new Trouble(message ? `${sentence}: ${message}` : `${sentence}.`, remedy, { everywhere });
  }

  async #isLoading(model) {
    try {
      await this.versions(model);
      return false;
    } catch (trouble) {
      return Boolean(trouble.loading);
    }
  }
}

const REFUSALS = {
  400: ["The server refused the request", "Change what was asked, or look at the request.", false],
  404: ["The server does not have that model", "Check its name and version; a new model may need a restart.", true],
  413: ["The text is too large for the server", "Ask a shorter one.", false],
  429: ["The server has too much to do", "Try again in a moment.", false],
  501: ["The server cannot do that", "Choose another model or another server.", false],
  503: ["The server is not ready", "Try again in a moment.", true],
  504: ["The model took longer than the server allows", "Ask a shorter text, or raise --rest_api_timeout_in_ms.", false],
};

const loading = (model) =>
  new Trouble(`The server is still loading ${model}.`, "It will be asked again until it is there.", {
    everywhere: true,
    loading: true,
  });

const foreign = (url) =>
  new Trouble(`What answers at ${url} did not answer as TensorFlow Serving does.`, "Check the URL.", {
    everywhere: true,
  });

function said(text) {
  try {
    return JSON.parse(text).error ?? "";
  } catch {
    return "";
  }
}

const dtypes = (infos) => Object.fromEntries(Object.entries(infos ?? {}).map(([name, info]) => [name, info.dtype]));

const lastAxes = (infos) =>
  Object.fromEntries(
    Object.entries(infos ?? {}).map(([name, info]) => [name, Number(info.tensor_shape?.dim?.at(-1)?.size ?? -1)]),
  );
