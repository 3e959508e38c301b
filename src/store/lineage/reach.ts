/**
 * Lists the datasets that lineage reaches from a node, at any distance: a walk of five hops at a time, which a cursor goes
 * on with from the datasets at its end. The cursor holds them, so nothing is stored between pages.
 */

import { Fault } from '../../base/fault.ts'
import type { LineageName } from '../../core/lineage.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { type Page, type PageRequest, pageLimit } from '../database/page.ts'
import { parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { type LineageStart, startId } from './graph.ts'
import { reachText } from './walk-text.ts'

interface ReachedDataset extends LineageName {
  /** See `lineage_name.table_key`. */
  readonly tableKey?: string
  /** LINEAGE_OF edges between the start and the dataset, by the shortest way that the list has looked at. */
  readonly hops: number
}

interface ReachQuery extends PageRequest {
  readonly start: LineageStart
  readonly direction: 'upstream' | 'downstream'
  /** Leaves out datasets that are stored as a table that may not be read, and what lies behind them. */
  readonly readableOnly: boolean
  readonly signal?: AbortSignal
}

/** Datasets at the end of one walk that a cursor can hold. */
const endsMax = 500

/** Where a list goes on. */
interface Position {
  /** Hops of the walks that are over. */
  readonly hops: number
  /** Where the present walk begins, by the graph's numbers; undefined for the start itself. */
  readonly from: readonly string[] | undefined
  /** What was listed last of the present walk. */
  readonly after: readonly [hops: number, node: string]
}

/** Neither has a sign, so a number of a forged cursor is no larger than the graph's. */
const nodeText = /^\d{1,19}$/

function textOf({ hops, from, after }: Position): string {
  return Buffer.from(JSON.stringify([hops, from ?? null, ...after])).toString('base64url')
}

function positionOf(text: string | undefined): Position {
  if (text === undefined) return { hops: 0, from: undefined, after: [-1, '0'] }
  const refused = new Fault('bad_request', 'The page token is not valid.')
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    throw refused
  }
  if (!Array.isArray(parsed) || parsed.length !== 4) throw refused
  const [hops, from, afterHops, node] = parsed as readonly unknown[]
  const isNode = (one: unknown) => typeof one === 'string' && nodeText.test(one) && BigInt(one) < 2n ** 63n
  const isCount = (one: unknown) => Number.isInteger(one) && Number(one) >= -1 && Number(one) < 2 ** 31
  if (!isCount(hops) || !isCount(afterHops) || !isNode(node)) throw refused
  if (from !== null && !(Array.isArray(from) && from.length <= endsMax && from.every(isNode))) throw refused
  return {
    hops: hops as number,
    from: (from as readonly string[] | null) ?? undefined,
    after: [afterHops as number, node as string],
  }
}

interface Row {
  readonly place: number | bigint
  readonly hops: number
  readonly node: string
  readonly properties: string
  readonly table_key: string | null
  readonly ends: readonly string[] | null
}

/**
 * A page of the datasets that lineage reaches, nearest first within five hops. One that is reached by ways of different
 * length may stand again further on. Lineage has no cycles, so the list ends.
 * @returns undefined where there is no such node
 * @throws Fault `bad_request` for a bad page token or a start at a column, `unprocessable` where too many datasets lie at
 *   the end of a walk
 */
export async function lineageReach(
  store: Store,
  tenant: TenantId,
  query: ReachQuery,
): Promise<Page<ReachedDataset> | undefined> {
  const { start, direction, readableOnly, signal } = query
  if (start.kind === 'column' || start.kind === 'table-column')
    throw new Fault(
      'bad_request',
      'Datasets are reached from a dataset, job, table or contract, not from a column.',
    )
  const limit = pageLimit(query)
  const at = positionOf(query.after)
  const rows = await store.tenantQuery<Row>(
    tenant,
    reachText({ kind: at.from === undefined ? start.kind : 'datasets', direction, readableOnly }),
    [
      at.from === undefined ? startId(start) : JSON.stringify(at.from),
      limits.graphHopsMax,
      ...at.after,
      limit + 1,
      endsMax + 1,
    ],
    { readOnly: true, ...(signal && { signal }) },
  )
  const [first, ...found] = rows
  if (first === undefined) return undefined
  const shown = found.slice(0, limit)
  const items = shown.map(({ hops, properties, table_key: tableKey }): ReachedDataset => {
    const { namespace, name } = parseAgtype(properties) as LineageName & Record<string, unknown>
    return { namespace, name, hops: at.hops + hops, ...(tableKey !== null && { tableKey }) }
  })
  const last = shown.at(-1)
  if (found.length > limit && last !== undefined)
    return { items, next: textOf({ ...at, after: [last.hops, last.node] }) }
  const ends = first.ends ?? []
  if (ends.length === 0) return { items }
  if (ends.length > endsMax)
    throw new Fault(
      'unprocessable',
      `More than ${endsMax} datasets lie ${at.hops + limits.graphHopsMax} hops from the start. Ask from one that is nearer to what you look for.`,
    )
  return {
    items,
    next: textOf({ hops: at.hops + limits.graphHopsMax, from: ends, after: [-1, '0'] }),
  }
}
