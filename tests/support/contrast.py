"""The contrast of two colours, by the guidelines for accessible content (WCAG 2)."""

from PySide6.QtGui import QColor

_LINEAR_BELOW = 0.04045  # sRGB's curve, IEC 61966-2-1


def contrast(first: QColor, second: QColor) -> float:
    """Return the contrast ratio of WCAG 2: from 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: QColor) -> float:
    red, green, blue = (_linear(part) for part in (color.redF(), color.greenF(), color.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= _LINEAR_BELOW else float(((part + 0.055) / 1.055) ** 2.4)
