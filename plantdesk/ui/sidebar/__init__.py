"""The sidebar: tags, sources and saved searches, with the number of their plants."""
