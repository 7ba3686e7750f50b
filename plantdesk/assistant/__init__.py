"""The plants for assistants, by the Model Context Protocol on standard input and output. Needs the extra `mcp`."""
