#!/usr/bin/env bash
# Makes the stubs under services/tonnage/v1 from protos/; needs .venv-gen (make setup-gen).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-services}
bin=.venv-gen/bin
mkdir -p "$out/tonnage/v1"
plugins=(--plugin=protoc-gen-mypy=$bin/protoc-gen-mypy --plugin=protoc-gen-mypy_grpc=$bin/protoc-gen-mypy_grpc)
$bin/python -m grpc_tools.protoc -Iprotos "${plugins[@]}" \
  --python_out="$out" --mypy_out=quiet:"$out" protos/tonnage/v1/*.proto
$bin/python -m grpc_tools.protoc -Iprotos "${plugins[@]}" \
  --grpc_python_out="$out" --mypy_grpc_out=quiet:"$out" protos/tonnage/v1/*_service.proto
