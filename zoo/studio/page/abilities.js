// What a model can do, read off its signatures; the page shows that and nothing else.

const FORMS = {
  greedy: { inputs: ["text"], outputs: ["text", "score", "length"] },
  beam: { inputs: ["text"], outputs: ["text", "score", "ranked_score", "length"] },
  generate: { inputs: ["text", "width"], outputs: ["text", "score", "ranked_score", "length"] },
  sample: { inputs: ["text", "seed"], outputs: ["text", "score", "length"] },
  score: { inputs: ["text", "target"], outputs: ["score", "tokens", "token_scores"] },
  align: { inputs: ["text", "target"], outputs: ["source_tokens", "target_tokens", "alignment"] },
  tag: { inputs: ["text"], outputs: ["tokens"] },
  classify: { inputs: ["text"], outputs: ["label", "score", "probabilities"] },
  regress: { inputs: ["text"], outputs: ["value"] },
};

/** The signatures that the page knows how to ask, by name, and the names of the others. */
export function abilities(signatures) {
  const able = {};
  const others = [];
  for (const [name, signature] of Object.entries(signatures)) {
    if (FORMS[name] && fits(signature, FORMS[name])) able[name] = signature;
    else if (name !== "serving_default") others.push(name);
  }
  const answers = signatures.serving_default;
  if (answers && !Object.keys(able).length) {
    if (fits(answers, { inputs: ["text"], outputs: ["text"] })) able.serving_default = answers;
    else others.push("serving_default");
  }
  return { able, others };
}

function fits(signature, form) {
  return (
    form.inputs.every((name) => name in signature.inputs) &&
    form.outputs.every((name) => name in signature.outputs) &&
    signature.inputs.text === "DT_STRING" &&
    // Every input must be given: one that the page does not know of, it cannot give.
    Object.keys(signature.inputs).every((name) => form.inputs.includes(name) || name in NEUTRAL)
  );
}

/** The value of each knob that leaves a search as it was exported. */
export const NEUTRAL = {
  width: 0,
  length_penalty: -1000,
  min_length: 0,
  max_length: 0,
  prefix: "",
  seed: 0,
  temperature: 1,
  top_k: 0,
  top_p: 1,
};
