"""Colours of data that are seen on dark paper, too."""

from __future__ import annotations

# The least luminance: 4.5 times as light as dark paper, as WCAG 2 asks of text.
_LEAST = 0.22
_STEPS = 50


def luminance(color: str) -> float:
    """Return how light a colour such as ``"#d55e00"`` is, from 0 to 1, as WCAG 2 defines it."""
    parts = [part / 255 for part in bytes.fromhex(color[1:])]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def light_enough(color: str) -> str:
    """Return the colour itself or, if it is too dark for dark paper, the nearest that is not."""
    parts = bytes.fromhex(color[1:])
    for step in range(_STEPS):
        mixed = bytes(round(part + (255 - part) * step / _STEPS) for part in parts)
        if luminance(f"#{mixed.hex()}") >= _LEAST:
            break
    return f"#{mixed.hex()}"
