"""The command line: `main` is the entry point; options and help; one module of `commands` for each subject.

The commands share `stores` and `terminal`.
"""
