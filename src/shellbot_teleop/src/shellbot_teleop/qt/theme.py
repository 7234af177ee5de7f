# SPDX-License-Identifier: MIT
"""The theme that the window shows: colours, fonts and style sheet."""

from __future__ import annotations

import functools

from python_qt_binding.QtGui import QColor, QFont

from shellbot_teleop.palette import PALETTES, STOP, STOP_EDGE, Palette

_shown = ["dark"]  # one for the whole application, as Qt's style is


def palette() -> Palette:
    """Return the colours that hold now; they are read while drawing, as the theme changes live."""
    return PALETTES[_shown[0]]


def other() -> str:
    """Return the name of the theme that is not shown."""
    return next(name for name in PALETTES if name != _shown[0])


def use(name: str) -> str:
    """Change to a theme, dark or light; returns its style sheet."""
    _shown[0] = name
    return _style_sheet(palette())


@functools.lru_cache(maxsize=None)
def colour(name: str, alpha: int = 255) -> QColor:
    """Colour with an opacity of 0 .. 255; shared, so not to be changed."""
    result = QColor(name)
    result.setAlpha(alpha)
    return result


def font(size_pt: float = 10.0, bold: bool = False, mono: bool = False) -> QFont:
    """Font of the window; figures that change use the monospaced one so that they do not jump.

    Made anew each time: a font that outlives the QApplication ends the program with a segmentation fault.
    """
    result = QFont("DejaVu Sans Mono" if mono else "Noto Sans")
    result.setStyleHint(QFont.Monospace if mono else QFont.SansSerif)
    result.setPointSizeF(size_pt)
    result.setBold(bold)
    return result


def _style_sheet(p: Palette) -> str:
    return f"""
* {{ color: {p.text}; outline: none; }}
QMainWindow, QWidget#root {{ background: {p.background}; }}
QFrame#card {{ background: {p.surface}; border: 1px solid {p.line}; border-radius: 8px; }}
QLabel {{ background: transparent; }}
QLabel#title {{ color: {p.muted}; font-weight: 600; font-size: 8.5pt; }}
QLabel#muted {{ color: {p.muted}; }}
QToolTip {{ background: {p.raised}; color: {p.text}; border: 1px solid {p.line}; padding: 4px; }}
QPushButton {{ background: {p.raised}; border: 1px solid {p.line}; border-radius: 6px;
  padding: 5px 10px; font-weight: 600; }}
QPushButton:hover {{ border-color: {p.accent}; }}
QPushButton:pressed {{ background: {p.line}; }}
QPushButton:checked {{ background: {p.accent}; border-color: {p.accent}; color: {p.on_accent}; }}
QPushButton:disabled {{ color: {p.disabled}; border-color: {p.raised}; }}
QPushButton#stop {{ background: {STOP}; border: 2px solid {STOP_EDGE}; color: white;
  font-size: 11.5pt; padding: 7px 16px; }}
QPushButton#stop:hover {{ background: #b91c1c; }}
QPushButton:focus, QPushButton#stop:focus {{ border-color: {p.warn}; }}
QPushButton#small {{ padding: 2px 8px; font-weight: 400; font-size: 9pt; }}
QProgressBar {{ background: {p.raised}; border: none; border-radius: 4px; max-height: 8px; min-height: 8px; }}
QProgressBar::chunk {{ background: {p.accent}; border-radius: 4px; }}
QSlider::groove:horizontal {{ height: 4px; background: {p.line}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {p.accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: {p.text}; }}
QSlider::handle:horizontal:hover {{ background: {p.accent}; }}
QSlider::handle:horizontal:focus {{ background: {p.warn}; }}
QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled {{ background: {p.line}; }}
QDoubleSpinBox, QComboBox {{ background: {p.background}; border: 1px solid {p.line}; border-radius: 5px;
  padding: 2px 4px; min-width: 66px; }}
QDoubleSpinBox:focus, QComboBox:focus {{ border-color: {p.warn}; }}
QComboBox QAbstractItemView {{ background: {p.raised}; color: {p.text}; selection-background-color: {p.accent};
  selection-color: {p.background}; }}
QCheckBox::indicator, QListWidget::indicator {{ width: 14px; height: 14px; border: 1px solid {p.muted};
  border-radius: 3px; background: {p.background}; }}
QCheckBox::indicator:checked, QListWidget::indicator:checked {{ background: {p.accent}; }}
QTabWidget::pane {{ border: 1px solid {p.line}; border-radius: 8px; top: -1px; background: {p.surface}; }}
QTabBar::tab {{ background: transparent; color: {p.muted}; padding: 6px 11px; min-width: 48px;
  border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {p.text}; border-bottom: 2px solid {p.accent}; }}
QTabBar::tab:focus {{ color: {p.warn}; border-bottom: 2px solid {p.warn}; }}
QTabBar QToolButton {{ background: {p.raised}; border: 1px solid {p.line}; }}
QTabBar::tab:hover {{ color: {p.text}; }}
QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
QScrollArea:focus {{ border: 1px solid {p.warn}; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {p.line}; border-radius: 5px; min-height: 24px; }}
QScrollBar::add-line:vertical, QScrollBar::sub-line:vertical {{ height: 0; }}
QScrollBar::add-page:vertical, QScrollBar::sub-page:vertical {{ background: transparent; }}
QPlainTextEdit {{ background: {p.background}; border: 1px solid {p.line}; border-radius: 6px; }}
QLineEdit, QListWidget {{ background: {p.background}; border: 1px solid {p.line}; border-radius: 5px;
  padding: 3px 5px; }}
QLineEdit:focus {{ border-color: {p.warn}; }}
QCheckBox::indicator:focus, QListWidget:focus, QTableWidget:focus, QPlainTextEdit:focus
  {{ border: 1px solid {p.warn}; }}
QListWidget::item {{ padding: 2px 4px; }}
QListWidget::item:selected {{ background: {p.raised}; color: {p.accent}; }}
QTableWidget {{ background: {p.surface}; border: none; gridline-color: {p.line}; }}
QHeaderView::section {{ background: {p.surface}; color: {p.muted}; border: none; padding: 3px; }}
QWidget#help {{ background: {p.surface}; border: 2px solid {p.accent}; border-radius: 8px; }}
QSplitter::handle {{ background: {p.background}; }}
"""
