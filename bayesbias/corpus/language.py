"""Which texts are in a language, detected by py3langid."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bayesbias.errors import MissingDependencyError, SpecError

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# A text is left out when another language is at least so probable. Of single lines of English
# novels 1 in 1,000 is lost at 0.3; with the most probable language alone it would be 24.
_SURE = 0.3
# The start of a long text tells its language.
_ENOUGH = 1_000


def language_filter(language: str) -> Callable[[str], bool]:
    """Return a function that tells whether a text is in the language, or too short to tell.

    Parameters
    ----------
    language : str
        An ISO 639 code, such as ``"en"``.

    Returns
    -------
    callable
        From a text to whether it is kept.

    Raises
    ------
    MissingDependencyError
        If py3langid is not installed.
    SpecError
        If py3langid does not know the language.
    """
    if find_spec("py3langid") is None:
        raise MissingDependencyError(
            f"language={language!r} needs the package 'py3langid', which is not installed: "
            "pip install 'bayesbias[language]'."
        )
    identifier = _identifier()
    if language not in identifier.labels:
        raise SpecError(
            f"'language' is {language!r}; expected an ISO 639 code that py3langid knows, such as "
            "'en', 'de' or 'es'."
        )
    kept = (language, "und")  # undetermined: no language is probable enough
    return lambda text: identifier.classify(text[:_ENOUGH])[0] in kept


@cache
def _identifier() -> LanguageIdentifier:
    """Load the model that comes with py3langid, once."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True, min_confidence=_SURE)
