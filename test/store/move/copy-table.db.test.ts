/** How the rows of one table are copied to a server: how much of it is held in memory at once, and that all arrive. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { bootstrapText } from '../../../src/store/database/migration-files.ts'
import { copyTable } from '../../../src/store/move/copy-table.ts'
import { readTables, sameTexts } from '../../../src/store/move/relations.ts'
import { emptyDatabase } from '../../support/move.ts'

setDefaultTimeout(100_000)

/** Of a batch. Eight times as much is held at once, at most, where no single row is larger. */
const batchBytes = 64 * 1024
const heldMax = 8 * batchBytes

interface Held {
  readonly rows: number
  readonly bytes: number
}

/** A client that reports how many rows and bytes each result of more than notes holds. */
function measured(sql: postgres.Sql, report: (held: Held) => void): postgres.Sql {
  const unsafe = (text: string) => {
    const query = sql.unsafe(text)
    const measure = (rows: readonly unknown[]) => {
      const values = rows.flatMap((row) => (Array.isArray(row) ? row : [])) as readonly (Uint8Array | null)[]
      const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
      if (bytes > 0) report({ rows: rows.length, bytes })
    }
    query.then(measure, () => {})
    return query
  }
  return { unsafe } as unknown as postgres.Sql
}

const open = async (databaseUrl: string) => {
  const sql = postgres(databaseUrl, { max: 1, fetch_types: false, onnotice: () => {} })
  await sql.unsafe(sameTexts).simple()
  return sql
}

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('a table that is copied to a server', () => {
  const noise = (parts: number) =>
    `(select string_agg(md5((i * 10000 + n)::text), '') from generate_series(1, ${parts}) n)`
  test.each([
    ['many small rows and none that is large', 1_000, 0, `''`],
    ['large rows that are stored compressed, many on one page', 1_000, 60, `repeat(md5(i::text), 5000)`],
    ['large rows that are stored as they are', 1_000, 20, noise(5_000)],
    ['rows that are larger than what is held at once', 100, 3, noise(40_000)],
  ])('arrives whole, and no more than the bound is held of it at once: %s', async (_, small, large, text) => {
    await using one = await emptyDatabase()
    await using other = await emptyDatabase()
    await other.run(bootstrapText())
    const table = 'create table big.rows (id bigint primary key, body text, note jsonb)'
    await one.run(`create schema big; ${table};
      insert into big.rows select i, 'small', null from generate_series(1, ${small}) i;
      insert into big.rows select ${small} + i, ${text}, '{"a": [1]}' from generate_series(1, ${large}) i`)
    await other.run(`create schema big; grant all on schema big to svc_owner; ${table};
      alter table big.rows owner to svc_owner`)
    const [from, to] = [await open(one.databaseUrl), await open(other.databaseUrl)]
    try {
      const [[source], [target]] = [await readTables(from, ['big']), await readTables(to, ['big'])]
      if (source === undefined || target === undefined) throw new Error('big.rows is missing')
      const results: Held[] = []
      await copyTable(
        [measured(from, (held) => results.push(held)), source],
        [to, target],
        0,
        () => 'select 1',
        async () => {},
        batchBytes,
      )
      const sum = 'select count(*)::int as rows, md5(string_agg(r::text, $$,$$ order by id)) from big.rows r'
      expect(await other.run(sum)).toEqual(await one.run(sum))
      expect((await other.run<{ rows: number }>(sum))[0]?.rows).toBe(small + large)
      expect(results.reduce((rows, held) => rows + held.rows, 0)).toBe(small + large)
      expect(results.filter(({ rows, bytes }) => rows > 1 && bytes > heldMax)).toEqual([])
    } finally {
      await from.end()
      await to.end()
    }
  })
})
