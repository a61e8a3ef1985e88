"""Small texts, and what is learnt about their words as the twin of the large features has it."""

from hypothesis import strategies as st
from naive import byte_pairs
from naive import large_features as naive

from camber.align.pharaoh import Alignment
from camber.corpus import Bitext

OLD, NEW = ("ab", "ba", "aab", "=+", "[1]"), ("ab", "ba", "bbxa", "x")


@st.composite
def texts(draw, words):
    """Draw sentence pairs over few words, with any links."""
    pairs = []
    for _ in range(draw(st.integers(1, 6))):
        source, target = (draw(st.lists(st.sampled_from(words), min_size=1, max_size=5)) for _ in range(2))
        cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
        pairs.append((source, target, sorted(draw(st.sets(st.sampled_from(cells), min_size=1, max_size=5)))))
    return pairs


def encode(pairs):
    """Return the bitext and the alignment of sentence pairs."""
    bitext = Bitext.encode([source for source, _, _ in pairs], [target for _, target, _ in pairs])
    return bitext, Alignment.from_pairs([links for _, _, links in pairs])


def twins(bitext, knowledge, words, merges):
    """Return both languages and the lexical table as the twin has them; `words` may come later."""
    sides, pieces = [], []
    for text, side in ((bitext.source, knowledge.source), (bitext.target, knowledge.target)):
        known = text.vocabulary.words
        counts = {word: int((text.ids == at).sum()) for at, word in enumerate(known)}
        symbols, pairs = byte_pairs.learn(counts, merges)
        cut = {word: byte_pairs.segment(word, symbols, pairs) for word in {*known, *words}}
        cut = {word: [object() if piece is None else piece for piece in some] for word, some in cut.items()}
        sides.append(naive.Side(counts, dict(zip(known, side.clusters.tolist(), strict=True)), cut))
        pieces.append([*side.subwords.pieces.words, None])  # the last is -1, too
    table = knowledge.lexicon
    lexicon = {
        (pieces[0][s], pieces[1][t]): (table.source_given_target[row], table.target_given_source[row])
        for row, (s, t) in enumerate(zip(table.source.tolist(), table.target.tolist(), strict=True))
    }
    return sides, lexicon
