/** Compares the two sides of a move: rows by count and hash, sequences by value, the rest by its description. */

import type postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { asOwner } from './copy-table.ts'
import { copiedAs, type MovedTable, readSequences, readShape } from './relations.ts'

/** A table that holds rows, the same on both sides. */
export interface ComparedTable {
  /** Schema and name, quoted where they must be. */
  readonly table: string
  readonly rows: number
  /** The sum of the SHA-256 of each row, so that the order of rows does not matter. */
  readonly hash: string
}

const rejected = (what: string) =>
  new Fault(
    'internal',
    `The two sides differ: ${what}. The database is not used: drop it, and run the move again on an empty one. The embedded data are unchanged.`,
  )

/**
 * Compares what is no row.
 * @param when `before` rows are copied, the target has no foreign keys
 * @throws Fault `internal` where it differs
 */
export async function compareShapes(
  source: postgres.Sql,
  target: postgres.Sql,
  schemas: readonly string[],
  when: 'before' | 'after',
): Promise<void> {
  const shapeOf = async (sql: postgres.Sql) => {
    const lines = [...(await readShape(sql, schemas))]
    return new Set(when === 'after' ? lines : lines.filter((line) => !line.includes(': key FOREIGN KEY ')))
  }
  const [here, there] = [await shapeOf(source), await shapeOf(target)]
  const [lost, added] = [
    [...here].filter((line) => !there.has(line)),
    [...there].filter((line) => !here.has(line)),
  ]
  if (lost.length + added.length > 0)
    throw rejected(
      [
        ...lost.slice(0, 3).map((line) => `only embedded: ${line}`),
        ...added.slice(0, 3).map((line) => `only in the database: ${line}`),
      ].join('; '),
    )
}

/** Compares the sequences. @throws Fault `internal` where one differs */
export async function compareSequences(
  source: postgres.Sql,
  target: postgres.Sql,
  schemas: readonly string[],
): Promise<void> {
  const here = await readSequences(source, schemas)
  const there = new Map<string, string>()
  await asOwner(target, async () => {
    for (const [name, state] of await readSequences(target, schemas)) there.set(name, state)
  })
  const wrong = [...here].filter(([name, state]) => there.get(name) !== state)
  if (wrong.length > 0) throw rejected(`sequence ${wrong[0]?.[0]}`)
}

/** Compares the rows of one table. @throws Fault `internal` where they differ */
export async function compareTable(
  [from, source]: readonly [postgres.Sql, MovedTable],
  [to, target]: readonly [postgres.Sql, MovedTable],
): Promise<ComparedTable> {
  const here = await sumOf(from, source, source)
  let there: Sum | undefined
  await asOwner(to, async () => {
    // Undone by its own end, and nobody else is on the database.
    if (target.isForced) await to.unsafe(`alter table ${target.sqlName} no force row level security`).simple()
    there = await sumOf(to, target, source)
    if (target.isForced) await to.unsafe(`alter table ${target.sqlName} force row level security`).simple()
  })
  if (there === undefined || here.rows !== there.rows || here.hash !== there.hash)
    throw rejected(
      `${source.sqlName} has ${here.rows} rows embedded and ${there?.rows} in the database, or others`,
    )
  return { table: source.sqlName, rows: Number(here.rows), hash: here.hash }
}

interface Sum {
  readonly rows: string
  readonly hash: string
}

/** The rows of a table as one number: the sums of both halves of half of each row's hash. */
async function sumOf(sql: postgres.Sql, { sqlName }: MovedTable, { columns }: MovedTable): Promise<Sum> {
  const [row] = await sql.unsafe<{ rows: string; first: string; second: string }[]>(`
    select count(*)::text as rows, coalesce(sum(('x' || substr(h, 1, 16))::bit(64)::bigint), 0)::text as first,
      coalesce(sum(('x' || substr(h, 17, 16))::bit(64)::bigint), 0)::text as second
    from (select encode(sha256(convert_to(r::text, 'UTF8')), 'hex') as h
      from (select ${columns.map(copiedAs).join(', ')} from only ${sqlName}) r) hashes`)
  const half = (sum = '0') => BigInt.asUintN(64, BigInt(sum)).toString(16).padStart(16, '0')
  return { rows: row?.rows ?? '0', hash: half(row?.first) + half(row?.second) }
}
