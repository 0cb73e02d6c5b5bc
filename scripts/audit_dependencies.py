"""Look up known vulnerabilities of all installed packages.

``python scripts/audit_dependencies.py PIP_AUDIT`` asks the advisory database of PyPI through
pip-audit about each package that this Python has, and prints one line for each that is known to be
vulnerable, with the version to install instead. The exit code is 1 if there is one. Packages that
could not be looked up, for lack of a network say, are counted and do not fail.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from typing import Any


def main() -> int:
    """Print what is known, and return the exit code."""
    command = [sys.argv[1], "--path", sysconfig.get_path("purelib"), "--skip-editable"]
    done = subprocess.run(
        [*command, "--format", "json", "--progress-spinner", "off"],
        capture_output=True,
        text=True,
    )
    if not done.stdout.startswith("{"):
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        print(f"The packages could not be audited: {last}")
        return 0
    lines, looked_up = findings(json.loads(done.stdout)["dependencies"])
    for line in lines:
        print(line)
    print(f"Audited {looked_up[0]} of {looked_up[1]} packages: {len(lines)} known vulnerabilities.")
    return 1 if lines else 0


def findings(packages: list[dict[str, Any]]) -> tuple[list[str], tuple[int, int]]:
    """Return a line for each vulnerability; how many packages were looked up, of how many."""
    lines = [
        f"{package['name']} {package['version']}: {found['id']}, fixed in "
        f"{', '.join(found['fix_versions']) or 'no version yet'}"
        for package in packages
        for found in package.get("vulns", [])
    ]
    return lines, (sum("skip_reason" not in package for package in packages), len(packages))


if __name__ == "__main__":
    sys.exit(main())
