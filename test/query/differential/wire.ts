/** The fixtures' tables in a running service, each in a schema of its own, and statements over the PostgreSQL wire. */

import pg from 'pg'
import { tableInFolder } from '../../../demo/lake/iceberg-writer.ts'
import { type Lake, startLake, type WrittenTable } from '../../support/lake.ts'
import type { GovernanceCase } from './cases.ts'
import { fieldsOf } from './columns.ts'
import { type FileName, type TableKind, writerOfTable } from './file-names.ts'
import { type FixtureReader, openFixtures } from './files.ts'
import type { Outcome, Statement } from './pairs.ts'
import { writeTable } from './write-table.ts'

export interface WireTables extends AsyncDisposable {
  readonly lake: Lake
  /** Runs a statement as who is no officer. The table `t` is the one of the case, its file and its kind. */
  outcome(on: WireTable, statement: Statement): Promise<Outcome>
}

export interface WireTable {
  readonly governance: GovernanceCase
  readonly file: FileName
  readonly kind: TableKind
}

/** Starts the service with these tables. */
export async function startWireTables(tables: readonly WireTable[]): Promise<WireTables> {
  await using stack = new AsyncDisposableStack()
  const fixtures = await openFixtures()
  stack.defer(() => fixtures.close())
  const lake = stack.use(
    await startLake({ tables: [], written: tables.map((table) => written(fixtures, table)) }),
  )
  const {
    PGHOST: host,
    PGPORT: port,
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
  } = lake.restricted
  const client = new pg.Client({
    host,
    port: Number(port),
    user,
    password,
    database,
    types: { getTypeParser: () => String },
  })
  await client.connect()
  stack.defer(() => client.end())
  let schema = ''
  // One statement after the other: each needs the schema of its table.
  let last: Promise<unknown> = Promise.resolve()
  const held = stack.move()
  const run = async (on: WireTable, { text, ordered }: Statement): Promise<Outcome> => {
    if (schema !== schemaOf(on)) await client.query(`SET search_path TO ${schemaOf(on)}`)
    schema = schemaOf(on)
    try {
      const { rows, fields } = await client.query({ text, rowMode: 'array' })
      const lines = rows.map((row) =>
        JSON.stringify(row.map((cell, index) => cellOf(cell, fields[index]?.dataTypeID ?? 0))),
      )
      return { rows: ordered ? lines : lines.sort() }
    } catch (thrown) {
      if (!(thrown instanceof pg.DatabaseError)) throw thrown
      return { error: `${thrown.code} ${thrown.message}` }
    }
  }
  return {
    lake,
    outcome(on, statement) {
      const next = last.then(() => run(on, statement))
      last = next.catch(() => {})
      return next
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

function schemaOf({ governance, file, kind }: WireTable): string {
  return `${governance.name} ${file} ${kind}`.replace(/\W+/g, '_')
}

function written(fixtures: FixtureReader, table: WireTable): WrittenTable {
  const { governance, file, kind } = table
  const ref = { namespace: [schemaOf(table)], name: 't' }
  return {
    ref,
    ...(kind !== 'twin' && { rowFilter: governance.filter, masks: governance.masks }),
    async write(folder) {
      const fields = fieldsOf(writerOfTable(file, kind))
      const writer = tableInFolder(folder, 't', { fields, formatVersion: 3 })
      await writeTable(writer, fixtures, governance, file, kind)
      return writer.metadataLocation ?? ''
    },
  }
}

const floats: ReadonlyMap<number, number> = new Map([
  [700, 5],
  [1021, 5],
  [701, 9],
  [1022, 9],
])
const numerics = [1700, 1231]

/** A cell as text, sums of floats as near as their order of adding lets them be, and decimals at any scale. */
function cellOf(cell: unknown, oid: number): unknown {
  const digits = floats.get(oid)
  if (cell === null || (digits === undefined && !numerics.includes(oid))) return cell
  return String(cell).replace(/-?\d[\d.]*(e[+-]?\d+)?/g, (number) =>
    digits === undefined
      ? number.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
      : String(Number(Number(number).toPrecision(digits))),
  )
}
