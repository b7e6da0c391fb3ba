// The request that was sent, as a line to copy into a shell.

import { html, refill } from "./elements.js";

const SHOWN = 3000;

/** What a POSIX shell reads as one argument. */
export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export const curlLine = (request) => `curl -s -d ${quoted(request.body)} ${quoted(request.url)}`;

/** A disclosure with the latest requests of a panel. */
export class Requests {
  constructor() {
    this.list = html("div");
    this.element = html("details", { class: "requests", hidden: true }, html("summary", {}, "Request"), this.list);
  }

  show(requests) {
    this.element.hidden = !requests.length;
    refill(this.list, requests.map(line));
  }
}

function line(request) {
  const text = curlLine(request);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)} … (${text.length.toLocaleString("en")} characters)` : text;
  const copy = html("button", { type: "button", class: "copy", click: () => copyText(text, copy) }, "Copy");
  return html("div", { class: "curl" }, html("code", { tabindex: 0, "aria-label": "The request for curl" }, shown), copy);
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy by hand";
  }
  setTimeout(() => (button.textContent = "Copy"), 1600);
}
