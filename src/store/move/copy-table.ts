/**
 * Copies one table, a range of pages at a time, into a COPY. Each range and the note of how far the copy has come are one
 * transaction, so that what was interrupted goes on where it stopped. The order of pages is stable, because nothing
 * writes the source meanwhile.
 */

import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type postgres from 'postgres'
import { quoteIdentifier } from '../../base/sql-text.ts'
import { scriptedTransaction } from '../database/scripted-transaction.ts'
import { type Piece, piecesOf } from './pieces.ts'
import { copiedAs, type MovedTable } from './relations.ts'

/** Bytes of rows, compressed as they are stored, that one transaction copies. */
const batchBytesDefault = 4 * 1024 * 1024
/** So many times the size of a batch is held in memory at most, because a batch is sized by the average row. */
const heldTimes = 8
const pagesMax = 2048
/** Rows are sent together up to this size, in place of one message each. */
const messageBytes = 256 * 1024

/** Runs statements as the owner of the tables, whom no policy of rows hides anything from meanwhile. */
export async function asOwner(sql: postgres.Sql, work: () => Promise<void>): Promise<void> {
  await scriptedTransaction(sql, 'begin; set local role svc_owner', work)
}

/** How many pages of a table one transaction copies: fewer where its rows have long values beside them. */
function pagesPerBatch({ blocks, bytes }: Pick<MovedTable, 'blocks' | 'bytes'>, batchBytes: number): number {
  const bytesPerPage = Math.max(1, bytes / Math.max(1, blocks))
  return Math.min(pagesMax, Math.max(1, Math.floor(batchBytes / bytesPerPage)))
}

/**
 * Copies the pages of a table from `first` on. The first transaction empties the target's table, which may hold what
 * migrations put there.
 * @param target the table as the target has it
 * @param note the statement that notes, in the same transaction, that all pages before the given one are copied
 * @param copied called after each transaction
 */
export async function copyTable(
  [from, source]: readonly [postgres.Sql, MovedTable],
  [to, target]: readonly [postgres.Sql, MovedTable],
  first: number,
  note: (page: number) => string,
  copied: (page: number) => Promise<void>,
  batchBytes = batchBytesDefault,
): Promise<void> {
  const step = pagesPerBatch(source, batchBytes)
  for (let page = first; page < source.blocks || page === 0; page += step) {
    const end = Math.min(source.blocks, page + step)
    await asOwner(to, async () => {
      await to
        .unsafe(
          [
            ...openStatements(target),
            ...(page === 0 && target.blocks > 0 ? [`truncate only ${target.sqlName}`] : []),
          ].join('; '),
        )
        .simple()
      const pieces = end > page ? await piecesOf(from, source, page, end, heldTimes * batchBytes) : []
      for (const piece of pieces) await copyPiece(from, to, source, piece)
      const done = [...closeStatements(target), 'set local role none', note(end)]
      await to.unsafe(done.join('; ')).simple()
    })
    await copied(end)
    if (end === source.blocks) return
  }
}

/** Lets the owner write: no trigger, and no policy on the owner's own rows. */
function openStatements({ sqlName, isForced, triggers }: MovedTable): readonly string[] {
  return [
    ...(isForced ? [`alter table ${sqlName} no force row level security`] : []),
    ...triggers.map((name) => `alter table ${sqlName} disable trigger ${name}`),
  ]
}

function closeStatements({ sqlName, isForced, triggers }: MovedTable): readonly string[] {
  return [
    ...triggers.map((name) => `alter table ${sqlName} enable trigger ${name}`),
    ...(isForced ? [`alter table ${sqlName} force row level security`] : []),
  ]
}

async function copyPiece(
  from: postgres.Sql,
  to: postgres.Sql,
  { sqlName, columns }: MovedTable,
  { first, end }: Piece,
): Promise<void> {
  // Not by COPY, because the driver stops for ever on a longer COPY out of the embedded database.
  const rows = await from
    .unsafe(
      `select ${columns.map(copiedAs).join(', ')} from only ${sqlName}
       where ctid >= '${first}'::tid and ctid < '${end}'::tid`,
    )
    .raw()
  if (rows.length === 0) return
  const [sink, refused] = await openCopy(
    to,
    `copy ${sqlName} (${columns.map(({ name }) => quoteIdentifier(name)).join(', ')}) from stdin`,
  )
  // The driver does not end its stream for an error that comes after the last byte.
  await Promise.race([pipeline(copyTexts(rows as unknown as RawRows), sink), refused])
}

type RawRows = readonly (readonly (Uint8Array | null)[])[]

/** The input of a COPY, and what rejects where the server refuses it, also after its last byte. */
async function openCopy(sql: postgres.Sql, text: string): Promise<readonly [Writable, Promise<never>]> {
  const query = sql.unsafe(text)
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  // Not in the library's types.
  const statement = query as unknown as { reject(error: unknown): void }
  const { reject } = statement
  statement.reject = (error) => {
    failed.reject(error)
    reject(error)
  }
  return [await query.writable(), failed.promise]
}

const codes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** Rows in the text format of COPY, joined to messages: what the server wrote of each value, byte for byte. */
export function* copyTexts(rows: RawRows): Generator<Uint8Array> {
  let lines: string[] = []
  let size = 0
  for (const row of rows) {
    const line = `${row.map(copyValue).join('\t')}\n`
    lines.push(line)
    size += line.length
    if (size < messageBytes) continue
    yield Buffer.from(lines.join(''), 'latin1')
    lines = []
    size = 0
  }
  if (size > 0) yield Buffer.from(lines.join(''), 'latin1')
}

/** One character for each byte, so that no byte is changed. */
function copyValue(value: Uint8Array | null): string {
  if (value === null) return '\\N'
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')
  return /[\\\t\n\r]/.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (code) => codes[code] ?? code) : text
}
