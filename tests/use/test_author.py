"""An author of three scripts: tokens made in the window, scripts of different quality, one of them revoked."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.programs import post
from tests.support.waiting import until
from tests.use.user import Screen, User

Plants = list[tuple[str, str | None]]

#: A loop as a beginner writes it: no check of the answer, the tag sent as null, a name forgotten.
NAIVE = """
import json, sys, urllib.request
url, token = sys.argv[1:]
for number in range(100, 130):
    plant = {"id": number, "name": f"Naive {number}", "tag": None if number % 10 == 0 else "naive"}
    if number % 10 == 5:
        del plant["name"]
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    try:
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(plant).encode(), headers)).read()
    except urllib.error.HTTPError as error:
        print(error.code, json.load(error)["message"])
"""
#: A careful one, by the shell.
SHELL = """
for number in $(seq 200 219); do
  plant="{\\"id\\": $number, \\"name\\": \\"Shell $number\\"}"
  curl --silent --fail-with-body --header "Authorization: Bearer $2" --json "$plant" "$1" || exit 1
done
"""


def new_token(user: User, name: str) -> str:
    """Make a token in the open dialog, and copy it."""
    user.click("Name for a new token")
    user.press("ctrl+a")
    user.type_lines(name)
    user.expect_text(f"New token for “{name}”")
    user.click("Copy token")
    token = until(user.copied)
    assert token.startswith("plantdesk_")
    return token


def run(*command: str, text: str) -> subprocess.CompletedProcess[str]:
    """Run a script to its end."""
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120)


def test_an_author_of_three_scripts(screen: Screen, tmp_path: Path) -> None:
    with User(screen, tmp_path) as user:
        url = f"http://127.0.0.1:{user.home.port(user.process)}/plants"
        user.press("ctrl+shift+a")
        naive, shell, bulk = (new_token(user, name) for name in ("naive", "shell", "bulk"))

        done = run(sys.executable, "-", url, naive, text=NAIVE)
        assert (done.returncode, len(done.stdout.splitlines())) == (0, 6), done
        done = run("bash", "-s", "-", url, shell, text=SHELL)
        assert (done.returncode, done.stderr) == (0, ""), done
        naive_plants: Plants = [(f"Naive {number}", "naive") for number in range(100, 130) if number % 5]
        shell_plants: Plants = [(f"Shell {number}", None) for number in range(200, 220)]
        user.expect_plants([*naive_plants, *shell_plants])
        user.expect_text("44 plants")  # in the window behind the dialog
        user.click("Refused only")
        user.expect_text("The name is missing")
        user.expect_text("The tag must be text")

        user.click_item("naive", button=3)
        user.click_item("Revoke and delete its plants…")
        user.click("Revoke and delete")
        user.expect_plants(shell_plants)
        done = run(sys.executable, "-", url, naive, text=NAIVE)
        assert {line[:3] for line in done.stdout.splitlines()} == {"401"}
        user.click("Close")
        user.expect_no_text("Refused only")
        user.click("Name")  # the window manager gives the focus back to the window when it has the time
        user.press("ctrl+z")
        user.expect_plants([*naive_plants, *shell_plants])

        added = type_beside_scripts(user, bulk)
        user.expect_plants([*naive_plants, *shell_plants, *added])
        user.expect_text(f"{44 + len(added)} plants")


def type_beside_scripts(user: User, token: str) -> Plants:
    """Type twenty names while eight scripts add four hundred plants; return them all."""
    with ThreadPoolExecutor(8) as scripts:
        port = user.home.port(user.process)
        plants: list[dict[str, object]] = [{"id": number, "name": f"Bulk {number}"} for number in range(1400, 1000, -1)]
        answers = [scripts.submit(post, port, token, plant) for plant in plants]
        user.click("Name")
        typed = [f"Typed {number}" for number in range(20)]
        user.type_lines(*typed)
        assert {answer.result().status for answer in answers} == {200}
    return [(str(name), None) for name in [*typed, *(plant["name"] for plant in plants)]]
