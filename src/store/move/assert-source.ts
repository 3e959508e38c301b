/**
 * Refuses embedded data that a move by this version must not copy: those whose tables are of another version. Their
 * rows, copied into tables of this one, would say of the database that it is older than it is. Migrates nothing.
 */

import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { migrationStatus } from '../database/migrations.ts'

/** @throws Fault `misconfigured` where the embedded data lack a migration of this version, or have one it does not have */
export async function assertCurrent(sql: postgres.Sql): Promise<void> {
  const pending = (await statusOf(sql)).flatMap((scope) => scope.pending)
  if (pending.length > 0)
    throw new Fault(
      'misconfigured',
      `The embedded data are of an earlier version of covenant: they lack the migration ${pending[0]}. Go on with that version on the same database; or run \`covenant move --give-up\`, and then the move to an empty database, which migrates the embedded data first.`,
    )
}

async function statusOf(sql: postgres.Sql) {
  try {
    return await migrationStatus(sql)
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'misconfigured') throw error
    throw new Fault(error.kind, `The embedded data cannot be moved. ${error.publicMessage}`, { cause: error })
  }
}
