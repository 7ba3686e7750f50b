"""The appearance of the window: colours, sizes, fonts, icons and the style sheet."""
