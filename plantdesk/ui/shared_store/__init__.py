"""The dialog of the shared store, and the choice between it and the user's own plants."""
