/** A lake with one cube, and MDX over it as an officer, who sees all, and as a reader, who sees some rows, masked. */

import { systemClock } from '../../../src/base/clock.ts'
import type { CellsetAxis } from '../../../src/core/cellset.ts'
import type { QueryContext } from '../../../src/query/query-service.ts'
import type { Cellset } from '../../../src/semantics/mdx/cellset.ts'
import { MdxEvaluator } from '../../../src/semantics/mdx/evaluator.ts'
import {
  type MdxAnswer,
  type MdxRequest,
  type MdxRunOptions,
  runMdx,
} from '../../../src/semantics/mdx/run.ts'
import { type Lake, type LakeOptions, startLake } from '../../support/lake.ts'
import { ordersTable, regionsTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { declaringAs, openSteward } from '../../support/semantic-layer.ts'

export const cubeName = 'sales.orders'
const orders = { namespace: ['sales'], name: 'orders' }
const regions = { namespace: ['sales'], name: 'regions' }

/** Orders by region, status, day and note, with regions as a table of their own. */
export async function startCubeLake(options: LakeOptions = {}): Promise<Lake> {
  const tables = [ordersTable, regionsTable]
  const lake = await startLake({ tables, env: { SVC_LICENSE: licenseForAll() }, ...options })
  const put = declaringAs(lake, await openSteward(lake))
  await put('/api/v1/semantics/tables/sales/regions', { key: ['name'], dimensions: [{ name: 'name' }] })
  await put('/api/v1/semantics/tables/sales/orders', {
    key: ['id'],
    time_dimension: 'day',
    dimensions: [
      { name: 'region' },
      { name: 'email' },
      { name: 'paid' },
      { name: 'qty' },
      { name: 'note' },
      { name: 'day', kind: 'time' },
      { name: 'initial', expression: 'left(region, 1)' },
    ],
    relationships: [{ name: 'area', to: regions, columns: ['region'], to_columns: ['name'] }],
  })
  await put('/api/v1/metrics/revenue', { table: orders, expression: 'sum(amount)', format: '#,##0.00' })
  await put('/api/v1/metrics/orders', { table: orders, expression: 'count(*)' })
  await put('/api/v1/metrics/buyers', { table: orders, expression: 'count(DISTINCT email)' })
  await put('/api/v1/metrics/basket', { kind: 'ratio', numerator: 'revenue', denominator: 'orders' })
  await put('/api/v1/metrics/stock', {
    ...{ table: orders, expression: 'sum(qty)' },
    semi_additive: { dimension: 'day', take: 'last' },
  })
  return lake
}

export type Reader = 'officer' | 'reader'

/** The context of a principal of the lake's tenant. */
export function contextOf(
  lake: Pick<Lake, 'tenant' | 'catalog'>,
  who: Reader,
  tenant = lake.tenant,
): QueryContext {
  return {
    tenant,
    principal: who === 'officer' ? { sub: 'ann', roles: ['officer'] } : { sub: 'bob', roles: [] },
    principalSource: 'session',
    reader: { stillValid: () => Promise.resolve(true) },
    surface: 'xmla',
    catalog: lake.catalog,
    searchPath: [],
  }
}

/** Its threads end with the process. */
export const evaluator = new MdxEvaluator()

/** Runs a statement. */
export function runAs(
  lake: Pick<Lake, 'app' | 'store' | 'tenant' | 'catalog'>,
  who: Reader,
  statement: string,
  request: Partial<MdxRequest> = {},
  options: Partial<MdxRunOptions> = {},
): Promise<MdxAnswer> {
  const parts = { store: lake.store, clock: systemClock, queries: lake.app.queries, evaluator }
  const { signal } = new AbortController()
  return runMdx(
    parts,
    contextOf(lake, who),
    { statement, format: 'multidimensional', session: [], ...request },
    { signal, ...options },
  )
}

/** The cellset of a statement. */
export async function cellsetAs(...given: Parameters<typeof runAs>): Promise<Cellset> {
  const answer = await runAs(...given)
  if (answer.kind !== 'cellset') throw new Error(answer.kind)
  return answer.cellset
}

/** Captions of an axis' tuples. */
export const captions = (axis: CellsetAxis | undefined) =>
  (axis?.tuples ?? []).map((tuple) => tuple.map(({ caption }) => caption).join('/'))

/** Values in rows, the first axis across; undefined for none. */
export function grid({ axes, cells }: Cellset): readonly (readonly unknown[])[] {
  const width = axes[0]?.tuples.length ?? 1
  const height = axes.slice(1).reduce((product, { tuples }) => product * tuples.length, 1)
  const byOrdinal = new Map(cells.map(({ ordinal, value }) => [ordinal, value]))
  return Array.from({ length: height }, (_, row) =>
    Array.from({ length: width }, (_column, column) => byOrdinal.get(row * width + column)),
  )
}

/** What a statement is refused with. */
export async function refusalAs(...given: Parameters<typeof runAs>): Promise<string> {
  try {
    await runAs(...given)
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
  return 'answered'
}
