"""Integration with the operating system, on the user's request: start at login, and the entry in PATH.

`login` selects the module for the system it runs on. `windows_path` is for Windows only: elsewhere, packages install
the command.
"""
