/** The read path on DuckDB beside a real PostgreSQL with security-barrier views, over the same rows. */

import type { Sql } from 'postgres'
import { type Answer, openSubject, type Subject } from './duckdb.ts'
import { postgresSetup } from './fixture.ts'
import { askOracle, startOracle } from './postgres.ts'

export interface Pair {
  /** False where the platform has no packaged PostgreSQL. */
  readonly hasPostgres: boolean
  /** What PostgreSQL answers a reader, or its SQLSTATE. */
  readonly ask: (sql: string, parameters?: readonly (string | null)[]) => Promise<Answer | string>
  readonly subject: Subject
  readonly close: () => Promise<void>
}

/** Starts both, with the fixture's tables. */
export async function openPair(): Promise<Pair> {
  const oracle = await startOracle()
  for (const statement of oracle === undefined ? [] : postgresSetup()) await oracle?.admin.unsafe(statement)
  const reader: Sql | undefined = oracle?.connect('reader')
  const subject = await openSubject()
  return {
    hasPostgres: oracle !== undefined,
    async ask(sql, parameters) {
      if (reader === undefined) throw new Error('there is no PostgreSQL')
      return askOracle(reader, sql, parameters)
    },
    subject,
    async close() {
      subject.close()
      await oracle?.stop()
    },
  }
}
