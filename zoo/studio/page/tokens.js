// Tokens as they are shown.

const MARKS = { " ": "␣", "\n": "↵", "\t": "⇥", "\r": "↵", "\u00a0": "␣", "\u3000": "␣" };

/** Ideographs, Hangul and pictures, by their blocks. */
const WIDE = new RegExp(
  "[\\u1100-\\u115f\\u2e80-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff" +
    "\\ufe30-\\ufe6f\\uff00-\\uff60\\u{1f300}-\\u{1faff}]",
  "u",
);

/** The tokens of a row without the padding at its end. */
export function filled(tokens) {
  let count = tokens.length;
  while (count && tokens[count - 1] === "") count--;
  return tokens.slice(0, count);
}

/** A token with its white space made visible, and marks that combine on a circle to combine with. */
export function label(token) {
  const shown = Array.from(token, (character) => MARKS[character] ?? character).join("");
  return /^\p{M}/u.test(shown) ? `◌${shown}` : shown;
}

/** A label that is not longer than a drawing has room for. */
export function short(token, most = 14) {
  const characters = Array.from(label(token));
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : characters.join("");
}

/** Whether tokens are read from right to left, as their first letter is. */
export function rightToLeft(tokens) {
  const letter = tokens.join("").match(/\p{L}/u)?.[0] ?? "";
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(letter);
}

/** How many columns a label takes, of which a letter takes one and an ideograph two. */
export function columns(text) {
  const characters = Array.from(text.replace(/\p{M}/gu, ""));
  return characters.length + characters.filter((each) => WIDE.test(each)).length;
}
