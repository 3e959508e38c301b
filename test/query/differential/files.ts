/** The checked-in Parquet files, and their twins, which hold only what the reader may see. */

import { readFileSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import { quoteText } from '../../../src/base/sql-text.ts'
import type { IcebergType } from '../../../src/core/iceberg-type.ts'
import { applyMask, type MaskAction, type MaskValue } from '../../../src/core/mask.ts'
import type { GovernanceCase } from './cases.ts'
import { columns, type FixtureColumn, fieldsOf, isInFileOf, isList } from './columns.ts'
import { type FileKind, type FileName, writerOf } from './file-names.ts'

export interface FixtureFile {
  readonly bytes: Uint8Array
  readonly recordCount: number
}

/** Rows that everybody may see, in every case. */
export const visible = "region = 'eu'"

const pathOf = (name: FileName, kind: FileKind) =>
  new URL(`fixtures/${name}.${kind}.parquet`, import.meta.url).pathname

export const bytesOf = (name: FileName, kind: FileKind): Uint8Array =>
  new Uint8Array(readFileSync(pathOf(name, kind)))

export interface FixtureReader {
  /** A file's rows, and the positions of those that only officers see. */
  counts(
    name: FileName,
    kind: FileKind,
  ): Promise<{ readonly rows: number; readonly hidden: readonly number[] }>
  /** What a case lets everybody see of a file, as a file of its own. */
  twin(governance: GovernanceCase, name: FileName, kind: FileKind): Promise<FixtureFile>
  close(): void
}

export async function openFixtures(): Promise<FixtureReader> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  const from = (name: FileName, kind: FileKind) => {
    const missing = columns.filter((column) => !isInFileOf(writerOf(name), column))
    const nulls = missing.map((column) => `, CAST(NULL AS ${engineTypes[column.name]}) AS ${column.name}`)
    return `(SELECT *${nulls.join('')} FROM read_parquet('${pathOf(name, kind)}', file_row_number = true))`
  }
  return {
    async counts(name, kind) {
      const [all] = await rowsOf(connection, `SELECT count(*) FROM ${from(name, kind)}`)
      const hidden = await rowsOf(
        connection,
        `SELECT file_row_number FROM ${from(name, kind)} WHERE (${visible}) IS NOT TRUE ORDER BY 1`,
      )
      return { rows: Number(all?.[0]), hidden: hidden.map(([position]) => Number(position)) }
    },
    async twin(governance, name, kind) {
      const drops = governance.filter !== undefined || governance.deletes !== undefined
      const where = drops ? visible : 'true'
      const targets: string[] = []
      for (const column of columns) {
        const mask = governance.masks?.[column.name]
        const shown =
          mask === undefined
            ? column.name
            : (mask.expression ??
              (await maskedValues(connection, `${from(name, kind)} WHERE ${where}`, column, mask.action)))
        targets.push(
          `CAST(${shown} AS ${column.twin?.cast ?? (await typeIn(connection, from(name, kind), column.name))}) AS ${column.name}`,
        )
      }
      const ids = fieldsOf('twin').map(({ id, name: column, type }) =>
        isList(type)
          ? `${column}: {__duckdb_field_id: ${id}, element: ${type.elementId}}`
          : `${column}: ${id}`,
      )
      const select = `SELECT ${targets.join(', ')} FROM ${from(name, kind)} WHERE ${where} ORDER BY file_row_number`
      const [count] = await rowsOf(connection, `SELECT count(*) FROM ${from(name, kind)} WHERE ${where}`)
      return { bytes: await duckdbParquet(select, `{${ids.join(', ')}}`), recordCount: Number(count?.[0]) }
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

const engineTypes: Readonly<Record<string, string>> = {
  clock: 'TIME',
  ts_ns: 'TIMESTAMP_NS',
  tz_ns: 'TIMESTAMPTZ',
  uid: 'UUID',
  fix: 'BLOB',
}

async function rowsOf(connection: DuckDBConnection, sql: string) {
  return (await connection.runAndReadAll(sql)).getRows()
}

async function typeIn(connection: DuckDBConnection, from: string, name: string): Promise<string> {
  const [row] = await rowsOf(connection, `SELECT typeof(${name}) FROM ${from} LIMIT 1`)
  return String(row?.[0])
}

/** Every value of a column and its mask, as one CASE. The masks are those of applyMask, and no SQL of ours. */
async function maskedValues(
  connection: DuckDBConnection,
  from: string,
  { name, type }: FixtureColumn,
  action: MaskAction,
): Promise<string> {
  if (action === 'replace-with-null') return 'NULL'
  if (typeof type !== 'string') throw new Error(`${action} of ${name}: no such mask`)
  const form = formOf(type)
  const values = await rowsOf(
    connection,
    `SELECT DISTINCT CAST(${form.read(name)} AS VARCHAR) FROM ${from} AND ${name} IS NOT NULL`,
  )
  const whens = values.map(([value]) => {
    const masked = applyMask(action, type as IcebergType, form.parse(String(value)))
    return `WHEN ${quoteText(String(value))} THEN ${masked === null ? 'NULL' : form.write(masked)}`
  })
  const ofNull = applyMask(action, type as IcebergType, null, new Uint8Array(16))
  const otherwise = ofNull === null ? 'NULL' : form.write(ofNull)
  if (whens.length === 0) return otherwise
  return `CASE CAST(${form.read(name)} AS VARCHAR) ${whens.join(' ')} ELSE ${otherwise} END`
}

interface ValueForm {
  /** SQL of a text or integer that tells values apart. */
  readonly read: (sql: string) => string
  readonly parse: (text: string) => MaskValue
  readonly write: (value: MaskValue) => string
}

const integer = (read: (sql: string) => string, write: (digits: string) => string): ValueForm => ({
  read,
  parse: BigInt,
  write: (value) => write(String(value)),
})
const utc = (sql: string) => `timezone('UTC', ${sql})`
const forms: Readonly<Record<string, ValueForm>> = {
  // As hexadecimal, because a text may hold NUL.
  string: {
    read: (sql) => `hex(encode(${sql}))`,
    parse: (text) => Buffer.from(text, 'hex').toString(),
    write: (value) => `decode(unhex('${Buffer.from(String(value)).toString('hex')}'))`,
  },
  uuid: {
    read: (sql) => `CAST(${sql} AS VARCHAR)`,
    parse: String,
    write: (value) => `CAST(${quoteText(String(value))} AS UUID)`,
  },
  int: { read: (sql) => sql, parse: Number, write: String },
  long: integer((sql) => sql, String),
  double: { read: (sql) => sql, parse: Number, write: String },
  boolean: { read: (sql) => sql, parse: (text) => text === 'true', write: String },
  date: {
    read: (sql) => `date_diff('day', DATE '1970-01-01', ${sql})`,
    parse: Number,
    write: (days) => `(DATE '1970-01-01' + CAST(${days} AS INTEGER))`,
  },
  time: integer(
    (sql) => `epoch_us(${sql})`,
    (micros) => `(TIME '00:00:00' + to_microseconds(${micros}))`,
  ),
  timestamp: integer(
    (sql) => `epoch_us(${sql})`,
    (micros) => `make_timestamp(${micros})`,
  ),
  timestamptz: integer(
    (sql) => `epoch_us(${sql})`,
    (micros) => utc(`make_timestamp(${micros})`),
  ),
  timestamp_ns: integer(
    (sql) => `epoch_ns(${sql})`,
    (nanos) => `make_timestamp(${BigInt(nanos) / 1_000n})`,
  ),
  timestamptz_ns: integer(
    (sql) => `epoch_us(${sql}) * 1000`,
    (nanos) => utc(`make_timestamp(${BigInt(nanos) / 1_000n})`),
  ),
  binary: {
    read: (sql) => `hex(${sql})`,
    parse: (text) => new Uint8Array(Buffer.from(text, 'hex')),
    write: (value) => `unhex('${Buffer.from(value as Uint8Array).toString('hex')}')`,
  },
}

function formOf(type: string): ValueForm {
  const decimal: ValueForm = { read: (sql) => sql, parse: String, write: (value) => quoteText(String(value)) }
  const form = type.startsWith('decimal(') ? decimal : forms[type]
  if (form === undefined) throw new Error(`no mask of a column of type ${type} is tested`)
  return form
}
