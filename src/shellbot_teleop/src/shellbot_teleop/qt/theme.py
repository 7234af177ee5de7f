# SPDX-License-Identifier: MIT
"""Colours, fonts and the style sheet of the window: one place."""

from __future__ import annotations

import functools

from python_qt_binding.QtGui import QColor, QFont

BACKGROUND = "#12161c"
SURFACE = "#1b2129"
RAISED = "#252d38"
LINE = "#323c49"
TEXT = "#e6ebf2"
MUTED = "#94a1b3"
ACCENT = "#38bdf8"  # commanded
GOOD = "#4ade80"  # measured, well
WARN = "#fbbf24"
BAD = "#f87171"
STOP = "#dc2626"

LEVEL_COLOURS = {"debug": MUTED, "info": TEXT, "warn": WARN, "error": BAD, "fatal": BAD}


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


STYLE = f"""
* {{ color: {TEXT}; outline: none; }}
QMainWindow, QWidget#root {{ background: {BACKGROUND}; }}
QFrame#card {{ background: {SURFACE}; border: 1px solid {LINE}; border-radius: 8px; }}
QLabel {{ background: transparent; }}
QLabel#title {{ color: {MUTED}; font-weight: 600; font-size: 8.5pt; }}
QLabel#muted {{ color: {MUTED}; }}
QToolTip {{ background: {RAISED}; color: {TEXT}; border: 1px solid {LINE}; padding: 4px; }}
QPushButton {{ background: {RAISED}; border: 1px solid {LINE}; border-radius: 6px;
  padding: 5px 10px; font-weight: 600; }}
QPushButton:hover {{ border-color: {ACCENT}; }}
QPushButton:pressed {{ background: {LINE}; }}
QPushButton:checked {{ background: {ACCENT}; border-color: {ACCENT}; color: #06202e; }}
QPushButton:disabled {{ color: #5b6675; border-color: {RAISED}; }}
QPushButton#stop {{ background: {STOP}; border: 2px solid #fca5a5; color: white;
  font-size: 11.5pt; padding: 7px 16px; }}
QPushButton#stop:hover {{ background: #b91c1c; }}
QPushButton#small {{ padding: 2px 8px; font-weight: 400; font-size: 9pt; }}
QProgressBar {{ background: {RAISED}; border: none; border-radius: 4px; max-height: 8px; min-height: 8px; }}
QProgressBar::chunk {{ background: {ACCENT}; border-radius: 4px; }}
QSlider::groove:horizontal {{ height: 4px; background: {LINE}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {ACCENT}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: {TEXT}; }}
QSlider::handle:horizontal:hover {{ background: {ACCENT}; }}
QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled {{ background: {LINE}; }}
QDoubleSpinBox {{ background: {BACKGROUND}; border: 1px solid {LINE}; border-radius: 5px;
  padding: 2px 4px; min-width: 66px; }}
QDoubleSpinBox:focus {{ border-color: {WARN}; }}
QCheckBox::indicator, QListWidget::indicator {{ width: 14px; height: 14px; border: 1px solid {MUTED};
  border-radius: 3px; background: {BACKGROUND}; }}
QCheckBox::indicator:checked, QListWidget::indicator:checked {{ background: {ACCENT}; }}
QTabWidget::pane {{ border: 1px solid {LINE}; border-radius: 8px; top: -1px; background: {SURFACE}; }}
QTabBar::tab {{ background: transparent; color: {MUTED}; padding: 6px 11px; min-width: 48px;
  border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {TEXT}; border-bottom: 2px solid {ACCENT}; }}
QTabBar QToolButton {{ background: {RAISED}; border: 1px solid {LINE}; }}
QTabBar::tab:hover {{ color: {TEXT}; }}
QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {LINE}; border-radius: 5px; min-height: 24px; }}
QScrollBar::add-line:vertical, QScrollBar::sub-line:vertical {{ height: 0; }}
QScrollBar::add-page:vertical, QScrollBar::sub-page:vertical {{ background: transparent; }}
QPlainTextEdit {{ background: {BACKGROUND}; border: 1px solid {LINE}; border-radius: 6px; }}
QLineEdit, QListWidget {{ background: {BACKGROUND}; border: 1px solid {LINE}; border-radius: 5px; padding: 3px 5px; }}
QLineEdit:focus {{ border-color: {WARN}; }}
QListWidget::item {{ padding: 2px 4px; }}
QListWidget::item:selected {{ background: {RAISED}; color: {ACCENT}; }}
QTableWidget {{ background: {SURFACE}; border: none; gridline-color: {LINE}; }}
QHeaderView::section {{ background: {SURFACE}; color: {MUTED}; border: none; padding: 3px; }}
QWidget#help {{ background: {SURFACE}; border: 2px solid {ACCENT}; border-radius: 8px; }}
QSplitter::handle {{ background: {BACKGROUND}; }}
"""
