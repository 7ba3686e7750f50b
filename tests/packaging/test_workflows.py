"""Workflows and shell scripts: what linters say, and rules of our own."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # schemathesis brings it
from pre_commit.languages import pygrep  # type: ignore[import-untyped]

import project

FILES = sorted((project.ROOT / ".github" / "workflows").glob("*.yml"))


#: Beside the schema of workflows: zizmor as its auditor, which reports most, such as actions and images without a hash;
#: what it may report is marked in the files.
LINTERS: dict[str, list[str | Path]] = {
    "check-jsonschema": ["--builtin-schema", "vendor.github-workflows", *FILES],
    "zizmor": ["--quiet", "--offline", "--no-progress", "--persona=auditor", FILES[0].parents[1]],
    # What is in single quotes is for an inner shell.
    "shellcheck": ["--exclude=SC2016", *project.HERE.rglob("*.sh"), *(project.ROOT / ".ci").iterdir()],
}


@pytest.mark.skipif(sys.platform != "linux", reason="one system is enough")
@pytest.mark.parametrize("linter", LINTERS)
def test_linters_find_nothing(linter: str) -> None:
    command = [Path(sys.prefix) / "bin" / linter, *LINTERS[linter]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def text(request: pytest.FixtureRequest) -> str:
    return str(request.param.read_text(encoding="utf-8"))


def jobs(text: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)["jobs"]
    return found


def test_only_the_release_may_write(text: str) -> None:
    writers = {name for name, job in jobs(text).items() if "write" in job["permissions"].values()}
    assert writers <= {"release"}


def test_secrets_are_in_single_steps_of_jobs_for_tags_that_install_and_start_nothing(text: str) -> None:
    for name, job in jobs(text).items():
        assert "secrets." not in json.dumps({key: job[key] for key in job if key != "steps"}), name
        if "secrets." not in json.dumps(job["steps"]):
            continue
        assert job["environment"] == "${{ github.ref_type == 'tag' && 'release' || 'unsigned' }}"
        runs = " ".join(step.get("run", "") for step in job["steps"])
        # No package of others, and nothing of what was built from them.
        assert not re.search(r"\bpip\b|\bnpm\b|dev\.py|build\.py (bundle|smoke|installer)", runs), name
        assert "secrets." not in runs, name  # in the environment only: a run is printed


def test_no_job_hangs_for_hours(text: str) -> None:
    assert all(job["timeout-minutes"] <= 300 for job in jobs(text).values())


def test_the_scripts_that_are_run_exist(text: str) -> None:
    for script in re.findall(r"packaging/[\w/]+\.(?:py|sh)", text):
        assert (project.ROOT / script).is_file()


# --- hooks ------------------------------------------------------------------------------------------------------------


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
