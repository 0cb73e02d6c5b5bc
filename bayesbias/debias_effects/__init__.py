"""What debiasing changes: association, residual bias, and side effects on quality."""

# Names that are not in __all__ are for other rooms.
from bayesbias.debias_effects.before_after import CLASSICAL as CLASSICAL
from bayesbias.debias_effects.before_after import BeforeAfter, before_after
from bayesbias.debias_effects.change_summary import gap_sentence as gap_sentence
from bayesbias.debias_effects.change_summary import probability_text as probability_text
from bayesbias.debias_effects.change_summary import related_sentence as related_sentence
from bayesbias.debias_effects.change_summary import words_sentence as words_sentence
from bayesbias.debias_effects.change_tables import verdict_rule as verdict_rule
from bayesbias.debias_effects.quality import neighbour_drift, word_analogies, word_similarity

__all__ = [
    "BeforeAfter",
    "before_after",
    "neighbour_drift",
    "word_analogies",
    "word_similarity",
]
