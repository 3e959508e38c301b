/** Several replicas on one server: what the cycle check and the inbox guarantee under concurrency. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { LineageReceiver } from '../../src/lineage/receiver.ts'
import { sweepLineage } from '../../src/lineage/sweep.ts'
import { withReplicaLock } from '../../src/store/jobs/reconcile.ts'
import type { LineageOutcome } from '../../src/store/lineage/events.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { receivedEvent } from '../support/lineage.ts'
import { openTestStore, type TestStore, testSecretsKey } from '../support/store.ts'
import { distance, type Edge, seededRandom, shortestCycle } from './model.ts'
import { diceOf, expectedOf, randomRuns, splitRun } from './random-runs.ts'
import { consumersOf, eventOf, graphOf } from './said-runs.ts'

const server = process.env.SVC_TEST_DATABASE_URL

/** Resolves for everybody once `count` have come. */
function meetingOf(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>()
  let here = 0
  return () => {
    here++
    if (here === count) all.resolve()
    return all.promise
  }
}

/** A store whose first statement is held between its answer and its commit. */
function holdingFirst(store: Store, meet: () => Promise<void>): Store {
  let held = false
  return {
    ...store,
    tenantQuery(tenant, text, params, options) {
      if (held) return store.tenantQuery(tenant, text, params, options)
      held = true
      return store.tenantTransaction(
        tenant,
        async (tx) => {
          const rows = await tx.query<never>(text, params)
          await meet()
          return rows
        },
        options,
      )
    },
  }
}

// Skipped where SVC_TEST_DATABASE_URL names no server: the embedded database has one session only.
describe.skipIf(server === undefined)('replicas on one server', () => {
  let store: TestStore
  /** Each with a pool of its own, as another process has. */
  let replicas: readonly LineageReceiver[]
  const others: Store[] = []
  let tenant: TenantId
  const lines: string[] = []
  const log = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })

  beforeAll(async () => {
    store = await openTestStore()
    tenant = (await createTenant(store, { name: 'home' })).id
    const { databaseUrl } = store
    for (let i = 0; i < 3; i++)
      others.push(
        await openStore({
          databaseUrl,
          secretsKey: testSecretsKey,
          migrate: false,
          onNotice: () => {},
          poolMax: 4,
        }),
      )
    replicas = [store, ...others].map(
      (one) => new LineageReceiver({ store: one, metrics: createMetrics(), log }),
    )
  }, 300_000)
  afterAll(async () => {
    for (const one of others) await one.close()
    await store[Symbol.asyncDispose]()
  })

  const send = (replica: number, from: string, to: string, more: { runId?: string } = {}) =>
    (replicas[replica] as LineageReceiver).receive(
      tenant,
      receivedEvent({ inputs: [from], outputs: [to], ...more }),
    )
  const kinds = (outcomes: readonly LineageOutcome[]) => outcomes.map(({ kind }) => kind).sort()

  describe('from several sessions at once', () => {
    test.each([2, 3, 4])('of the %d edges of a cycle exactly one is refused', async (length) => {
      for (let round = 0; round < 15; round++) {
        const name = (i: number) => `ring${length}.${round}.${i % length}`
        const outcomes = await Promise.all(Array.from({ length }, (_, i) => send(i, name(i), name(i + 1))))
        expect({ round, kinds: kinds(outcomes) }).toEqual({
          round,
          kinds: [...Array(length - 1).fill('merged'), 'refused'],
        })
      }
    })

    test.each([2, 3])('all %d looked before one wrote, and one is refused all the same', async (length) => {
      for (let round = 0; round < 3; round++) {
        const name = (i: number) => `held${length}.${round}.${i % length}`
        // Nodes that are there already make nobody wait for another's insert.
        const nodes = Array.from({ length }, (_, i) => name(i))
        await replicas[0]?.receive(tenant, receivedEvent({ inputs: nodes }))
        const meet = meetingOf(length)
        const outcomes = await Promise.all(
          nodes.map((from, i) => {
            const { parts } = replicas[i] as LineageReceiver
            const held = new LineageReceiver({ ...parts, store: holdingFirst(parts.store, meet) })
            return held.receive(tenant, receivedEvent({ inputs: [from], outputs: [name(i + 1)] }))
          }),
        )
        expect({ round, kinds: kinds(outcomes) }).toEqual({
          round,
          kinds: [...Array(length - 1).fill('merged'), 'refused'],
        })
      }
    })

    test('random edges leave no short cycle, and what was refused would have closed one', async () => {
      const seed = 7
      const random = seededRandom(seed)
      const edges = Array.from({ length: 80 }, (): Edge => {
        const from = Math.floor(random() * 10)
        return [from, (from + 1 + Math.floor(random() * 9)) % 10]
      })
      const results = await Promise.all(
        edges.map(([from, to], i) => send(i % replicas.length, `random${from}`, `random${to}`)),
      )
      const of = (kind: LineageOutcome['kind']) => edges.filter((_, i) => results[i]?.kind === kind)
      const accepted = of('merged')
      expect({ seed, cycle: shortestCycle(accepted) > 6 }).toEqual({ seed, cycle: true })
      // No edge is ever removed, so the way that closed the cycle is still there.
      for (const [from, to] of of('refused')) expect(distance(accepted, to, from)).toBeLessThanOrEqual(5)
      expect(of('refused').length).toBeGreaterThan(10)
    })

    test('the same event is merged once, and differing events of one run are all kept', async () => {
      const runId = crypto.randomUUID()
      const same = receivedEvent({ runId, inputs: ['once1'], outputs: ['once2'] })
      const outcomes = await Promise.all(replicas.map((replica) => replica.receive(tenant, same)))
      expect(kinds(outcomes)).toEqual(['merged', 'repeated', 'repeated', 'repeated'])
      await Promise.all(replicas.map((_, i) => send(i, `once${i}`, 'once9', { runId })))
      const rows = await store.tenantQuery<{ n: string }>(
        tenant,
        `select count(*) as n from lineage_inbox where run_id = $1::uuid
       union all select count(*) from lineage_event where run_id = $1::uuid`,
        [runId],
      )
      expect(rows.map(({ n }) => Number(n))).toEqual([1, 4])
    })

    test.each([1, 2, 3])(
      'the events of random runs give the edges of one replica (seed %d)',
      async (seed) => {
        const own = (await createTenant(store, { name: `runs ${seed}` })).id
        const dice = diceOf(seededRandom(seed))
        const runs = randomRuns(dice, 12)
        const parts = runs.flatMap((run) => splitRun(run, dice))
        const events = dice.shuffled([...parts, ...dice.some(parts)]).map(eventOf)
        const outcomes = await Promise.all(
          events.map((event, i) => (replicas[i % replicas.length] as LineageReceiver).receive(own, event)),
        )
        expect(new Set(kinds(outcomes))).toEqual(new Set(['merged', 'repeated']))
        const graph = await graphOf(store, own)
        const { edges, consumers, ended } = expectedOf(runs)
        expect(graph.map((edge) => edge.split(' ').slice(0, 3).join(' '))).toEqual(edges)
        expect(await consumersOf(store, own)).toEqual(consumers)
        expect(ended).not.toEqual([])
      },
    )

    test('no merge failed for good', () => {
      expect(lines.join('')).not.toContain('could not be merged')
    })
  })

  test('several replicas sweep once', async () => {
    const chain = Array.from({ length: 7 }, (_, i) => [`long${i}`, `long${(i + 1) % 7}`] as const)
    for (const [from, to] of chain) await send(0, from, to)
    const entered = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const sweep = (replica: number, before: () => Promise<void>) => {
      const { parts } = replicas[replica] as LineageReceiver
      return withReplicaLock(parts.store, 'sweep-lineage', async (signal) => {
        await before()
        await sweepLineage(parts, signal)
      })
    }
    const first = sweep(0, async () => {
      entered.resolve()
      await release.promise
    })
    await entered.promise
    expect(await sweep(1, async () => {})).toBe(false)
    release.resolve()
    expect(await first).toBe(true)
    expect(await sweep(1, async () => {})).toBe(true)
    const rows = await store.tenantQuery<{ length: number }>(
      tenant,
      'select jsonb_array_length(datasets) as length from lineage_cycle',
    )
    expect(rows.map(({ length }) => length)).toEqual([7])
    expect(lines.join('').match(/the lineage graph holds a cycle/g)).toHaveLength(1)
  })

  test('an edge that is committed after a newer one was swept is swept too', async () => {
    const own = (await createTenant(store, { name: 'late' })).id
    const receive = (on: Store, from: string, to: string) =>
      new LineageReceiver({ store: on, metrics: createMetrics(), log }).receive(
        own,
        receivedEvent({ inputs: [from], outputs: [to] }),
      )
    for (let i = 0; i < 6; i++) await receive(store, `late${i}`, `late${i + 1}`)
    const drawn = Promise.withResolvers<void>()
    const commit = Promise.withResolvers<void>()
    const holding = holdingFirst(others[0] as Store, () => {
      drawn.resolve()
      return commit.promise
    })
    const closing = receive(holding, 'late6', 'late0')
    await drawn.promise
    await receive(store, 'elsewhere', 'nowhere')
    const parts = { store, metrics: createMetrics(), log }
    await sweepLineage(parts, new AbortController().signal)
    commit.resolve()
    expect(await closing).toEqual({ kind: 'merged' })
    await sweepLineage(parts, new AbortController().signal)
    expect(await store.tenantQuery(own, 'select 1 from lineage_cycle')).toHaveLength(1)
  })
})
