// Colours of drawings: those of the project's pictures, the last hue darker, since it is written in too; and for
// a dark page the like from dark to light.

const HEAT = {
  light: ["#f3f6f9", "#b9d7ed", "#58a4d5", "#1a6aa6", "#08264a"],
  dark: ["#1b2430", "#1d4467", "#2577b0", "#6db7e6", "#e2f2fd"],
};
const HUES = {
  light: ["#0f6fb3", "#7a4fb5", "#c8375b", "#bf5310"],
  dark: ["#5db3ee", "#b08fe8", "#f07f9a", "#f5a667"],
};

const darkness = matchMedia("(prefers-color-scheme: dark)");
const scheme = () => (darkness.matches ? "dark" : "light");

/** Calls back when the page turns dark or light. */
export const onScheme = (act) => darkness.addEventListener("change", act);

/** Red, green and blue of a weight from 0 to 1. */
export const heat = (share) => between(HEAT[scheme()], share);

/** A colour for place `share` of a row, from 0 to 1. */
export const hue = (share) => `rgb(${between(HUES[scheme()], share).join(" ")})`;

function between(stops, share) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const [from, to] = [parts(stops[low]), parts(stops[low + 1])];
  return from.map((value, index) => Math.round(value + (to[index] - value) * (at - low)));
}

const parts = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
