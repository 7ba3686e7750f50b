"""The commands, a module each: what it does and what it prints. Options and help are in `plantdesk.cli`."""
