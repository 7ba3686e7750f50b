"""The clipboard commands of the Edit menu."""
