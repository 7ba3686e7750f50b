"""The operating system: folders, settings, logs, console, display, start at login.

Imports nothing of PlantDesk but `domain`.
"""
