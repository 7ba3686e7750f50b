"""Bars in the window about lasting states: the store, defects, new versions."""
