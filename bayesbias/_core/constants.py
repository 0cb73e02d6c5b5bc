"""Values that several rooms agree on."""

from __future__ import annotations

from typing import Final

#: Kinds of connection between a protected word and an attribute, in the order of every table.
CONNECTIONS: Final = ("associated", "different", "human", "none")

#: Kinds of control words of a study, and the connection their rows get.
CONTROL_CONNECTIONS: Final = {"human": "human", "neutral": "none"}

#: Spellings tried, in this order, when a word is looked up in an embedding.
DEFAULT_FALLBACKS: Final = ("exact", "lower", "title", "strip_accents")

#: Share of a word set that may be lost before a table or a score is refused (WEFE's default).
LOST_VOCABULARY_THRESHOLD: Final = 0.2

#: What the ids of those parts of a figure begin with that a page of HTML shows a text for.
MARK: Final = "mark:"

#: Where an audit is written to, in the working directory, unless another folder is given.
DEFAULT_AUDIT_FOLDER: Final = "bayesbias-audit"

#: The covariates that a distance table can be built with.
COVARIATES = ("log_frequency", "protected_log_frequency", "norm", "protected_norm")
