/** A run is the sum of its events: however they are split, repeated and ordered, the graph is that of one event. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LineageEventType } from '../../src/core/lineage.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { type RetiredSubject, restoreLineage, retireLineage } from '../../src/store/lineage/retirements.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { actorOf } from '../support/actor.ts'
import { lake, producer } from '../support/lineage.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { seededRandom } from './model.ts'
import { diceOf, expectedOf, randomRuns, splitRun } from './random-runs.ts'
import { consumersOf, eventOf, graphOf, type Said } from './said-runs.ts'

let store: TestStore
beforeAll(async () => {
  store = await openTestStore()
}, 300_000)
afterAll(() => store[Symbol.asyncDispose]())

const newTenant = async (name: string) => (await createTenant(store, { name })).id

async function send(tenant: TenantId, ...said: readonly Said[]) {
  const outcomes = []
  for (const one of said) outcomes.push(...(await receiveLineage(store, tenant, [eventOf(one)], true)))
  return outcomes.map(({ kind }) => kind)
}

const stella = actorOf('stella')
const id = () => crypto.randomUUID()

describe('a run', () => {
  test('that reads in one event and writes in another has an edge, whichever comes first', async () => {
    const tenant = await newTenant('split')
    const [batch, stream] = [id(), id()]
    await send(tenant, { run: batch, type: 'START', reads: ['a'] }, { run: batch, writes: { b: {} } })
    await send(
      tenant,
      { run: stream, type: 'START', writes: { d: {} } },
      { run: stream, type: 'RUNNING', reads: ['c'] },
    )
    expect(await graphOf(store, tenant)).toEqual(['a -> b', 'c -> d'])
  })

  test('is not another run, nor the run of another producer or tenant', async () => {
    const [tenant, foreign] = [await newTenant('own'), await newTenant('foreign')]
    const run = id()
    await send(tenant, { run, type: 'START', reads: ['a'] }, { run: id(), writes: { b: {} } })
    await send(foreign, { run, writes: { c: {} } })
    const other = eventOf({ run, writes: { d: {} } })
    await receiveLineage(
      store,
      tenant,
      [{ ...other, event: { ...other.event, producer: 'urn:other' } }],
      true,
    )
    expect(await graphOf(store, tenant)).toEqual([])
    expect(await graphOf(store, foreign)).toEqual([])
  })

  test('writes in place what it reads in one event and writes in another', async () => {
    const tenant = await newTenant('in place')
    const run = id()
    await send(tenant, { run, type: 'START', writes: { a: {} } }, { run, reads: ['a'] })
    const rows = await store.tenantQuery<{ in_place: boolean }>(
      tenant,
      `select (properties::text::jsonb -> 'in_place')::bool as in_place from "PRODUCED_BY"`,
    )
    expect(await graphOf(store, tenant)).toEqual([])
    expect(rows).toEqual([{ in_place: true }])
  })

  test('has the columns of an input that another of its events names', async () => {
    const tenant = await newTenant('columns apart')
    const [first, second] = [id(), id()]
    await send(tenant, { run: first, reads: ['a'] }, { run: first, writes: { b: { x: ['a.id'] } } })
    await send(
      tenant,
      { run: second, writes: { d: { x: ['c.id', 'never.id'] } } },
      { run: second, reads: ['c'] },
    )
    expect(await graphOf(store, tenant)).toEqual(['a -> b id>x', 'c -> d id>x'])
  })

  test('that says the same columns in each of its events has each once', async () => {
    const tenant = await newTenant('said again')
    const run = id()
    const said = (type: LineageEventType, minute: number): Said => ({
      ...{ run, type, at: `2026-03-01T10:0${minute}:00Z`, reads: ['a'] },
      writes: { b: { x: ['a.id'], y: ['a.id'] } },
    })
    await send(tenant, said('START', 0), said('RUNNING', 1), said('RUNNING', 2), said('COMPLETE', 3))
    expect(await graphOf(store, tenant)).toEqual(['a -> b id>x id>y'])
  })

  test('that would close a cycle by two of its events is refused, and the others of its edges are drawn', async () => {
    const tenant = await newTenant('cycle')
    const run = id()
    await send(tenant, { run: id(), reads: ['a'], writes: { b: {} } })
    expect(await send(tenant, { run, type: 'START', reads: ['b', 'c'] }, { run, writes: { a: {} } })).toEqual(
      ['merged', 'refused'],
    )
    expect(await graphOf(store, tenant)).toEqual(['a -> b', 'c -> a'])
  })

  test('with too many edges is refused with their number', async () => {
    const tenant = await newTenant('too many')
    const run = id()
    const names = (letter: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${letter}${at}`)
    await send(tenant, { run, type: 'START', reads: names('in', 101) })
    const writes = Object.fromEntries(names('out', 100).map((name) => [name, {}]))
    const [outcome] = await receiveLineage(store, tenant, [eventOf({ run, writes })], true)
    expect(outcome).toEqual({
      kind: 'unbounded',
      reason: 'A run makes at most 10000 edges; this one has 101 inputs and 100 outputs.',
    })
    expect(await graphOf(store, tenant)).toEqual([])
  })
})

describe('columns of one pair', () => {
  test('are those of all its jobs', async () => {
    const tenant = await newTenant('jobs')
    await send(tenant, { run: id(), job: 'one', reads: ['a'], writes: { b: { x: ['a.id'] } } })
    await send(tenant, { run: id(), job: 'two', reads: ['a'], writes: { b: { y: ['a.id'], x: ['a.id'] } } })
    expect(await graphOf(store, tenant)).toEqual(['a -> b id>x id>y'])
  })

  test('are those of the latest run of a job', async () => {
    const tenant = await newTenant('latest run')
    const run = (at: string, column: string) => ({
      run: id(),
      at,
      reads: ['a'],
      writes: { b: { [column]: ['a.id'] } },
    })
    await send(tenant, run('2026-03-01T11:00:00Z', 'new'), run('2026-03-01T10:00:00Z', 'late'))
    expect(await graphOf(store, tenant)).toEqual(['a -> b id>new'])
  })

  test('are not held for ever by a clock that is ahead', async () => {
    const tenant = await newTenant('clock')
    const run = (at: string, column: string) => ({
      run: id(),
      at,
      reads: ['a'],
      writes: { b: { [column]: ['a.id'] } },
    })
    await send(tenant, run('9999-12-31T23:59:59Z', 'ahead'))
    const later = eventOf(run('2026-03-03T00:00:00Z', 'right'))
    const receivedAtMs = Date.parse('2026-03-03T00:00:01Z')
    await receiveLineage(store, tenant, [{ ...later, event: { ...later.event, receivedAtMs } }], true)
    expect(await graphOf(store, tenant)).toEqual(['a -> b id>right'])
  })
})

describe('the events of random runs, split, repeated and in any order', () => {
  const seeds = [1, 2, 3]
  const found = async (tenant: TenantId) => ({
    graph: await graphOf(store, tenant),
    consumers: await consumersOf(store, tenant),
  })
  const edgesOf = (graph: readonly string[]) => graph.map((edge) => edge.split(' ').slice(0, 3).join(' '))

  test.each(seeds)('give the graph of one event for each run (seed %p)', async (seed) => {
    const dice = diceOf(seededRandom(seed))
    const runs = randomRuns(dice, 12)
    const [once, apart] = [await newTenant(`whole ${seed}`), await newTenant(`apart ${seed}`)]
    await receiveLineage(store, once, runs.map(eventOf), true)
    const expected = expectedOf(runs)
    const { graph, consumers } = await found(once)
    expect(edgesOf(graph)).toEqual(expected.edges)
    expect(consumers).toEqual(expected.consumers)
    expect(expected.edges.length).toBeGreaterThan(3)
    expect(expected.ended.length).toBeGreaterThan(0)

    const parts = runs.flatMap((run) => splitRun(run, dice))
    const events = dice.shuffled([...parts, ...dice.some(parts)]).map(eventOf)
    while (events.length > 0) await receiveLineage(store, apart, events.splice(0, 1 + dice.below(5)), true)
    expect(await found(apart)).toEqual({ graph, consumers })
  })

  test.each(seeds)(
    'give it also where a steward takes back and restores between them (seed %p)',
    async (seed) => {
      const dice = diceOf(seededRandom(100 + seed))
      const runs = randomRuns(dice, 7)
      const [once, apart] = [await newTenant(`let be ${seed}`), await newTenant(`steward ${seed}`)]
      await receiveLineage(store, once, runs.map(eventOf), true)
      const kept = await found(once)

      const named = (name: string) => ({ namespace: lake, name })
      const subjects: readonly RetiredSubject[] = [
        ...edgesOf(kept.graph).map((edge) => {
          const [from = '', to = ''] = edge.split(' -> ')
          return { edge: { from: named(from), to: named(to) } }
        }),
        ...['n1', 'n5', 'n8'].map((name) => ({ dataset: named(name) })),
        ...runs.map(({ run }) => ({ run: { producer, runId: run } })),
      ]
      const retired: string[] = []
      let taken = 0
      const events = dice.shuffled(runs.flatMap((run) => splitRun(run, dice))).map(eventOf)
      for (const event of events) {
        await receiveLineage(store, apart, [event], true)
        const subject = subjects[dice.below(subjects.length)]
        if (subject === undefined) continue
        const id = await retireLineage(store, apart, { subject, reason: 'It was wrong.' }, stella)
        if (id !== undefined) retired.push(id)
        if (id !== undefined) taken++
        if (dice.below(3) > 0) continue
        for (const one of retired.splice(dice.below(retired.length + 1), 1))
          await restoreLineage(store, apart, one, stella)
      }
      for (const one of dice.shuffled(retired)) await restoreLineage(store, apart, one, stella)
      expect(taken).toBeGreaterThan(3)
      expect(await found(apart)).toEqual(kept)
    },
  )

  test.each(seeds)('give that of the others where runs stay taken back (seed %p)', async (seed) => {
    const dice = diceOf(seededRandom(200 + seed))
    const runs = randomRuns(dice, 10)
    const wrong = dice.some(runs)
    const tenant = await newTenant(`wrong ${seed}`)
    const events = dice.shuffled(runs.flatMap((run) => splitRun(run, dice))).map(eventOf)
    const open = new Set(wrong)
    for (const event of events) {
      await receiveLineage(store, tenant, [event], true)
      for (const one of dice.some([...open], 0.2)) {
        const subject = { run: { producer, runId: one.run } }
        if (await retireLineage(store, tenant, { subject, reason: 'It was wrong.' }, stella)) open.delete(one)
      }
    }
    for (const { run } of open)
      await retireLineage(
        store,
        tenant,
        { subject: { run: { producer, runId: run } }, reason: 'It was.' },
        stella,
      )
    const expected = expectedOf(runs.filter((run) => !wrong.includes(run)))
    const { graph, consumers } = await found(tenant)
    expect({ edges: edgesOf(graph), consumers }).toEqual({
      edges: expected.edges,
      consumers: expected.consumers,
    })
    expect(wrong.length).toBeGreaterThan(0)
  })
})
