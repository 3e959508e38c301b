/** `covenant migrate`: applies pending migrations to the database, or lists them. */

import { parseDatabaseUrl } from '../config-values.ts'
import { onDatabase } from '../open-store.ts'
import { migrate, migrationStatus } from '../store/database/migrations.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant migrate [--status]

Applies pending migrations to the database that SVC_DATABASE_URL names: the control schema, the SQL
functions, and every tenant's schema and graph. Without the variable there is nothing to do: the
embedded database migrates itself when the service starts.

  --status  lists what is applied and pending, and changes nothing
  --help    prints this

The database user is a superuser; or it owns the database and has CREATEROLE, and a superuser has run
migrations/bootstrap.sql in the database once (it installs Apache AGE and marks three of its functions).
${exitStatusHelp}`

/** @returns the exit status */
export async function migrateDatabase(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    if (words.some((word) => word !== '--status')) throw new UsageError('`migrate` takes `--status` only.')
    return await run(words.includes('--status'), terminal)
  } catch (error) {
    return reportFailure(error, 'covenant migrate', terminal)
  }
}

async function run(statusOnly: boolean, { env, print, complain }: Terminal): Promise<number> {
  const { SVC_DATABASE_URL } = env
  if (SVC_DATABASE_URL === undefined) {
    print('SVC_DATABASE_URL is not set: the embedded database migrates itself at start.')
    return exitStatus.done
  }
  const url = parseDatabaseUrl(SVC_DATABASE_URL.trim())
  if (url === undefined) {
    complain('SVC_DATABASE_URL: must be a postgres:// URL, with # / % and their like percent-encoded')
    return exitStatus.config
  }
  await onDatabase(url, async (sql) => {
    if (!statusOnly) await migrate(sql, 'apply', complain)
    for (const { scope, applied, pending } of await migrationStatus(sql))
      print(`${scope}: ${applied} applied, ${pending.length} pending ${pending.join(' ')}`.trimEnd())
  })
  return exitStatus.done
}
