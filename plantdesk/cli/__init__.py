"""The command line: `main` is the entry point; options and help; one module of `commands` for each subject.

`stores` and `terminal` have what commands share.
"""
