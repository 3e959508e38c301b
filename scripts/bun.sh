#!/bin/sh
# Runs Bun with this project's dependencies in place, installing both first where they are missing.
# Needs Node and npm only; a Bun already on PATH is used if it is the pinned version.
set -eu
cd "$(dirname "$0")/.."
version=1.4.5
if command -v bun >/dev/null 2>&1 && [ "$(bun --version)" = "$version" ]; then
  bun=bun
else
  bun=$PWD/.cache/bun-$version/node_modules/bun/bin/bun.exe
  if ! [ "$("$bun" --version 2>/dev/null)" = "$version" ]; then
    echo "Installing Bun $version into .cache/ …" >&2
    # Not --prefix: it moves npm's global configuration, and with it the machine's registry and CA.
    mkdir -p ".cache/bun-$version"
    echo '{}' >".cache/bun-$version/package.json"
    (cd ".cache/bun-$version" && npm install --loglevel=error --no-update-notifier --no-save --no-package-lock "bun@$version" >/dev/null)
  fi
  PATH=$(dirname "$bun"):$PATH
  export PATH
fi
stamp=node_modules/.installed
if ! cmp -s bun.lock "$stamp" 2>/dev/null; then
  echo "Installing dependencies …" >&2
  "$bun" install --frozen-lockfile --silent >&2
  cp bun.lock "$stamp"
fi
# A query of the embedded engine holds one of these threads while it computes, and so does a file read. With as few
# threads as cores, two queries would take all.
UV_THREADPOOL_SIZE=${UV_THREADPOOL_SIZE:-16}
export UV_THREADPOOL_SIZE
# Bun's allocator gives freed memory back on a thread of its own, which took a fifth of the processor time of a commit
# that comes alone. Without it the threads that free memory give it back.
mimalloc_scavenger=${mimalloc_scavenger:-0}
export mimalloc_scavenger
exec "$bun" "$@"
