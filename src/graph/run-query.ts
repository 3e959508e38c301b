/** Runs a graph query for one principal: parse, compile, one read-only statement, answer. */

import { Fault } from '../base/fault.ts'
import type { Principal } from '../core/principal.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Store } from '../store/store.ts'
import { parseGraphQuery } from '../wire/cypher/parse.ts'
import { compileGraphQuery } from './compile.ts'
import { rowBounds } from './stages.ts'

interface GraphQueryInput {
  readonly query: string
  /** Values of the `$name` in the text. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  readonly limit: number
  readonly signal?: AbortSignal
}

/** A value of an answer: of a node `{label, properties}`, of an edge `{type, properties}`, of a path both. */
export type GraphValue =
  | null
  | string
  | number
  | boolean
  | readonly GraphValue[]
  | { readonly [name: string]: GraphValue }

export interface GraphAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly (readonly GraphValue[])[]
  /** Whether there were more rows. */
  readonly truncated: boolean
}

interface Row {
  readonly seen: boolean
  readonly exceeded: boolean
  readonly wide: boolean
  readonly rows: string | null
}

/**
 * Runs a query over what the principal sees of the tenant's graph.
 * @throws Fault `bad_request` for a query outside the subset; `unprocessable` beyond a bound; `unavailable` where the
 *   tenant's sentinel is missing, because a graph that cannot be seen must not look like an empty one
 */
export async function runGraphQuery(
  store: Store,
  tenant: TenantId,
  { query, parameters = {}, limit, signal }: GraphQueryInput,
  principal: Principal,
): Promise<GraphAnswer> {
  const as = principal.roles.includes('steward') ? 'steward' : 'reader'
  const { text, values, columns } = compileGraphQuery(parseGraphQuery(query), { parameters, as, limit })
  const started = performance.now()
  let row: Row | undefined
  try {
    const options = { readOnly: true, prepare: false, statementMs: rowBounds.statementMs } as const
    row = (await store.tenantQuery<Row>(tenant, text, values, { ...options, ...(signal && { signal }) }))[0]
  } finally {
    store.onCypher((performance.now() - started) / 1_000)
  }
  if (row?.seen !== true)
    throw new Fault('unavailable', 'The graph could not be read. Retry.', { detail: 'no tenant sentinel' })
  if (row.exceeded)
    throw new Fault(
      'unprocessable',
      `The query visits more than ${rowBounds.rowsMax} rows, joins too many without an edge, or collects more than ${rowBounds.collectedMax} values. Name more of what it looks for.`,
    )
  if (row.wide || row.rows === null)
    throw new Fault('unprocessable', 'The answer is too long. Return fewer columns or rows.')
  const found = JSON.parse(row.rows, withoutIdentity) as GraphAnswer['rows']
  return { columns, rows: found.slice(0, limit), truncated: found.length > limit }
}

/** Leaves out what only tells nodes apart in the statement. */
function withoutIdentity(key: string, value: unknown): unknown {
  return key === '#' ? undefined : value
}
