import { describe, expect, test } from 'bun:test'
import { memoryShares, openBudget, planMemory } from '../../src/app/open-budget.ts'
import { Fault } from '../../src/base/fault.ts'
import { parseConfig } from '../../src/config.ts'
import { limits } from '../../src/limits.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

describe('memory is divided', () => {
  test.each([1, 2, 4, 16, 64])('so that nothing is counted twice: %i GiB', (gibibytes) => {
    const total = gibibytes * GiB
    const { budgetBytes, engineBytes, requestBytes } = planMemory(total, undefined)
    expect(budgetBytes + memoryShares.processBytes).toBeLessThan(total)
    expect(requestBytes + engineBytes).toBeLessThan(budgetBytes)
    // A commit of the largest size fits beside the engine.
    const commit = limits.commitBodyBytesMax * (1 + limits.parsedBytesPerByte)
    expect(requestBytes).toBeGreaterThan(commit)
  })

  test.each([
    [1, 256],
    [4, 1_024],
    [64, 2_048],
  ])('with a share for the engine: of %i GiB %i MiB', (gibibytes, mebibytes) => {
    expect(planMemory(gibibytes * GiB, undefined).engineBytes).toBe(mebibytes * MiB)
  })

  test('with what a setting gives the engine', () => {
    expect(planMemory(8 * GiB, 4 * GiB).engineBytes).toBe(4 * GiB)
  })

  test('with room for a database of the catalog from 2 GiB on, and below that with why there is none', () => {
    expect(planMemory(2 * GiB, undefined).catalogRefusal).toBeUndefined()
    expect(planMemory(GiB, undefined).catalogRefusal).toContain('1024 MiB are left. Give it 2 GiB')
  })

  test('and refused where too little is left for requests, with what to do', () => {
    const refusal = () => planMemory(2 * GiB, 2 * GiB)
    expect(refusal).toThrow(Fault)
    expect(refusal).toThrow(
      'SVC_MEMORY_MB: 2048 MiB of memory are too few beside 2048 MiB of the read engine. Give the process more, or lower SVC_READ_MEMORY_MB (docs/sizing.md).',
    )
  })
})

test('the setting decides over what the machine has, the bound is in metrics, and nothing is held yet', async () => {
  const metrics = createMetrics()
  const config = parseConfig({ SVC_MEMORY_MB: '2048', SVC_READ_MEMORY_MB: '300' })
  const { budget, engineBytes } = openBudget(config, metrics, { warn: () => {} })
  expect(engineBytes).toBe(300 * MiB)
  expect(budget.held('engine')).toBe(0)
  const bound = 2_048 * MiB * (1 - 1 / memoryShares.allocatorShare) - memoryShares.processBytes
  expect(await metrics.registry.metrics()).toContain(`svc_memory_bound_bytes ${bound}`)
})
