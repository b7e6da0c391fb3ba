"""Text to text: tokenizers, a model and a search strategy meet, in graph operations alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.decoders import (
    Beam,
    Decoded,
    ForcedPrefix,
    Greedy,
    LogitTransform,
    MinimumLength,
    OnlyEnd,
    Sample,
    Seq2SeqModel,
    Strategy,
    TracedModel,
    decode,
    grow,
    in_parts,
    most_attended,
    reading_of,
    score,
)
from zoo.knobs import (
    GENERATE,
    GENERATE_EXAMPLES,
    SAMPLE,
    SAMPLE_EXAMPLES,
    beam_of,
    bounds_of,
    sampling_of,
)
from zoo.tokenizers import PAD, UNKNOWN, Tokenizer
from zoo.tokenizers.sequences import Sources, read_prefixes, read_sources, read_targets, teacher_forced

__all__ = ["Alignment", "Answers", "Predictor", "Signature", "TargetScores"]


class Answers(NamedTuple):
    """What a search answers, best first."""

    text: tf.Tensor
    """(B, K) strings."""
    score: tf.Tensor
    """(B, K) float32: log probability of the hypothesis under the model."""
    ranked_score: tf.Tensor
    """(B, K) float32: what the hypotheses are ordered by."""
    length: tf.Tensor
    """(B, K) int32: number of tokens, END not counted."""


class TargetScores(NamedTuple):
    """How likely given targets are."""

    score: tf.Tensor
    """(B,) float32: log probability of the target."""
    tokens: tf.Tensor
    """(B, T) strings: the target's tokens, its end as `</s>`, then empty strings."""
    token_scores: tf.Tensor
    """(B, T) float32: log probability of each token after those before it; 0 beyond the end."""


class Alignment(NamedTuple):
    """Where the model looked in the source for each token of the target."""

    source_tokens: tf.Tensor
    """(B, S) strings, ending in `</s>`, then empty strings."""
    target_tokens: tf.Tensor
    """(B, T) strings, ending in `</s>`, then empty strings."""
    alignment: tf.Tensor
    """(B, T, S) float32: row t adds up to 1 over the source tokens; 0 beyond the end of either."""


class Signature(NamedTuple):
    """One question that an export answers."""

    function: Callable[..., dict[str, tf.Tensor]]
    """Called with keyword arguments that are named as the inputs."""
    inputs: Mapping[str, tf.TensorSpec]
    """What it takes, by name; the batch is the first axis of all."""
    neutral: Mapping[str, Any] = {}
    """What asks for nothing special, by name, for the inputs that have such a value."""
    settings: Sequence[Mapping[str, Any]] = ({},)
    """Values of those inputs that every export is tried with."""


class Predictor(tf.Module):
    """A trained model between two tokenizers.

    White space around a text is dropped; a target is taken as it stands, since an answer may begin or end
    with a space. A text that is empty or blank has one answer, the empty text. A text of more than
    `max_source_length` tokens is read up to there. Invalid UTF-8 is read as U+FFFD. No text changes the
    answer to another one of its batch.

    Args:
        model: a generating model, see `zoo.decoders.Seq2SeqModel`.
        source: tokenizer of the texts.
        target: tokenizer of the answers.
        beam: the strategy behind the signatures `serving_default` and `beam`.
        max_source_length: greatest number of source tokens, the end mark counted.
        max_length: greatest number of tokens of an answer, and of a given target, the end mark counted there.
            A longer target is scored and aligned up to there.
        max_width: K of the signature `generate`, whose requests choose a width of their own up to there; at
            least the width of the beam.
        parts: in how many parts an export searches a large batch at once, see `zoo.decoders.in_parts`; each
            keeps about one processor core busy, and adds to the size of the graph.
        replace_unknown: whether an unknown word of an answer is written as the word of the text that the
            model looked at most for it (Luong et al. 2015, "Addressing the rare word problem"; by attention
            in Jean et al. 2015). It takes a model with attention, and tokenizers such as `Words`. Scores stay
            those of the ids.

    The score of an answer is what `score` says of its text, provided that the target's tokenizer reads back
    what it wrote.

    Raises:
        ValueError: the beam has a coverage penalty, or unknown words are to be replaced, and the model does
            not say where it looks, or a tokenizer does not say what its ids stand for.
    """

    def __init__(
        self,
        model: Seq2SeqModel,
        source: Tokenizer,
        target: Tokenizer,
        *,
        beam: Beam | None = None,
        max_source_length: int = 256,
        max_length: int = 64,
        max_width: int = 8,
        parts: int = 2,
        replace_unknown: bool = False,
    ) -> None:
        super().__init__()
        self.model: Any = model
        self.source: Any = source
        self.target: Any = target
        self.beam = beam or Beam()
        self.max_source_length = max_source_length
        self.max_length = max_length
        self.max_width = max(max_width, self.beam.width)
        self.parts = parts
        self.replace_unknown = replace_unknown
        reading_of(model, self.beam)  # refuses what a search would refuse
        if replace_unknown:
            _require_copies(model, source, target)

    def answer(
        self,
        text: Any,
        strategy: Strategy | None = None,
        *,
        transforms: Sequence[LogitTransform] = (),
        max_lengths: Any = None,
    ) -> Answers:
        """Texts (B,) to K answers each.

        Args:
            text: (B,) strings.
            strategy: how to search; by the predictor's beam, unless given.
            transforms, max_lengths: see `zoo.decoders.decode`.
        """
        sources = self._read(text)
        decoded = self._decode(sources, sources.blank, strategy or self.beam, transforms, max_lengths)
        texts = self._write(sources, decoded.token_ids)
        return Answers(texts, decoded.scores, decoded.ranked_scores, decoded.lengths)

    def generate(
        self, text: Any, width: Any, length_penalty: Any, min_length: Any, max_length: Any, prefix: Any
    ) -> Answers:
        """Texts (B,) to `max_width` answers each, by beam searches that each text chooses.

        An answer begins with the prefix, which counts in its score and its length, but neither in its ranked
        score nor in the norm. All arguments are (B,); `zoo.knobs` says what their values mean.
        """
        given = read_prefixes(self.target, prefix, self.max_length)
        given_lengths = tf.reduce_sum(tf.cast(given != PAD, tf.int32), axis=1)
        shortest, longest = bounds_of(min_length, max_length, self.max_length)
        return self.answer(
            text,
            beam_of(self.beam, self.max_width, width, length_penalty, given_lengths),
            transforms=[MinimumLength(shortest), ForcedPrefix(given, given_lengths)],
            max_lengths=longest,
        )

    def sample(self, text: Any, seed: Any, temperature: Any, top_k: Any, top_p: Any) -> Answers:
        """Texts (B,) to one answer each, drawn. All arguments are (B,), see `zoo.knobs`."""
        return self.answer(text, Sample(seed), transforms=sampling_of(temperature, top_k, top_p))

    def stream(
        self,
        text: str | bytes,
        strategy: Strategy | None = None,
        *,
        transforms: Sequence[LogitTransform] = (),
    ) -> Iterator[str]:
        """One text to its answer as it grows, token by token.

        The model is traced at the first text, and again at the first one of another length; then no more.

        Args:
            text: what to answer.
            strategy: `Greedy`, unless given, or `Sample`.
            transforms: see `zoo.decoders.decode`.

        Yields:
            The answer so far; what is yielded last is what `answer` says.
        """
        sources = self._read([text])
        steps = grow(
            self._traced_model,
            sources.ids,
            strategy or Greedy(),
            max_length=self.max_length,
            transforms=[*transforms, OnlyEnd(sources.blank)],
        )
        for token_ids in steps:
            yield self._write(sources, token_ids).numpy()[0, 0].decode("utf-8")

    def score(self, text: Any, target: Any) -> TargetScores:
        """Texts (B,) and targets (B,) to how likely the targets are, token by token."""
        _require_pairs(text, target)
        target_ids = read_targets(self.target, target, self.max_length)
        scored = score(self.model, self._read(text).ids, target_ids)
        return TargetScores(scored.scores, self.target.tokens(target_ids), scored.token_scores)

    def align(self, text: Any, target: Any) -> Alignment:
        """Texts (B,) and targets (B,) to attention; an empty target stands for the greedy answer."""
        _require_pairs(text, target)
        sources = self._read(text)
        given = read_targets(self.target, target, self.max_length)
        missing = tf.strings.length(target) == 0
        # A row whose target is given has nothing to search for, and is done after one step.
        found = self._decode(sources, sources.blank | ~missing, Greedy()).token_ids[:, 0]
        given = tf.pad(given, [[0, 0], [0, self.max_length - tf.shape(given)[1]]], constant_values=PAD)
        target_ids = tf.where(missing[:, None], found, given)
        longest = tf.reduce_max(tf.reduce_sum(tf.cast(target_ids != PAD, tf.int32), axis=1))
        target_ids = target_ids[:, : tf.maximum(longest, 1)]
        alignment = self.model.alignment(sources.ids, teacher_forced(target_ids))
        alignment = tf.where(target_ids[:, :, None] == PAD, 0.0, tf.cast(alignment, tf.float32))
        return Alignment(self.source.tokens(sources.ids), self.target.tokens(target_ids), alignment)

    def signatures(self) -> dict[str, Signature]:
        """The questions that an export of this predictor answers, by name."""
        text = _specs(text="")
        both = _specs(text="", target="")
        beam, generate = lambda text: self.answer(text, self.beam), self.generate
        searches = {
            "serving_default": Signature(lambda text: {"text": beam(text).text[:, 0]}, text),
            "greedy": Signature(lambda text: _only(self.answer(text, Greedy())), text),
            "beam": Signature(lambda text: beam(text)._asdict(), text),
            "generate": Signature(
                lambda **inputs: generate(**inputs)._asdict(),
                {**text, **_specs(**GENERATE)},
                GENERATE,
                GENERATE_EXAMPLES,
            ),
            "sample": Signature(
                lambda **inputs: _only(self.sample(**inputs)),
                {**text, **_specs(**SAMPLE)},
                SAMPLE,
                SAMPLE_EXAMPLES,
            ),
        }
        signatures = {name: self._in_parts(signature) for name, signature in searches.items()} | {
            "score": Signature(lambda text, target: self.score(text, target)._asdict(), both),
        }
        if hasattr(self.model, "alignment"):  # not `isinstance`, which does not ask properties
            signatures["align"] = Signature(lambda text, target: self.align(text, target)._asdict(), both)
        return signatures

    def packed(self) -> AbstractContextManager[None]:
        """Within, the model may use copies of its weights that are faster to read: for exports."""
        return self.model.packed() if hasattr(self.model, "packed") else nullcontext()

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return {
            "source_vocabulary.json": self.source.describe(),
            "target_vocabulary.json": self.target.describe(),
        }

    @cached_property
    def _traced_model(self) -> Any:
        """For `stream`, which is no graph itself."""
        return TracedModel(self.model)

    def _in_parts(self, signature: Signature) -> Signature:
        return signature._replace(
            function=lambda **inputs: in_parts(signature.function, inputs, most=self.parts)
        )

    def _read(self, text: Any) -> Sources:
        return read_sources(self.source, text, self.max_source_length)

    def _write(self, sources: Sources, token_ids: tf.Tensor) -> tf.Tensor:
        """Answers (B, K, L) of the sources to texts (B, K)."""
        rows = tf.reshape(token_ids, [-1, self.max_length])
        texts = self.target.decode(rows)
        if self.replace_unknown:
            incomplete = tf.reduce_any(rows == UNKNOWN, axis=1)
            texts = tf.cond(
                tf.reduce_any(incomplete),
                lambda: self._with_copies(sources, rows, texts, tf.where(incomplete), token_ids.shape[1]),
                lambda: texts,
            )
        return tf.reshape(texts, tf.shape(token_ids)[:2])

    def _with_copies(
        self, sources: Sources, rows: tf.Tensor, texts: tf.Tensor, incomplete: tf.Tensor, width: int
    ) -> tf.Tensor:
        """Texts (B * K,) of ids (B * K, L), unknown words replaced in those of numbers (N, 1)."""
        places = incomplete[:, 0]
        ids, source = tf.gather(rows, places), places // width
        longest = tf.reduce_max(tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=1))
        ids = ids[:, :longest]
        words = self.source.surfaces(sources.texts).to_tensor(
            "", shape=tf.stack([-1, tf.shape(sources.ids)[1]])
        )
        words = tf.gather(words, source)  # without the end mark, which is no word
        read = tf.gather(sources.ids, source)
        looked_at = most_attended(self.model, read, ids, words != "")
        copies = tf.gather(words, looked_at, batch_dims=1)
        return tf.tensor_scatter_nd_update(texts, incomplete, self.target.decode_copying(ids, copies))

    def _decode(
        self,
        sources: Sources,
        nothing_to_say: tf.Tensor,
        strategy: Strategy,
        transforms: Sequence[LogitTransform] = (),
        max_lengths: Any = None,
    ) -> Decoded:
        """Search, but for the sources (B,) that have nothing to say."""
        return decode(
            self.model,
            sources.ids,
            strategy,
            max_length=self.max_length,
            max_lengths=max_lengths,
            transforms=[*transforms, OnlyEnd(nothing_to_say)],
        )


def _specs(**values: Any) -> dict[str, tf.TensorSpec]:
    """A batch of what each value is one of."""
    return {
        name: tf.TensorSpec([None], tf.convert_to_tensor(value).dtype, name=name)
        for name, value in values.items()
    }


def _only(answers: Answers) -> dict[str, tf.Tensor]:
    """Answers (B, 1) as one of each source, (B,)."""
    return {
        "text": answers.text[:, 0],
        "score": answers.score[:, 0],
        "length": answers.length[:, 0],
    }


def _require_copies(model: Any, source: Any, target: Any) -> None:
    """Refuse what cannot replace unknown words."""
    if not hasattr(model, "alignment"):  # not `isinstance`, which does not ask properties
        raise ValueError(
            "Unknown words are replaced by those that the model looked at, and "
            f"{type(model).__name__} has no attention. Leave replace_unknown out, or take one that has."
        )
    for tokenizer, member in ((source, "surfaces"), (target, "decode_copying")):
        if not hasattr(tokenizer, member):
            raise ValueError(
                f"Unknown words are replaced among words, by tokenizers with `{member}` such as Words, and "
                f"{type(tokenizer).__name__} has none. Leave replace_unknown out, or take Words."
            )


def _require_pairs(text: Any, target: Any) -> None:
    """Refuse texts and targets that are not as many: one of either would be taken for all of the others."""
    tf.debugging.assert_equal(
        tf.shape(text)[0], tf.shape(target)[0], message="Each text needs one target: give as many of both."
    )
