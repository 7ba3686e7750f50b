"""The history window: all changes of the store, with undo and redo of each."""
