/** Runs a transaction of scripts on one connection, for migrations and moves. Requests have session.ts. */

import type postgres from 'postgres'

/** Runs `work` between `begin`, which may set up the transaction, and a commit. @throws what `work` throws, rolled back */
export async function scriptedTransaction(
  sql: postgres.Sql,
  begin: string,
  work: () => Promise<void>,
): Promise<void> {
  await sql.unsafe(begin).simple()
  try {
    await work()
    await sql.unsafe('commit').simple()
  } catch (error) {
    // The rollback fails where the connection was lost. The first error is the one to report.
    await sql
      .unsafe('rollback')
      .simple()
      .catch(() => {})
    throw error
  }
}
