/** The explanation that a steward gets for a policy that was not true. */

import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/compile.ts'
import { explainPolicy } from '../../src/policy/explain.ts'
import { sampleBindings, slowPolicyText, wideTable } from './bindings.ts'

function explain(text: string, bindings = sampleBindings()): string | undefined {
  return explainPolicy(compilePolicy(text), bindings, 1_000)
}

test('names the operand of && that is false and the value it saw', () => {
  expect(explain('has(table.properties) && table.properties.owner == "sales" && true')).toBe(
    'table.properties.owner == "sales" is false\ntable.properties.owner = "orders"',
  )
})

test('names the first element for which all() is not true', () => {
  expect(explain('table.snapshots.all(s, s.snapshot_id != 3)')).toBe(
    's.snapshot_id != 3 is false\ns.snapshot_id = 3',
  )
})

test('follows the branch that a conditional took', () => {
  expect(explain('table.properties.owner == "orders" ? principal.sub == "x" : true')).toContain(
    'principal.sub = "spark@example.com"',
  )
})

test('shows the roles that a principal has', () => {
  const text = explain('principal.role(principal, "writer")', sampleBindings({ roles: ['reader'] }))
  expect(text).toContain('principal.role(principal, "writer") is false')
  expect(text).toContain('roles: ["reader"]')
})

test('says what an error was', () => {
  expect(explain('true && table.absent == 1')).toContain('field not found: absent')
})

test('stays within 2 KiB whatever the values are', () => {
  const huge = {
    properties: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 'v'.repeat(500)])),
  }
  const comparisons = Array.from({ length: 20 }, (_, i) => `table.properties.k${i}`).join(' + ')
  const text = explain(`${comparisons} + "${'w'.repeat(3_000)}" == "x"`, sampleBindings({ table: huge }))
  expect(text?.length).toBeGreaterThan(500)
  expect(text?.length).toBeLessThanOrEqual(2_048)
})

test('gives none where explaining would take more than its budget', () => {
  expect(explain(`!(${slowPolicyText})`, sampleBindings({ table: wideTable(1_000) }))).toBeUndefined()
})
