"""Plants, and what can be done with them: records, validation, selections, search, edits, errors.

Imports nothing else of PlantDesk, no Qt, no SQL.
"""
