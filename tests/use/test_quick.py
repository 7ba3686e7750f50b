"""Quick entry beside the window: real keys, and what the window manager says."""

from tests.use.user import User, until


def test_quick_entry_takes_keys_at_once_and_gives_the_focus_back(user: User) -> None:
    before = user.active_window
    for name in ("Monstera adansonii", "Alocasia zebrina"):
        user.command("quick")
        until(lambda: user.active_window != before, "the window for a plant is active")
        user.type(name)
        user.press("Return")
        until(lambda: user.active_window == before, "the focus is back")
    user.has([("Monstera adansonii", None), ("Alocasia zebrina", None)])
