"""The commands, one module each. Their options and help are in `plantdesk.cli.options`."""
