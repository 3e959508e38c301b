/** Random graphs as the store has them: tables with and without a contract, columns, tags, lineage, snapshots, policies. */

import type { TenantId } from '../../src/core/tenant.ts'
import type { EdgeLabel, VertexLabel } from '../../src/store/database/names.ts'
import type { Store } from '../../src/store/store.ts'

export interface StoredNode {
  readonly id: string
  readonly label: VertexLabel
  readonly properties: Readonly<Record<string, unknown>>
}

export interface StoredEdge {
  readonly id: string
  readonly type: EdgeLabel
  readonly from: StoredNode
  readonly to: StoredNode
  readonly properties: Readonly<Record<string, unknown>>
}

export interface StoredGraph {
  readonly nodes: readonly StoredNode[]
  readonly edges: readonly StoredEdge[]
}

/** Texts of properties and of literals: the empty one, quotes, letters beyond ASCII and beyond 16 bits. */
export const texts = ['a', 'b', 'Ab', 'aB', '', "o'x", 'é', 'É', '\uffee', '😀', '"\\'] as const

export class Dice {
  readonly #next: () => number
  constructor(next: () => number) {
    this.#next = next
  }
  below(count: number): number {
    return Math.floor(this.#next() * count)
  }
  chance(share: number): boolean {
    return this.#next() < share
  }
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
  times<T>(max: number, make: (index: number) => T, min = 0): T[] {
    return Array.from({ length: min + this.below(max - min + 1) }, (_, index) => make(index))
  }
}

/** A graph of some twenty nodes. `mark` is in every id. */
export function randomGraph(dice: Dice, mark: string): StoredGraph {
  const nodes: StoredNode[] = []
  const edges: StoredEdge[] = []
  const node = (label: VertexLabel, properties: StoredNode['properties'], key?: string): StoredNode => {
    const made = { id: key ?? `${mark} ${label} ${nodes.length}`, label, properties }
    nodes.push(made)
    return made
  }
  const join = (
    type: EdgeLabel,
    from: StoredNode | undefined,
    to: StoredNode | undefined,
    properties: StoredEdge['properties'] = {},
  ) => {
    if (from !== undefined && to !== undefined)
      edges.push({ id: `${mark} ${type} ${edges.length}`, type, from, to, properties })
  }
  const text = () => dice.pick(texts)
  const some = (name: string, value: unknown) => (dice.chance(0.8) ? { [name]: value } : {})
  const count = () => dice.below(7) / 2
  const namespaces = dice.times(3, () => node('Namespace', { name: text() }), 1)
  for (const [index, space] of namespaces.entries()) join('IN_NAMESPACE', space, namespaces[index - 1])
  const tags = dice.times(3, () => node('Tag', { name: text() }), 1)
  const tables = dice.times(
    4,
    () => {
      // A malformed property is read as absent.
      const table = node('Table', {
        ...some('name', text()),
        namespace: [text(), text()],
        ...some('schema_id', 3),
      })
      join('IN_NAMESPACE', table, dice.pick(namespaces))
      if (dice.chance(0.2)) join('TAGGED', table, dice.pick(tags))
      return table
    },
    2,
  )
  for (const table of tables)
    if (dice.chance(0.8))
      join(
        'GOVERNS',
        node('Contract', { version: dice.below(3), state: dice.chance(0.85) ? 'active' : 'retired' }),
        table,
      )
  const columns = tables.flatMap((table) =>
    dice.times(
      3,
      () => {
        const column = node('Column', {
          ...some('name', text()),
          ...some('required', dice.pick([true, false, 'yes'])),
          ...some('field_id', dice.pick([dice.below(4), String(dice.below(4)), 'x'])),
        })
        if (dice.chance(0.9)) join('HAS_COLUMN', table, column)
        if (dice.chance(0.4)) join('TAGGED', column, dice.pick(tags), { status: text(), confidence: count() })
        return column
      },
      1,
    ),
  )
  const datasets = dice.times(6, () =>
    node('Dataset', {
      namespace: text(),
      ...some('name', text()),
      ...(dice.chance(0.4) && tables.length > 0 && { table_id: dice.pick(tables).id }),
    }),
  )
  const jobs = dice.times(2, () => node('Job', { namespace: text(), name: text() }))
  if (datasets.length > 0) {
    for (let edge = dice.below(9); edge > 0; edge--)
      join('LINEAGE_OF', dice.pick(datasets), dice.pick(datasets), some('producer', text()))
    for (const dataset of datasets) {
      if (jobs.length > 0 && dice.chance(0.5)) join('PRODUCED_BY', dataset, dice.pick(jobs))
      const stored = tables.find(({ id }) => id === dataset.properties.table_id)
      if (dice.chance(0.8)) join('STORED_AS', dataset, stored)
    }
  }
  for (const table of tables) {
    let parent: StoredNode | undefined
    for (const sequence of dice.times(3, (index) => index)) {
      const snapshot = node('Snapshot', {
        table_id: table.id,
        sequence_number: String(sequence),
        operation: text(),
        metadata_location: text(),
      })
      join('PARENT_OF', parent, snapshot)
      join('ACTUAL_WRITE', snapshot, table, { decision: text() })
      if (dice.chance(0.8)) parent = snapshot
    }
    if (dice.chance(0.4))
      join('INTENDED_WRITE', node('Principal', { sub: text() }), table, { committer: text() })
    if (dice.chance(0.4))
      join('SCHEMA_GOVERNS', node('Policy', { name: text(), mode: text(), definition_cel: text() }), table)
    if (dice.chance(0.3)) join('FILTERS', node('RowFilter', { policy_id: text(), expression: text() }), table)
  }
  for (const column of columns)
    if (dice.chance(0.2)) {
      join('MASKS', node('ColumnMask', { action: text(), expression: text() }), column)
      join('CLASSIFIED_AS', column, node('Classification', { class: text(), confidence: count() }))
    }
  return { nodes, edges }
}

const idOf = (alias: string) => `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`

/** Writes a graph into a tenant's, whose sentinels stay. */
export async function writeGraph(
  store: Store,
  tenant: TenantId,
  { nodes, edges }: StoredGraph,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    for (const [label, some] of Map.groupBy(nodes, ({ label }) => label))
      await tx.query(
        `insert into "${label}" (properties) select x::text::agtype from jsonb_array_elements($1::text::jsonb) x`,
        [
          JSON.stringify(
            some.map(({ id, properties }) => ({ ...properties, id, tenant_id: tenant, made: true })),
          ),
        ],
      )
    const byEnds = ({ type, from, to }: StoredEdge) => `${type} ${from.label} ${to.label}`
    for (const some of Map.groupBy(edges, byEnds).values()) {
      const [{ type, from, to }] = some as [StoredEdge]
      await tx.query(
        `insert into "${type}" (start_id, end_id, properties)
         select a.id, b.id, (x -> 'properties')::text::agtype from jsonb_array_elements($1::text::jsonb) x
           join "${from.label}" a on ${idOf('a')} = (x -> 'from')::text::agtype
           join "${to.label}" b on ${idOf('b')} = (x -> 'to')::text::agtype`,
        [
          JSON.stringify(
            some.map((edge) => ({
              from: edge.from.id,
              to: edge.to.id,
              properties: { ...edge.properties, id: edge.id, tenant_id: tenant, made: true },
            })),
          ),
        ],
      )
    }
  })
}

/** Removes what {@link writeGraph} has written. */
export async function removeGraph(store: Store, tenant: TenantId): Promise<void> {
  const isMade = `agtype_access_operator(variadic array[properties, '"made"'::agtype]) is not null`
  await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(`delete from "_ag_label_edge" where ${isMade}`)
    await tx.query(`delete from "_ag_label_vertex" where ${isMade}`)
  })
}
