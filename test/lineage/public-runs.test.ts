/**
 * What public producers sent, as their projects record it: which pairs of datasets and of columns the graph has of it. A
 * foreign tenant has runs of the same datasets, the other way round.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { type ReceivedEvent, receiveLineage } from '../../src/store/lineage/events.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { seededRandom } from './model.ts'
import { eventsOf, type PublicRun, pairsOf, publicRuns, splitEvents } from './public-runs.ts'
import { diceOf } from './random-runs.ts'

setDefaultTimeout(300_000)

const runs = publicRuns()
let store: TestStore
let whole: TenantId
let apart: TenantId
beforeAll(async () => {
  store = await openTestStore()
  const tenant = async (name: string) => (await createTenant(store, { name })).id
  const foreign = await tenant('foreign')
  ;[whole, apart] = [await tenant('whole'), await tenant('apart')]
  const some = runs.filter(({ events }) => events.every(({ type }) => type !== 'DATASET')).slice(0, 40)
  const reversed = some.map((run) => ({
    ...run,
    events: run.events.map(({ type, in: reads = [], out: writes = [] }) => ({
      type,
      in: writes,
      out: reads,
    })),
  }))
  await receive(foreign, allEvents(reversed))
})
afterAll(() => store[Symbol.asyncDispose]())

const allEvents = (of: readonly PublicRun[]) => of.flatMap((run, hour) => eventsOf(run, hour))
async function receive(tenant: TenantId, events: readonly ReceivedEvent[]): Promise<readonly string[]> {
  const kinds: string[] = []
  for (let at = 0; at < events.length; at += 64) {
    const outcomes = await receiveLineage(store, tenant, events.slice(at, at + 64), true)
    kinds.push(...outcomes.map(({ kind }) => kind))
  }
  return kinds
}

interface Edge {
  readonly pair: string
  readonly columns: readonly { readonly input: string; readonly output: string | null }[] | null
}

/** Edges that are there, and those that a later run of the same job ended, if asked for. */
async function graphOf(tenant: TenantId, ended = false) {
  const name = (node: string) =>
    `((${node}.properties::text::jsonb ->> 'namespace') || '|' || (${node}.properties::text::jsonb ->> 'name'))`
  const edges = await store.tenantQuery<Edge>(
    tenant,
    `select ${name('a')} || ' > ' || ${name('b')} as pair, e.properties::text::jsonb -> 'columns' as columns
     from (select start_id, end_id, properties from "LINEAGE_OF"
       union all select start_id, end_id, properties from lineage_past where label = 'LINEAGE_OF' and ${ended}) e
     join "Dataset" a on a.id = e.start_id join "Dataset" b on b.id = e.end_id`,
  )
  const columns = edges.flatMap(({ pair, columns: of }) => {
    const [from, to] = pair.split(' > ')
    return (of ?? []).map(({ input, output }) => `${from}.${input} > ${to}.${output ?? ''}`)
  })
  return { pairs: sorted(edges.map(({ pair }) => pair)), columns: sorted(columns) }
}
const sorted = (texts: readonly string[]) => [...new Set(texts)].sort()
const sum = (of: 'pairs' | 'columns' | 'inPlace') => sorted(runs.flatMap((run) => [...pairsOf(run)[of]]))

describe('the runs that public producers record', () => {
  const kinds = [/CTAS/, /Merge/, /Overwrite/, /[/]dbt[/]/, /[/]flink/, /[/]hive/, /marquez/]
  test.each(kinds)('are of %p too', (kind) => {
    const pairs = runs.flatMap((run) => (kind.test(run.from) ? [...pairsOf(run).pairs] : []))
    expect(pairs.length).toBeGreaterThan(0)
  })

  test('are all received', async () => {
    expect(sorted(await receive(whole, allEvents(runs)))).toEqual(['merged'])
  })

  test('have every pair of datasets in the graph, and no other', async () => {
    const { pairs } = await graphOf(whole, true)
    expect(pairs).toEqual(sum('pairs'))
    expect(pairs.length).toBe(232)
  })

  test('have the pairs of columns in the graph of which a run reads the input, and no other', async () => {
    const { columns } = await graphOf(whole, true)
    expect(columns).toEqual(sum('columns'))
    const unread = runs.flatMap((run) => [...pairsOf(run).unread].map(() => run.from))
    expect(columns.length / (columns.length + unread.length)).toBeGreaterThan(0.96)
    // No event of the run reads the dataset that the column is said to come from.
    expect(sorted(unread)).toEqual([
      'OpenLineage integration/spark/cli/tests/test_failing/example_failing',
      'OpenLineage website/docs/integrations/openlineage_compatibility/compatibility_test/reusable_actions_and_common_scripts.md',
      'OpenLineage website/docs/spec/examples.md',
      'marquez docker/metadata.template.json',
    ])
  })

  test('are written in place where a run reads what it writes, which is no edge', async () => {
    const rows = await store.tenantQuery<{ name: string }>(
      whole,
      `select (d.properties::text::jsonb ->> 'namespace') || '|' || (d.properties::text::jsonb ->> 'name') as name
       from "PRODUCED_BY" p join "Dataset" d on d.id = p.start_id
       where (p.properties::text::jsonb -> 'in_place')::bool`,
    )
    const names = sum('inPlace').map((pair) => pair.split(' > ')[1] ?? '')
    expect(rows.map(({ name }) => name).sort()).toEqual(names)
    expect(names.length).toBe(9)
  })

  test('have the jobs of their parents and roots above them: an Airflow DAG, a dbt command, a Spark application', async () => {
    const rows = await store.tenantQuery<{ edge: string }>(
      whole,
      `select (a.properties::text::jsonb ->> 'name') || ' > ' || (b.properties::text::jsonb ->> 'name') as edge
       from "PARENT_OF" p join "Job" a on a.id = p.start_id join "Job" b on b.id = p.end_id`,
    )
    const edges = runs.flatMap(({ job, parent, root }) => [
      ...(parent === undefined || parent === job ? [] : [`${parent} > ${job}`]),
      ...(parent === undefined || root === undefined || root === parent ? [] : [`${root} > ${parent}`]),
    ])
    expect(rows.map(({ edge }) => edge).sort()).toEqual(sorted(edges))
    expect(edges.length).toBeGreaterThan(40)
  })

  test('give the same graph where each event is several, some come again, and all come in any order', async () => {
    const dice = diceOf(seededRandom(46))
    const parts = allEvents(runs.map(splitEvents))
    const kinds = await receive(apart, dice.shuffled([...parts, ...dice.some(parts)]))
    expect(sorted(kinds)).toEqual(['merged', 'repeated'])
    expect(await graphOf(apart)).toEqual(await graphOf(whole))
  })
})
