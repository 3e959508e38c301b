/**
 * Measures IN lists of thousands of constants and of parameters: from the statement's text to its rows by the compiler and
 * the embedded engine, beside PostgreSQL 18 over its socket, by turns. Neither the wire nor the load of tables is in it.
 */

import { renderSql } from '../src/query/compile/emit/render.ts'
import { openSubject } from '../test/query/support/duckdb.ts'
import { startOracle } from '../test/query/support/postgres.ts'
import { type BenchResult, type BenchRun, BenchUsageError } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { percentile, seededRandom } from './statistics.ts'

const table = 'lists'
const rows = 10_000

/** Columns by type, and the text of a constant of each. */
const kinds = {
  bigint: { iceberg: 'long', constant: (index: number) => String(index) },
  text: { iceberg: 'string', constant: (index: number) => `n${index}` },
  numeric: { iceberg: 'decimal(12,2)', constant: (index: number) => `${index}.25` },
} as const

/** As many as a statement's length has room for: of one digit, and of several. */
const lengths = [10_000, 90_000]
const constantOf = (kind: Kind, index: number, length: number) =>
  length > 10_000 ? String(index % 10) : kinds[kind].constant(index)

type Kind = keyof typeof kinds
const postgresType = (kind: Kind) => (kind === 'numeric' ? 'numeric(12,2)' : kind)

const values = (row: string) => `${row}, 'n' || ${row}, ${row} + 0.25`

export const inLists = {
  name: 'in-lists',
  about: 'IN lists of thousands of constants and parameters, beside PostgreSQL',
  options: {},
  run,
}

async function* run({ smoke, seed }: BenchRun): AsyncGenerator<BenchResult> {
  const oracle = await startOracle()
  if (oracle === undefined) throw new BenchUsageError('There is no packaged PostgreSQL for this platform.')
  const columns = (Object.keys(kinds) as Kind[]).map((kind) => ({ kind, name: `a_${kind}` }))
  const subject = await openSubject({
    searchPath: ['s'],
    setup: [
      `CREATE TABLE ${table} (${columns.map(({ kind, name }) => `${name} ${kind === 'text' ? 'VARCHAR' : kind === 'numeric' ? 'DECIMAL(12,2)' : 'BIGINT'}`).join(', ')})`,
      `INSERT INTO ${table} SELECT ${values('i')} FROM range(${rows}) AS r(i)`,
    ],
    tables: [
      {
        ...{ ref: { namespace: ['s'], name: table }, schemaName: 's', tableName: table },
        ...{ relation: { duckdb: [table] }, rowFilters: [], contract: { id: 'c', version: 1 } },
        columns: columns.map(({ kind, name }, index) => ({
          ...{ name, fieldId: index + 1, type: kinds[kind].iceberg, required: false, masks: [] },
        })),
      },
    ],
  })
  const { admin } = oracle
  try {
    await admin.unsafe(
      `CREATE TABLE ${table} (${columns.map(({ kind, name }) => `${name} ${postgresType(kind)}`).join(', ')})`,
    )
    await admin.unsafe(
      `INSERT INTO ${table} SELECT ${values('i')} FROM generate_series(0, ${rows - 1}) AS r(i)`,
    )
    await admin.unsafe(`ANALYZE ${table}`)
    const random = seededRandom(seed)
    for (const kind of Object.keys(kinds) as Kind[])
      for (const form of ['constants', 'parameters'] as const)
        for (const length of form === 'parameters' ? [smoke ? 300 : 10_000] : smoke ? [300] : lengths) {
          if (kind === 'text' && length > 10_000) continue
          const list = Array.from({ length }, (_, index) => constantOf(kind, index, length))
          const quoted = kind === 'text' ? list.map((each) => `'${each}'`) : list
          const written = form === 'constants' ? quoted : list.map((_, index) => `$${index + 1}`)
          const parameters = form === 'parameters' ? list : []
          let count = 0
          // Each text is different, because parsed statements are cached by their text.
          const text = () =>
            `SELECT count(*) FROM ${table} WHERE a_${kind} IN (${written.join(',')}) /* ${count++} */`
          let found = ['', '']
          const ours = async () => {
            const compiled = subject.compile(text()).emit('duckdb')
            const salt = new Uint8Array(16)
            const result = await subject.runSql(renderSql(compiled, 'duckdb', { salt, parameters }))
            found = [String(result[0]?.[0]), found[1] ?? '']
          }
          const theirs = async () => {
            const result = await admin.unsafe(text(), parameters, { prepare: false }).values()
            found = [found[0] ?? '', String(result[0]?.[0])]
          }
          const times = await interleavedTimes([ours, theirs], smoke ? 1 : 7, random)
          if (found[0] !== found[1]) throw new Error(`${found[0]} rows, and ${found[1]} by PostgreSQL`)
          const [own = 0, postgres = 0] = times.map((each) => percentile(each, 0.5))
          yield {
            bench: 'in-lists',
            case: { of: kind, form, length },
            figures: {
              p50_ms: Number(own.toFixed(1)),
              postgres_ms: Number(postgres.toFixed(1)),
              ratio_vs_postgres: Number((own / postgres).toFixed(2)),
            },
          }
        }
  } finally {
    subject.close()
    await oracle.stop()
  }
}
