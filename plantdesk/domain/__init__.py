"""Plants and operations on them: records, validation, selections, search, edits, errors.

Imports nothing else of PlantDesk, no Qt, no SQL.
"""
