/** The page for policy authors agrees with the code. */

import { expect, test } from 'bun:test'
import { policyErrorCodes } from '../../src/core/decision.ts'
import { policyKinds, policyModes } from '../../src/core/policy.ts'
import { limits } from '../../src/limits.ts'
import { checkPolicy } from '../../src/policy/check.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { evaluatePolicy } from '../../src/policy/evaluate.ts'
import { noManifestFacts, withManifestFacts } from '../../src/policy/manifest-facts.ts'
import { pageExamples, sampleBindings } from './bindings.ts'

const page = await Bun.file(new URL('../../docs/policies.md', import.meta.url)).text()
const blocks = [...page.matchAll(/```cel\n(.*?)\n```/gs)].map(([, text]) => text ?? '')

test('every block of the page is a named example', async () => {
  expect((await pageExamples()).map(({ text }) => text)).toEqual(blocks)
})

test.each(blocks)('the block %j of the page passes the check and allows a harmless commit', (text) => {
  expect(checkPolicy(text)).toEqual([])
  const sample = sampleBindings({ roles: ['orders-writer'], updates: [{ action: 'add-snapshot' }] })
  const bindings = { ...sample, commit: withManifestFacts(sample.commit, noManifestFacts) }
  expect(evaluatePolicy(compilePolicy(text), bindings, { timeoutMs: 1_000, ticksMax: 10_000 })).toBe(true)
})

test('the page names every kind, mode, error of evaluation and limit', () => {
  for (const name of [...policyKinds, ...policyModes]) expect(page).toContain(`\`${name}\``)
  for (const code of policyErrorCodes) if (code !== 'ErrPolicyLoad') expect(page).toContain(`\`${code}\``)
  const { policyTextBytesMax, policyNestingMax, policyNodesMax, policyDepthMax, policyTicksMax } = limits
  expect(page).toContain(`| Text | ${policyTextBytesMax / 1024} KiB |`)
  expect(page).toContain(`| Nested brackets | ${policyNestingMax} |`)
  expect(page).toContain(`${policyNodesMax.toLocaleString('en')} nodes, ${policyDepthMax} deep`)
  expect(page).toContain(`${policyTicksMax.toLocaleString('en')} ticks`)
  expect(page).toContain(`${limits.policyInlineMs} ms at once`)
  expect(page).toContain(`within ${limits.policyWorkerMs / 1000} s`)
})
