/** The first page of a traversal from a node with ever more neighbours, each of which has one neighbour of its own. */

import { traverse } from '../../src/store/graph/graph.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { openBenchStore } from '../bench-store.ts'
import { medianMs } from './over-tenant.ts'
import type { GrowthRow } from './row.ts'

const rounds = 5
const chunkCount = 10_000

export const traversalOfHotNode: GrowthRow = {
  name: 'hot-node',
  of: 'edges of the start',
  unit: 'ms of a page at 3 hops',
  declared: 'linear',
  sizes: [1_000, 10_000, 100_000],
  smokeSizes: [5, 10, 20],
  store: 'any',
  async open({ store: kind }) {
    if (kind === undefined) throw new Error('the row needs a store')
    const opened = await openBenchStore(kind)
    const { store } = opened
    const { id: tenant } = await createTenant(store, { name: 'bench' })
    const fill = async (label: string, columns: string, rows: string, values: readonly number[]) => {
      await store.tenantQuery(tenant, `insert into "${label}" (${columns}) ${rows}`, values)
    }
    const properties = (id: string) =>
      `jsonb_build_object('id', ${id}, 'tenant_id', '${tenant}')::text::agtype`
    const node = (alias: string, id: string) =>
      `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype]) = to_jsonb(${id})::text::agtype`
    const numbers = 'generate_series($1::int, $2::int) i'
    await fill('Dataset', 'properties', `select ${properties("'hub'")}`, [])
    let size = 0
    const grow = async (to: number) => {
      for (; size < to; size = Math.min(size + chunkCount, to)) {
        const range = [size + 1, Math.min(size + chunkCount, to)]
        for (const kind of ['leaf', 'below'])
          await fill(
            'Dataset',
            'properties',
            `select ${properties(`'${kind}-' || i`)} from ${numbers}`,
            range,
          )
        for (const [from, at, name] of [
          ["'hub'::text", `'leaf-' || i`, 'to-leaf'],
          [`'leaf-' || i`, `'below-' || i`, 'to-below'],
        ] as const)
          await fill(
            'LINEAGE_OF',
            'start_id, end_id, properties',
            `select a.id, b.id, ${properties(`'${name}-' || i`)} from ${numbers}
             join "Dataset" a on ${node('a', from)} join "Dataset" b on ${node('b', at)}`,
            range,
          )
      }
    }
    const hub = { label: 'Dataset', id: 'hub', direction: 'out', hops: 3, limit: 100 } as const
    return {
      async costAt(next) {
        await grow(next)
        return medianMs(rounds, async () => {
          const { items } = await traverse(store, tenant, hub)
          if (items.length === 0) throw new Error('a traversal reached nothing')
        })
      },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  },
}
