/** Runs as tests say them, and the graph that they make, in a form that is easy to compare. */

import type { LineageEventType } from '../../src/core/lineage.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { parseLineageEvent } from '../../src/lineage/parse-event.ts'
import type { ReceivedEvent } from '../../src/store/lineage/events.ts'
import type { Store } from '../../src/store/store.ts'
import { lake, lineageEvent } from '../support/lineage.ts'

/** Output columns by the input columns that they depend on: `a.id` is the column `id` of the dataset `a`. */
type Columns = Readonly<Record<string, readonly string[]>>

export interface Said {
  readonly run: string
  readonly job?: string
  readonly type?: LineageEventType
  readonly at?: string
  readonly reads?: readonly string[]
  /** Outputs with their columns. */
  readonly writes?: Readonly<Record<string, Columns>>
}

const received = '2026-03-02T00:00:00Z'

export function eventOf({ run, job, type = 'COMPLETE', at, reads = [], writes = {} }: Said): ReceivedEvent {
  const field = (column: string) => {
    const [name, named] = column.split('.')
    return { namespace: lake, name, field: named }
  }
  const outputs = Object.entries(writes).map(([name, columns]) => ({
    ...{ namespace: lake, name },
    facets: {
      columnLineage: {
        fields: Object.fromEntries(
          Object.entries(columns).map(([column, from]) => [column, { inputFields: from.map(field) }]),
        ),
      },
    },
  }))
  const more = { eventType: type, ...(at !== undefined && { eventTime: at }) }
  const event = lineageEvent({ inputs: reads, outputs, runId: run, ...(job !== undefined && { job }), more })
  return {
    event: parseLineageEvent(Buffer.from(JSON.stringify(event)), Date.parse(received)),
    identified: { principal: { sub: 'spark', roles: [] }, source: 'session' },
  }
}

interface EdgeRow {
  readonly source: string
  readonly target: string
  readonly columns: readonly { readonly input: string; readonly output: string }[] | null
}

/** Edges between datasets, each with its columns. */
export async function graphOf(store: Store, tenant: TenantId): Promise<readonly string[]> {
  const rows = await store.tenantQuery<EdgeRow>(
    tenant,
    `select a.properties::text::jsonb ->> 'name' as source, b.properties::text::jsonb ->> 'name' as target,
       e.properties::text::jsonb -> 'columns' as columns
     from "LINEAGE_OF" e join "Dataset" a on a.id = e.start_id join "Dataset" b on b.id = e.end_id`,
  )
  const columns = (row: EdgeRow) =>
    (row.columns ?? []).map(({ input, output }) => ` ${input}>${output}`).sort()
  return rows.map((row) => `${row.source} -> ${row.target}${columns(row).join('')}`).sort()
}

/** Who reads what: `a < job`. */
export async function consumersOf(store: Store, tenant: TenantId): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ edge: string }>(
    tenant,
    `select (d.properties::text::jsonb ->> 'name') || ' < ' || (j.properties::text::jsonb ->> 'name') as edge
     from "CONSUMED_BY" c join "Dataset" d on d.id = c.start_id join "Job" j on j.id = c.end_id`,
  )
  return rows.map(({ edge }) => edge).sort()
}
