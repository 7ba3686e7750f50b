"""The labels feature: sheets of labels for plants, which are previewed, printed, or saved as a PDF file."""
