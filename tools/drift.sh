#!/usr/bin/env bash
# Fails when stubs or reference pages differ from what `make gen` would write.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tools/gen.sh "$fresh"
cp services/tonnage/v1/__init__.py "$fresh/tonnage/v1/"
diff -r --exclude=__pycache__ "$fresh/tonnage/v1" services/tonnage/v1 || { echo "stubs drifted: run make gen" >&2; exit 1; }
.venv/bin/python tools/reference.py --check
