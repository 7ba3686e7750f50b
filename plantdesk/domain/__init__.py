"""Plants and the operations on them: records, validation, selections, search, edits, errors.

This package imports no other package of PlantDesk, neither Qt nor SQLAlchemy, and accesses no file or network.
"""
