/** Runs one statement over the PostgreSQL wire without psql: takes psql's arguments and prints its output. */

import { parseArgs } from 'node:util'
import { runDriver } from './psql.ts'

const usage =
  'Usage: PGPASSWORD=<secret> bun demo/query.ts postgresql://<user>@<host>:<port>/<database> -c <statement>'

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: { c: { type: 'string', short: 'c' }, X: { type: 'boolean', short: 'X' } },
      allowPositionals: true,
    })
    return { statement: values.c, url: URL.parse(positionals[0] ?? '') }
  } catch {
    return { url: null }
  }
}

const { statement, url } = readArguments()
if (statement === undefined || url === null) {
  console.error(usage)
  process.exit(64)
}
const reader = {
  sub: decodeURIComponent(url.username),
  secret: process.env.PGPASSWORD ?? '',
  host: url.hostname,
  port: Number(url.port),
  database: url.pathname.slice(1),
}
const { printed, error } = await runDriver(reader, statement)
process.stdout.write(printed)
process.stderr.write(error)
process.exit(error === '' ? 0 : 1)
