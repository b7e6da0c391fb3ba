// Numbers as people read them.

/** A log probability: three digits, with a true minus sign. */
export function score(value) {
  const size = Math.abs(value);
  const text = size >= 100 ? size.toFixed(1) : size >= 1 ? size.toFixed(2) : size >= 0.001 ? size.toFixed(4)
    : size === 0 ? "0" : size.toExponential(1).replace("-", "−");
  return value < 0 ? `−${text}` : text;
}

/** A probability in per cent. */
export function percent(probability) {
  const hundredths = probability * 100;
  if (hundredths >= 99.995) return probability >= 1 - 1e-9 ? "100 %" : "> 99.99 %";
  if (hundredths >= 10) return `${hundredths.toFixed(2)} %`;
  if (hundredths >= 0.01) return `${hundredths.toPrecision(2)} %`;
  return hundredths === 0 ? "0 %" : "< 0.01 %";
}

/** The same in three signs, for where there is little room. */
export function brief(probability) {
  const hundredths = probability * 100;
  if (hundredths === 0 || hundredths >= 0.95) return `${Math.round(hundredths)} %`;
  return hundredths >= 0.05 ? `${hundredths.toFixed(1)} %` : "0+ %";
}

/** How likely a log probability is. */
export const likely = (logProbability) => Math.exp(Math.min(0, logProbability));

/** A weight from 0 to 1. */
export const weight = (value) => (value > 0 && value < 0.005 ? "< 0.01" : value.toFixed(2));

/** A count with its word, `1 token`, `3 tokens`. */
export const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
