/** When facts of a commit's manifests are read for policies, and what comes of it where they cannot be. */

import { afterAll, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy.ts'
import { PolicyEngine } from '../../src/policy/engine.ts'
import { type ManifestFacts, noManifestFacts } from '../../src/policy/manifest-facts.ts'
import { policy, sampleBindings, slowPolicyText, tenant, wideTable } from './bindings.ts'

const engine = new PolicyEngine({ inlineMs: 1, ticksMax: 1_000_000 })
afterAll(() => engine.close())

const bindings = sampleBindings({ roles: ['lead'] })
const some: ManifestFacts = {
  values: { ...noManifestFacts.values, added_files: 2n, added_rows: 20n },
}
const unread: ManifestFacts = { values: {}, problem: 'a file is not there' }

async function judge(policies: readonly Policy[], facts = some, seen = bindings) {
  let reads = 0
  const verdict = await engine.judge(tenant, policies, seen, async () => {
    reads++
    return facts
  })
  return { verdict, reads }
}

test('facts are ints and bools of the commit', async () => {
  const text =
    'manifest.added_files(commit) == 2 && manifest.added_rows(commit) / 10 == 2 && !manifest.is_rollback(commit) && manifest.deleted_files(commit) + manifest.added_delete_files(commit) + manifest.outside_files(commit) == 0'
  expect((await judge([policy(text)])).verdict.kind).toBe('allow')
})

test('nothing is read where no policy asks, or where the answer does not matter', async () => {
  const asks = 'manifest.is_rollback(commit)'
  for (const text of ['true', `principal.role(principal, "lead") || ${asks}`, `false && ${asks}`])
    expect((await judge([policy(text)])).reads).toBe(0)
})

test('nothing is read where an earlier policy denies', async () => {
  const { verdict, reads } = await judge([policy('false'), policy('manifest.added_files(commit) > 0')])
  expect([verdict.kind, reads]).toEqual(['deny', 0])
})

test('facts are read once for all policies of a commit, recorded ones included', async () => {
  const asks = 'manifest.added_files(commit) == 2'
  const shadow = policy(asks, { mode: 'shadow' })
  const { verdict, reads } = await judge([policy(asks), policy('true'), policy(`!(${asks})`), shadow])
  expect([verdict.kind, reads]).toEqual(['deny', 1])
  expect(verdict.outcomes.map(({ value }) => value)).toEqual([true, true, false, true])
})

test('policies that run in the worker see the facts', async () => {
  const text = `(${slowPolicyText}) && manifest.added_files(commit) == 2`
  const { verdict } = await judge([policy(text)], some, sampleBindings({ table: wideTable(400) }))
  expect(verdict.kind).toBe('allow')
})

test('a fact that could not be read is no verdict, by a code of its own and with the reason', async () => {
  const asking = policy('manifest.deleted_files(commit) == 0')
  const { verdict } = await judge([asking], unread)
  expect(verdict).toMatchObject({
    kind: 'unavailable',
    error: 'ErrManifestRead',
    policyId: asking.id,
    detail: 'a file is not there',
    outcomes: [{ error: 'ErrManifestRead', explanation: 'a file is not there' }],
  })
})

test('a fact that is known decides although others could not be read', async () => {
  const text = 'manifest.deleted_files(commit) == 0 && !manifest.is_rollback(commit)'
  const partly: ManifestFacts = { values: { is_rollback: true }, problem: 'a file is not there' }
  expect((await judge([policy(text)], partly)).verdict.kind).toBe('deny')
})

test('a shadow policy whose facts cannot be read does not alter the verdict', async () => {
  const { verdict } = await judge([policy('manifest.is_rollback(commit)', { mode: 'shadow' })], unread)
  expect(verdict).toMatchObject({ kind: 'allow', outcomes: [{ error: 'ErrManifestRead' }] })
})

test('without a reader a policy that asks gets no verdict, whatever its mode', async () => {
  for (const mode of ['enforce', 'shadow'] as const) {
    const verdict = await engine.judge(tenant, [policy('manifest.is_rollback(commit)', { mode })], bindings)
    expect(verdict).toMatchObject({ kind: 'unavailable', error: 'ErrManifestRead' })
  }
})

test('a policy that fails for another reason stays a failure of its own where all facts were read', async () => {
  const { verdict } = await judge([policy('manifest.added_files(commit) == 2 && table.no_such_key == 1')])
  expect(verdict).toMatchObject({ kind: 'unavailable', error: 'ErrPolicyEval' })
})

test('no text that a policy reads stands for the facts', async () => {
  for (const text of ['"@manifest" in commit', 'commit["@manifest"].is_rollback == false'])
    expect((await judge([policy(text)])).reads).toBe(0)
})
