#!/bin/sh
# Runs Bun with this project's dependencies in place, installing both first where they are missing.
# Needs Node and npm only; a Bun already on PATH is used if it is the pinned version.
set -eu
cd "$(dirname "$0")/.."
version=1.4.5
# The hash of the package of each platform, as `npm view @oven/bun-linux-x64@VERSION dist.integrity` tells it. Raise
# version and hashes together, and look at what you take.
hash_of() {
  case $1 in
    darwin-aarch64) echo 4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ== ;;
    darwin-x64) echo qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg== ;;
    freebsd-aarch64) echo limWGUkd7wNKh9X/KJa4RyPMTdZsI+sqs7KmAWc/zFllRe5BSlN71ZfAVSYDDJMUJUQUvDdAMywH5zYkYrfUzQ== ;;
    freebsd-x64) echo LahCo0mJJzscE0PUKO8FXdFiOc2vqt9zhf35gSFAVemeCn88idDWpp/rhNcnEsHWMhf5GMXxGJA5D9deTmzW1g== ;;
    linux-aarch64) echo 4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg== ;;
    linux-aarch64-musl) echo XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg== ;;
    linux-x64) echo IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g== ;;
    linux-x64-musl) echo 10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ== ;;
    windows-aarch64) echo MiPFZnBNDnBXgr1oONc5pizC4fOLjnIOfNkYdFEnWzLmoFTg86naZIG3SvS7d/GglpQSAnCKMAzSjI/TAckiRw== ;;
    windows-x64) echo FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw== ;;
  esac
}
platform() {
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=aarch64 ;;
    *) cpu=$(uname -m) ;;
  esac
  case $(uname -s) in
    Linux) if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then echo "linux-$cpu"; else echo "linux-$cpu-musl"; fi ;;
    MINGW* | MSYS* | CYGWIN*) echo "windows-$cpu" ;;
    *) echo "$(uname -s | tr '[:upper:]' '[:lower:]')-$cpu" ;;
  esac
}
# Puts Bun at $bun, from the package of this platform. npm compares it with the hash and runs nothing of it; it would
# leave out an optional package whose hash is another, so this one is none.
install_bun() {
  package=@oven/bun-$(platform)
  hash=$(hash_of "$(platform)")
  if [ -z "$hash" ]; then
    echo "There is no Bun $version for this platform, $(platform): put one on PATH." >&2
    exit 1
  fi
  echo "Installing Bun $version into .cache/ …" >&2
  mkdir -p "$(dirname "$bun")"
  # A folder of its own, because a Bun of this version may run, and two may install.
  folder=$(mktemp -d ".cache/bun-$version/install.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  cat >"$folder/package.json" <<END
{ "dependencies": { "$package": "$version" } }
END
  # No address: npm takes the machine's registry.
  cat >"$folder/package-lock.json" <<END
{ "lockfileVersion": 3, "packages": {
  "": { "dependencies": { "$package": "$version" } },
  "node_modules/$package": { "version": "$version", "integrity": "sha512-$hash" } } }
END
  status=0
  # Not --prefix: it moves npm's global configuration, and with it the machine's registry and CA.
  (cd "$folder" && npm ci --loglevel=error --no-update-notifier --no-audit --no-fund --ignore-scripts >/dev/null 2>npm-errors) || status=$?
  cat "$folder/npm-errors" >&2
  if grep -q EINTEGRITY "$folder/npm-errors"; then
    echo "Refused: $package@$version is not what scripts/bun.sh pins by its hash. Nothing of it was run." >&2
    exit 1
  fi
  [ "$status" -eq 0 ] || exit "$status"
  for name in bun bun.exe; do
    if [ -f "$folder/node_modules/$package/bin/$name" ]; then mv -f "$folder/node_modules/$package/bin/$name" "$bun"; fi
  done
  ln -sf bun "$(dirname "$bun")/bunx"
  rm -rf "$folder"
  trap - EXIT
}
if command -v bun >/dev/null 2>&1 && [ "$(bun --version)" = "$version" ]; then
  bun=bun
else
  bun=$PWD/.cache/bun-$version/bin/bun
  if ! [ "$("$bun" --version 2>/dev/null)" = "$version" ]; then
    install_bun
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
