"""The command line: `main` is the entry point, `options` and `parser` have the options and the help.

`commands` has one module for each subject; the commands share `stores` and `terminal`.
"""
