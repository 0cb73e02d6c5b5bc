"""Lists of the most frequent words of each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bayesbias._core.validation import positive, true_or_false
from bayesbias.wordlists.build.balanced_choice import take
from bayesbias.wordlists.build.base import ChosenWords, ListMethod, ListRequest, check_pairs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ByFrequency(ListMethod):
    """Choose the most frequent words of each group.

    Parameters
    ----------
    match_frequency : bool, default False
        Whether the groups get words in pairs of similar frequency. Unequal frequencies can look
        like bias.
    caliper : float, default 0.2
        How much the logarithms of two frequencies may differ in a pair.

    Raises
    ------
    SpecError
        If `caliper` is not a number above 0.

    See Also
    --------
    build_lists : Build lists with this method.

    Examples
    --------
    >>> import bayesbias as bb
    >>> labelled = bb.load_labelled("gender")
    >>> two = {name: labelled[name] for name in ("female", "male")}
    >>> groups = bb.wordlists.GroupClassifier(background=200).fit("demo", two)
    >>> paired = bb.wordlists.ByFrequency(match_frequency=True)
    >>> built = bb.build_lists("demo", groups, method=paired, size=20, threshold=0.98)
    >>> built.words.groupby("pair")["word"].agg(list).iloc[0]
    ['women', 'john']
    """

    name: ClassVar[str] = "frequency"

    match_frequency: bool = False
    caliper: float = 0.2

    def __post_init__(self) -> None:
        true_or_false("match_frequency", self.match_frequency)
        positive("caliper", self.caliper)

    def choose(self, candidates: pd.DataFrame, request: ListRequest) -> ChosenWords:
        """Take the first candidates of each group, or the first pairs."""
        caliper = self.caliper if self.match_frequency else None
        words = take(candidates, request.groups, request.size, "", (), caliper)
        check_pairs(words, request.groups, self.caliper)
        return ChosenWords(words, why_less_frequent(self.match_frequency), [])

    def settings(self) -> list[str]:
        """Return whether frequencies were matched."""
        return ["frequencies matched"] if self.match_frequency else []


def why_less_frequent(match_frequency: bool) -> str:
    """Return why words that come later were not chosen."""
    return "less frequent, or without a pair" if match_frequency else "less frequent"
