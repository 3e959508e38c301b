#!/bin/sh
# Writes `.env` for compose.yaml, with new secrets, readable by its owner only. It never replaces one: the secrets of a
# stack that has run are needed to read its data. The file may be named: sh deploy/compose/make-env.sh FILE
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
file=${1:-$root/.env}
if [ -e "$file" ]; then
  echo "$file is there already: it is kept." >&2
  exit 1
fi
secret() { od -An -vN "$1" -tx1 /dev/urandom | tr -d ' \n'; }
umask 077
cat >"$file" <<END
# Written by deploy/compose/make-env.sh; .env.example says what each is.
DATABASE_PASSWORD=$(secret 24)
COVENANT_SECRETS_KEY=$(secret 32)
STORAGE_ACCESS_KEY=$(secret 10)
STORAGE_SECRET_KEY=$(secret 24)
END
echo "Wrote $file. Keep COVENANT_SECRETS_KEY: the database is of no use without it."
