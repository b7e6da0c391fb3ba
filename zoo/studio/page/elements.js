// Elements made from code. Texts become text nodes and attributes, never markup: what a model answers is not
// to be trusted.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; attributes whose value is a function are listeners, null and false leave one out. */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A text that a person or a model wrote, in its own direction. */
export function written(tag, text, attributes = {}) {
  return text === ""
    ? html(tag, { ...attributes, class: `${attributes.class ?? ""} empty` }, "the empty text")
    : html(tag, { dir: "auto", ...attributes }, text);
}

/** A field under its label. */
export function field(label, control, hint = "") {
  return html("label", { class: "field", title: hint || null }, html("span", {}, label), control);
}

/** Puts children in place of what an element holds. */
export function refill(element, ...children) {
  element.replaceChildren(...children.flat(2).filter(Boolean));
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== false && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
