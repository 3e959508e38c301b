/** Runs `bun run migrate`: applies pending migrations to the database, or lists them. */

import postgres from 'postgres'
import { tellOperator } from './base/fault.ts'
import { parseDatabaseUrl } from './config-values.ts'
import { connectionOptions } from './store/database/link.ts'
import { migrate, migrationStatus } from './store/database/migrations.ts'
import { toStoreFault } from './store/database/store-fault.ts'

const help = `Usage: bun run migrate [--status]

Applies pending migrations to the database that SVC_DATABASE_URL names: the control schema, the SQL
functions, and every tenant's schema and graph. Without the variable there is nothing to do: the
embedded database migrates itself when the service starts.

  --status  lists what is applied and pending, and changes nothing
  --help    prints this

The database user is a superuser; or it owns the database and has CREATEROLE, and a superuser has run
migrations/bootstrap.sql in the database once (it installs Apache AGE and marks three of its functions).
Exit status: 0 done, 1 failed, 2 wrong usage, 78 wrong configuration.`

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(help)
    return 0
  }
  if (args.some((arg) => arg !== '--status')) {
    console.error(help)
    return 2
  }
  const { SVC_DATABASE_URL } = process.env
  if (SVC_DATABASE_URL === undefined) {
    console.log('SVC_DATABASE_URL is not set: the embedded database migrates itself at start.')
    return 0
  }
  const url = parseDatabaseUrl(SVC_DATABASE_URL.trim())
  if (url === undefined) {
    console.error('SVC_DATABASE_URL: must be a postgres:// URL, with # / % and their like percent-encoded')
    return 78
  }
  const sql = postgres(url, connectionOptions)
  try {
    if (!args.includes('--status')) await migrate(sql, 'apply', (notice) => console.error(notice))
    for (const { scope, applied, pending } of await migrationStatus(sql))
      console.log(`${scope}: ${applied} applied, ${pending.length} pending ${pending.join(' ')}`.trimEnd())
    return 0
  } catch (error) {
    console.error(tellOperator(toStoreFault(error)))
    return 1
  } finally {
    await sql.end({ timeout: 5 })
  }
}

process.exit(await main(process.argv.slice(2)))
