/** What a job said of its inputs ends when a later run of it says otherwise, whatever the order of arrival. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { type ReceivedEvent, receiveLineage } from '../../src/store/lineage/events.ts'
import { lineageAround } from '../../src/store/lineage/graph.ts'
import { type RetiredSubject, restoreLineage, retireLineage } from '../../src/store/lineage/retirements.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { actorOf } from '../support/actor.ts'
import { lake, producer } from '../support/lineage.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { consumersOf, eventOf, graphOf, type Said } from './said-runs.ts'

let store: TestStore
let tenant: TenantId
beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'taken back' })).id
}, 300_000)
afterAll(() => store[Symbol.asyncDispose]())

const at = (hour: number) => `2026-03-01T${String(hour).padStart(2, '0')}:00:00Z`
const stella = actorOf('stella')
const id = () => crypto.randomUUID()

/** Names of one test, so that all share a tenant. */
function named(prefix: string) {
  const own = (name: string) => `${prefix}-${name}`
  const event = (said: Omit<Said, 'run'> & { run?: string }): ReceivedEvent =>
    eventOf({
      ...{ ...said, run: said.run ?? id(), job: own(said.job ?? 'job') },
      reads: (said.reads ?? []).map(own),
      writes: Object.fromEntries(
        Object.entries(said.writes ?? {}).map(([name, columns]) => [own(name), columns]),
      ),
    })
  return {
    own,
    event,
    send: async (...all: Parameters<typeof event>[0][]) => {
      const outcomes = []
      for (const said of all) outcomes.push(...(await receiveLineage(store, tenant, [event(said)], true)))
      return outcomes.map(({ kind }) => kind)
    },
    edges: async () =>
      (await graphOf(store, tenant))
        .filter((edge) => edge.startsWith(`${prefix}-`))
        .map((edge) => edge.replaceAll(`${prefix}-`, '')),
    consumers: async () =>
      (await consumersOf(store, tenant))
        .filter((edge) => edge.startsWith(`${prefix}-`))
        .map((edge) => edge.replaceAll(`${prefix}-`, '')),
  }
}

describe('a job', () => {
  test('that only reads is the consumer of what it reads, and one that only writes makes no consumer', async () => {
    const { send, consumers } = named('reader')
    await send({ at: at(1), reads: ['a'] }, { at: at(1), job: 'other', writes: { b: {} } })
    expect(await consumers()).toEqual(['a < job'])
  })

  test('whose complete run lists an input no longer has no edge from it', async () => {
    const { send, edges, consumers } = named('ended')
    await send(
      { at: at(1), reads: ['a', 'g'], writes: { h: {} } },
      { at: at(2), reads: ['a'], writes: { h: {} } },
    )
    expect(await edges()).toEqual(['a -> h'])
    expect(await consumers()).toEqual(['a < job'])
  })

  test('keeps its edges where the later run failed, is not complete, or writes something else', async () => {
    const { send, edges } = named('kept')
    await send(
      { at: at(1), reads: ['a', 'g'], writes: { h: {} } },
      { at: at(2), type: 'FAIL', reads: ['a'], writes: { h: {} } },
      { at: at(3), type: 'RUNNING', reads: ['a'], writes: { h: {} } },
      { at: at(4), reads: ['a'], writes: { i: {} } },
    )
    expect(await edges()).toEqual(['a -> h', 'a -> i', 'g -> h'])
  })

  test('that said otherwise later is not overruled by an earlier run that comes late', async () => {
    const { send, edges, consumers } = named('late')
    await send(
      { at: at(2), reads: ['a'], writes: { h: {} } },
      { at: at(1), reads: ['a', 'g'], writes: { h: {} } },
    )
    expect(await edges()).toEqual(['a -> h'])
    expect(await consumers()).toEqual(['a < job'])
  })

  test('does not end what another job draws, and what it said of columns goes', async () => {
    const { send, edges } = named('two jobs')
    await send(
      { at: at(1), job: 'one', reads: ['g'], writes: { h: { x: ['two jobs-g.id'] } } },
      { at: at(1), job: 'two', reads: ['g'], writes: { h: {} } },
      { at: at(2), job: 'one', reads: ['a'], writes: { h: {} } },
    )
    expect(await edges()).toEqual(['a -> h', 'g -> h'])
    await send({ at: at(2), job: 'two', reads: ['a'], writes: { h: {} } })
    expect(await edges()).toEqual(['a -> h'])
  })

  test('no longer refuses the right edge by a wrong one that is gone', async () => {
    const { send, edges } = named('right')
    expect(
      await send(
        { at: at(1), reads: ['g'], writes: { h: {} } },
        { at: at(2), job: 'right', reads: ['h'], writes: { g: {} } },
        { at: at(3), reads: ['a'], writes: { h: {} } },
        { at: at(4), job: 'right', reads: ['h'], writes: { g: {} } },
      ),
    ).toEqual(['merged', 'refused', 'merged', 'merged'])
    expect(await edges()).toEqual(['a -> h', 'h -> g'])
  })
})

test('a walk shows the edges of a time, and not those of another', async () => {
  const { send, own } = named('as of')
  await send({ at: at(1), reads: ['g'], writes: { h: {} } }, { at: at(3), reads: ['a'], writes: { h: {} } })
  const walk = async (asOf?: Date) => {
    const page = await lineageAround(store, tenant, {
      ...{ start: { kind: 'dataset', namespace: lake, name: own('h') }, direction: 'upstream', depth: 2 },
      ...(asOf && { asOf }),
    })
    return page?.items.flatMap(({ label, from }) => (label === 'LINEAGE_OF' ? [from.name] : []))
  }
  expect(await walk()).toEqual([own('a')])
  expect(await walk(new Date(at(2)))).toEqual([own('g')])
  expect(await walk(new Date(at(3)))).toEqual([own('a')])
  expect(await walk(new Date('2026-03-01T00:30:00Z'))).toEqual([])
})

describe('what a job says of columns', () => {
  const retire = async (subject: RetiredSubject) =>
    (await retireLineage(store, tenant, { subject, reason: 'It was wrong.' }, stella)) ?? ''
  const name = (text: string) => ({ namespace: lake, name: text })

  test('while an edge is taken back stands once it is restored', async () => {
    const { send, edges, own } = named('aside')
    await send({ at: at(1), reads: ['a'], writes: { b: {} } })
    const retirement = await retire({ edge: { from: name(own('a')), to: name(own('b')) } })
    await send({ at: at(2), reads: ['a'], writes: { b: { x: ['aside-a.id'] } } })
    expect(await edges()).toEqual([])
    await restoreLineage(store, tenant, retirement, stella)
    expect(await edges()).toEqual(['a -> b id>x'])
  })

  test('in a run that is taken back counts for nothing until it is restored', async () => {
    const { send, edges } = named('unsaid')
    const run = id()
    const said = (column: string) => ({ reads: ['a'], writes: { b: { [column]: ['unsaid-a.id'] } } })
    await send({ at: at(1), ...said('right') }, { run, at: at(2), type: 'START', ...said('wrong') })
    expect(await edges()).toEqual(['a -> b id>wrong'])
    const retirement = await retire({ run: { producer, runId: run } })
    await send({ run, at: at(3), ...said('late') })
    expect(await edges()).toEqual(['a -> b id>right'])
    await restoreLineage(store, tenant, retirement, stella)
    expect(await edges()).toEqual(['a -> b id>late id>wrong'])
  })
})

test('an event that waited while its run was taken back draws nothing', async () => {
  const { event, edges } = named('waited')
  const run = id()
  const waiting = event({ run, reads: ['a'], writes: { b: {} } })
  await receiveLineage(store, tenant, [waiting], false)
  const subject = { run: { producer, runId: run } }
  await retireLineage(store, tenant, { subject, reason: 'It was wrong.' }, stella)
  await receiveLineage(store, tenant, [waiting], true)
  expect(await edges()).toEqual([])
})
