"""Lists with the same number of words of each part of speech."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from bayesbias._core.validation import positive, true_or_false
from bayesbias.errors import SpecError
from bayesbias.wordlists.build import build_notes
from bayesbias.wordlists.build.balanced_choice import take
from bayesbias.wordlists.build.base import ChosenWords, ListMethod, ListRequest, check_pairs
from bayesbias.wordlists.build.by_frequency import why_less_frequent
from bayesbias.wordlists.build.candidate_pool import Pool
from bayesbias.wordlists.build.parts_of_speech import PARTS_OF_SPEECH, majority_tags, tags_of

if TYPE_CHECKING:
    import pandas as pd

# The tag of a word without its sentence would be a guess.
NEEDS_TAGS = (
    "the method 'pos' needs 'tags', the parts of speech that words have in sentences: "
    "method=ByPartOfSpeech(tag_words(corpus)), which needs pip install 'bayesbias[pos]'."
)


class ByPartOfSpeech(ListMethod):
    """Choose the most frequent words of each part of speech, the same number of each.

    The parts of speech are adjectives, nouns, proper nouns, pronouns and verbs.

    Parameters
    ----------
    tags : DataFrame
        The parts of speech that words have in sentences, as `tag_words` gives them: columns
        ``word``, ``tag`` and ``count``. The most frequent tag of a word counts.
    match_frequency : bool, default False
        Whether the groups get words in pairs of similar frequency.
    caliper : float, default 0.2
        How much the logarithms of two frequencies may differ in a pair.

    Raises
    ------
    SpecError
        If there are no tags, or `caliper` is not a number above 0.
    DataError
        If a column is missing, or a count is impossible.

    See Also
    --------
    build_lists : Build lists with this method.

    Examples
    --------
    >>> import bayesbias as bb
    >>> import pandas as pd
    >>> tags = pd.DataFrame({"word": ["she", "king"], "tag": ["PRON", "NOUN"], "count": [9, 2]})
    >>> bb.wordlists.ByPartOfSpeech(tags)
    ByPartOfSpeech(tags of 2 words)
    """

    name: ClassVar[str] = "pos"

    def __init__(
        self, tags: pd.DataFrame, *, match_frequency: bool = False, caliper: float = 0.2
    ) -> None:
        if tags is None:
            raise SpecError(NEEDS_TAGS)
        self.match_frequency = true_or_false("match_frequency", match_frequency)
        self.caliper = positive("caliper", caliper)
        self._tags = tags
        self._tag_of = majority_tags(tags)

    def __repr__(self) -> str:
        return f"ByPartOfSpeech(tags of {len(self._tag_of):,} words)"

    @property
    def frequencies(self) -> pd.DataFrame | None:
        """How often each word has each tag."""
        return self._tags

    def leave_out(self, pool: Pool) -> None:
        """Leave out words without a tag, and those of other parts of speech."""
        tagged = self._tagged(pool.embedding.words)
        pool.drop_if(lambda word, _: word not in tagged, "no part of speech")
        pool.drop_if(lambda word, _: tagged[word] not in PARTS_OF_SPEECH, "other part of speech")

    def choose(self, candidates: pd.DataFrame, request: ListRequest) -> ChosenWords:
        """Take the first candidates, or pairs, of each part of speech."""
        tagged = self._tagged(request.embedding.words)
        by_tag = candidates.assign(tag=candidates["word"].map(tagged))
        caliper = self.caliper if self.match_frequency else None
        words = take(by_tag, request.groups, request.size, "tag", PARTS_OF_SPEECH, caliper)
        check_pairs(words, request.groups, self.caliper)
        notes = build_notes.of_parts_of_speech(words, request.groups)
        return ChosenWords(words, why_less_frequent(self.match_frequency), notes)

    def settings(self) -> list[str]:
        """Return whether frequencies were matched."""
        return ["frequencies matched"] if self.match_frequency else []

    def _tagged(self, words: tuple[str, ...]) -> Mapping[str, str]:
        return tags_of(words, self._tag_of)
