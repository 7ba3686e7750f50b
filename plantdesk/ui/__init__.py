"""The main window, its features and dialogs. Imports no `plantdesk.api`, and nothing slow before the first paint."""
