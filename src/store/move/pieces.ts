/**
 * Parts a range of pages into pieces of bounded size, so that the memory a move takes has a bound that does not depend
 * on the rows: a few may be a thousand times as large as the average. Copies nothing.
 */

import type postgres from 'postgres'
import { quoteIdentifier } from '../../base/sql-text.ts'
import type { MovedTable } from './relations.ts'

/** What is read at once: rows from `first` up to, and without, `end`, both as the text of a ctid. */
export interface Piece {
  readonly first: string
  readonly end: string
}

/** The size of a page's rows, or of one row, and where it begins. */
interface Sized {
  readonly at: string
  readonly bytes: number
}

/**
 * The pieces of the pages from `page` up to, and without, `end`. Each has at most `bytesMax` bytes of values as the
 * server writes them, or is one row.
 */
export async function piecesOf(
  sql: postgres.Sql,
  table: Pick<MovedTable, 'sqlName' | 'columns'>,
  page: number,
  end: number,
  bytesMax: number,
): Promise<readonly Piece[]> {
  const pages = await sql.unsafe<Sized[]>(`select format('(%s,0)', page) as at, sum(bytes)::float8 as bytes
    from (${sizesOf(table, page, end)}) sizes group by page order by page`)
  const sized: Sized[] = []
  for (const one of pages)
    if (one.bytes <= bytesMax) sized.push(one)
    else {
      const [only] = /\d+/.exec(one.at) ?? ['0']
      sized.push(
        ...(await sql.unsafe<Sized[]>(`select ctid::text as at, bytes::float8 as bytes
          from (${sizesOf(table, Number(only), Number(only) + 1)}) sizes order by ctid`)),
      )
    }
  return joined(sized, `(${end},0)`, bytesMax)
}

/**
 * The size of each row. The text of each value is measured, by the function that writes it for a client, and not what is
 * stored of it, which would be cheaper to read: a stored value may be compressed to a hundredth.
 */
function sizesOf(
  { sqlName, columns }: Pick<MovedTable, 'sqlName' | 'columns'>,
  page: number,
  end: number,
): string {
  const sizes = columns.map(({ name }) => `octet_length(format('%s', ${quoteIdentifier(name)}))::bigint`)
  return `select ctid, (ctid::text::point)[0]::bigint as page, ${['0', ...sizes].join(' + ')} as bytes
    from only ${sqlName} where ctid >= '(${page},0)'::tid and ctid < '(${end},0)'::tid`
}

/** Neighbours together, as long as they stay within the size. */
function joined(sized: readonly Sized[], end: string, bytesMax: number): readonly Piece[] {
  const starts: string[] = []
  let size = Number.POSITIVE_INFINITY
  for (const { at, bytes } of sized) {
    if (size + bytes > bytesMax) {
      starts.push(at)
      size = 0
    }
    size += bytes
  }
  return starts.map((first, index) => ({ first, end: starts[index + 1] ?? end }))
}
