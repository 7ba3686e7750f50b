"""The hooks of .pre-commit-config.yaml."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # pre-commit requires it
from pre_commit.languages import pygrep  # type: ignore[import-untyped]

import project


def hooks() -> list[dict[str, Any]]:
    config = yaml.safe_load((project.ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    return [hook for repository in config["repos"] for hook in repository["hooks"]]


@pytest.mark.parametrize(
    ("subject", "is_accepted"),
    [
        ("Keep the order of rows after a restore", True),
        ("Need no display for the selfcheck", True),
        ("Pass " + "x" * 67, True),
        ("Pass " + "x" * 68, False),
        ("keep the order of rows", False),
        ("Keep the order of rows.", False),
        ("Fixed the order of rows", False),
        ("Fixes the order of rows", False),
        ("Fixing the order of rows", False),
    ],
)
def test_the_subject_of_a_commit(subject: str, is_accepted: bool, tmp_path: Path) -> None:  # noqa: FBT001
    (hook,) = [hook for hook in hooks() if hook.get("stages") == ["commit-msg"]]
    message = tmp_path / "message"
    message.write_text(f"{subject}\n\nThe body may hold long lines, and lines that end with a full stop.\n", "utf-8")
    assert (pygrep.main([*hook["args"], hook["entry"], str(message)]) == 0) == is_accepted


def test_a_commit_is_checked_as_in_ci() -> None:
    entries = {hook["entry"] for hook in hooks() if hook["language"] == "system" and "files" not in hook}
    commands = re.findall(r'check "\$python" (packaging/dev\.py \w+)', (project.ROOT / ".ci/run").read_text("utf-8"))
    assert entries <= {f"python3 {command}" for command in commands}


def test_the_workflows_call_the_scripts_and_nothing_of_their_own() -> None:
    for name, script in (("checks", ".ci/run"), ("nightly", ".ci/release")):
        text = (project.ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
        assert script in text
        assert "packaging/" not in text
