/** Verdicts of a set of policies, and every reason for which there is none. */

import { afterAll, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy.ts'
import { PolicyEngine, type PolicyEngineOptions } from '../../src/policy/engine.ts'
import { isLongForm } from '../support/long-form.ts'
import { policy, sampleBindings, slowPolicyText, tenant, wideTable } from './bindings.ts'

const engines: PolicyEngine[] = []

function start(options: PolicyEngineOptions = {}): PolicyEngine {
  const engine = new PolicyEngine(options)
  engines.push(engine)
  return engine
}

function fixture(name: string): URL {
  return new URL(`./fixtures/${name}-worker.ts`, import.meta.url)
}

/** Waits on the event loop, not on a clock. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

afterAll(() => {
  for (const engine of engines) engine.close()
})

const engine = start()
const bindings = sampleBindings({ table: wideTable(400) })

/**
 * For workers that are broken on purpose: a trivial policy must never come near the inline bound, or a pause
 * of this thread would send it to the broken worker; the endless one is far beyond it on any machine.
 */
const broken = { inlineMs: 200, workerMs: 20, ticksMax: Number.MAX_SAFE_INTEGER }
const endlessText = 'table.snapshots.all(a, table.snapshots.all(b, a.snapshot_id >= 0))'
const wide = sampleBindings({ table: wideTable(20_000) })

/** What the slow policy needs of ticks: more than the default, so that it can also finish. */
const roomy = { inlineMs: 1, ticksMax: 1_000_000 }

test('allows with no outcomes where nothing is enforced', async () => {
  expect(await engine.judge(tenant, [], bindings)).toEqual({ kind: 'allow', outcomes: [] })
})

test('allows where every enforced policy is true', async () => {
  const policies = [policy('true'), policy('manifest.has_column(table, "id")')]
  const verdict = await engine.judge(tenant, policies, bindings)
  expect(verdict.kind).toBe('allow')
  expect(verdict.outcomes.map(({ policyId, value }) => [policyId, value])).toEqual(
    policies.map(({ id }) => [id, true]),
  )
})

test('denies with name and message of the first policy in id order that is false', async () => {
  const first = policy('false', { name: 'keep-id', message: 'Keep it.' })
  const second = policy('false', { name: 'later', message: 'Not this.' })
  const verdict = await engine.judge(tenant, [second, first], bindings)
  expect(verdict).toMatchObject({ kind: 'deny', reason: 'keep-id: Keep it.', policyId: first.id })
  expect(verdict.outcomes).toHaveLength(1)
})

test('denies with the name alone where the policy has no message', async () => {
  expect(await engine.judge(tenant, [policy('false', { name: 'keep-id' })], bindings)).toMatchObject({
    reason: 'keep-id',
  })
})

test('a denial earlier in id order outranks an error later, and the other way round', async () => {
  const denying = policy('false')
  const failing = policy('table.absent')
  const denyingLater = policy('false')
  expect((await engine.judge(tenant, [failing, denying], bindings)).kind).toBe('deny')
  expect(await engine.judge(tenant, [denyingLater, failing], bindings)).toMatchObject({
    kind: 'unavailable',
    error: 'ErrPolicyEval',
    policyId: failing.id,
  })
})

test('a policy that does not compile makes the verdict unavailable even behind a denial', async () => {
  const denying = policy('false')
  const broken = policy('tabel')
  expect(await engine.judge(tenant, [denying, broken], bindings)).toMatchObject({
    kind: 'unavailable',
    error: 'ErrPolicyCompile',
    policyId: broken.id,
  })
})

test('a long policy that does not compile is unavailable too', async () => {
  const broken = policy(`tabel || "${'x'.repeat(2_000)}" == ""`)
  expect(await engine.judge(tenant, [broken], bindings)).toMatchObject({
    kind: 'unavailable',
    error: 'ErrPolicyCompile',
  })
})

test('a long policy is parsed by the worker and judged like any other', async () => {
  const conditions = Array.from({ length: 100 }, (_, index) => `table.absent_${index} == 1`)
  const long = policy(`!(has(table.absent) && (${conditions.join(' || ')}))`)
  expect(long.definitionCel.length).toBeGreaterThan(1_024)
  expect((await engine.judge(tenant, [long], bindings)).kind).toBe('allow')
})

const unavailable: readonly (readonly [text: string, error: string])[] = [
  ['table.absent == 1', 'ErrPolicyEval'],
  ['table.properties.owner', 'ErrPolicyNonBool'],
  ['table.properties.comment', 'ErrPolicyNonBool'],
]

test.each(unavailable)('%s makes the verdict unavailable: %s', async (text, error) => {
  expect(await engine.judge(tenant, [policy(text)], bindings)).toMatchObject({ kind: 'unavailable', error })
})

test('a policy too slow for the HTTP thread is finished in the worker', async () => {
  const roomyEngine = start({ ...roomy, workerMs: 60_000 })
  const policies = [policy('true'), policy(slowPolicyText), policy('true')]
  const verdict = await roomyEngine.judge(tenant, policies, bindings)
  expect(verdict.kind).toBe('allow')
  expect(verdict.outcomes.map(({ value }) => value)).toEqual([true, true, true])
})

test('a denial behind a slow policy denies, with its explanation', async () => {
  const roomyEngine = start({ ...roomy, workerMs: 60_000 })
  const denying = policy('table.properties.owner == "sales"', { name: 'zz', message: 'no' })
  const slow = policy(slowPolicyText, { id: 'a' })
  const verdict = await roomyEngine.judge(tenant, [denying, slow], bindings)
  expect(verdict).toMatchObject({ kind: 'deny', reason: 'zz: no' })
  expect(verdict.outcomes.at(-1)?.explanation).toContain('table.properties.owner = "orders"')
})

test('a budget that is exhausted in the worker makes the verdict unavailable', async () => {
  const tight = start({ inlineMs: 1, ticksMax: 150_000, workerMs: 60_000 })
  expect(await tight.judge(tenant, [policy(`${slowPolicyText} || true`)], bindings)).toMatchObject({
    kind: 'unavailable',
    error: 'ErrPolicyBudget',
  })
})

test('a policy that the worker cuts off makes the verdict unavailable', async () => {
  const tight = start({ inlineMs: 1, workerMs: 20, ticksMax: Number.MAX_SAFE_INTEGER })
  const endless = policy(endlessText)
  await until(() => tight.ready())
  expect(await tight.judge(tenant, [endless], wide)).toMatchObject({
    kind: 'unavailable',
    error: 'ErrPolicyTimeout',
  })
})

test.each([
  ['dying', 'ErrEvalPanic'],
  ['throwing', 'ErrEvalPanic'],
  ['hanging', 'ErrPolicyTimeout'],
  ['lying', 'ErrEvalPanic'],
])('a %s worker makes the verdict unavailable (%s) and is replaced', async (name, error) => {
  // The others fail by what they do, however long that takes them.
  const workerMs = name === 'hanging' ? broken.workerMs : 60_000
  const host = start({ ...broken, workerMs, workerUrl: fixture(name) })
  await until(() => host.ready())
  const slow = policy(endlessText)
  for (let round = 0; round < 2; round++) {
    expect(await host.judge(tenant, [slow], wide)).toMatchObject({
      kind: 'unavailable',
      error,
      policyId: slow.id,
    })
    await until(() => host.ready())
  }
  expect((await host.judge(tenant, [policy('true')], wide)).kind).toBe('allow')
})

test('a worker that never comes up: not ready, slow policies unavailable, quick ones judged', async () => {
  const host = start({ ...broken, workerUrl: fixture('absent') })
  expect(await host.judge(tenant, [policy(endlessText)], wide)).toMatchObject({ kind: 'unavailable' })
  expect(host.ready()).toBe(false)
  expect((await host.judge(tenant, [policy('true')], wide)).kind).toBe('allow')
})

test('an exception inside evaluation is a panic that never leaves judge', async () => {
  const hostile = new Map<string, never>()
  hostile.get = () => {
    throw new TypeError('defect')
  }
  // Judged inline for certain: the worker's clone would lose the hostile accessor.
  const patient = start({ inlineMs: 5_000 })
  const verdict = await patient.judge(tenant, [policy('table.x == 1')], { ...bindings, table: hostile })
  expect(verdict).toMatchObject({ kind: 'unavailable', error: 'ErrEvalPanic' })
})

test('warn and shadow policies are recorded after the verdict and never alter it', async () => {
  const policies: Policy[] = [
    policy('false', { mode: 'warn', id: 'a' }),
    policy('tabel', { mode: 'shadow', id: 'b' }),
    policy('table.absent', { mode: 'warn', id: 'c' }),
    policy('true', { mode: 'shadow', id: 'd' }),
    policy('true', { id: 'z' }),
  ]
  const verdict = await engine.judge(tenant, policies, bindings)
  expect(verdict.kind).toBe('allow')
  expect(
    verdict.outcomes.map(({ policyId, mode, value, error }) => [policyId, mode, value ?? error]),
  ).toEqual([
    ['z', 'enforce', true],
    ['a', 'warn', false],
    ['b', 'shadow', 'ErrPolicyCompile'],
    ['c', 'warn', 'ErrPolicyEval'],
    ['d', 'shadow', true],
  ])
})

test('warn and shadow policies cannot turn a denial around', async () => {
  const verdict = await engine.judge(tenant, [policy('true', { mode: 'warn' }), policy('false')], bindings)
  expect(verdict.kind).toBe('deny')
  expect(verdict.outcomes.map(({ mode }) => mode)).toEqual(['enforce', 'warn'])
})

test('shadow policies of a dead worker leave the verdict alone', async () => {
  const host = start({ ...broken, workerMs: 60_000, workerUrl: fixture('dying') })
  const verdict = await host.judge(tenant, [policy(endlessText, { mode: 'shadow' }), policy('true')], wide)
  expect(verdict.kind).toBe('allow')
  expect(verdict.outcomes.map(({ value, error }) => value ?? error)).toEqual([true, 'ErrEvalPanic'])
})

test('a mode that this build does not know is enforced', async () => {
  const strange = policy('false', { mode: 'observe' as never })
  expect((await engine.judge(tenant, [strange], bindings)).kind).toBe('deny')
})

test('a changed text under the same id is compiled again', async () => {
  const before = policy('true', { id: 'same' })
  expect((await engine.judge(tenant, [before], bindings)).kind).toBe('allow')
  expect((await engine.judge(tenant, [{ ...before, definitionCel: 'false' }], bindings)).kind).toBe('deny')
  expect((await engine.judge(tenant, [before], bindings)).kind).toBe('allow')
})

test('verdicts stay right where the cache is smaller than the set of policies', async () => {
  const tiny = start({ cacheCount: 1 })
  const policies = [policy('true'), policy('true'), policy('false')]
  for (let round = 0; round < 3; round++)
    expect((await tiny.judge(tenant, policies, bindings)).kind).toBe('deny')
})

test('a closed engine is not ready and gives no verdict', async () => {
  const closed = start()
  await until(() => closed.ready())
  closed.close()
  expect(closed.ready()).toBe(false)
  expect((await closed.judge(tenant, [policy('true')], bindings)).kind).toBe('unavailable')
})

test('closing fails what the worker still runs', async () => {
  const closing = start({ inlineMs: 1, workerUrl: fixture('hanging'), ticksMax: 1_000_000 })
  await until(() => closing.ready())
  const pending = closing.judge(tenant, [policy(slowPolicyText)], bindings)
  closing.close()
  expect((await pending).kind).toBe('unavailable')
})

test('judges many commits at once, each with its own bindings', async () => {
  const roomyEngine = start({ ...roomy, workerMs: 60_000 })
  const slow = policy(`${slowPolicyText} && principal.role(principal, "writer")`)
  const count = isLongForm ? 6 : 3
  const verdicts = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      roomyEngine.judge(
        tenant,
        [slow],
        sampleBindings({ table: wideTable(300), roles: index % 2 === 0 ? ['writer'] : [] }),
      ),
    ),
  )
  expect(verdicts.map(({ kind }): string => kind)).toEqual(
    ['allow', 'deny', 'allow', 'deny', 'allow', 'deny'].slice(0, count),
  )
})
