"""What depends on the operating system: signals, start at login, one window per store."""
