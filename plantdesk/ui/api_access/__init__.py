"""Access for other programs: the server's switch and port, tokens and examples."""
