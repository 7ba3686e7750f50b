"""How long tests wait for what must happen: longer than any machine takes, shorter than the limit of a test."""

SECONDS = 50
MILLISECONDS = 50_000
