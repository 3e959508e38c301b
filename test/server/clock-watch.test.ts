/** The watch over this machine's clock: steps backwards, and differences to the clock of the database. */

import { describe, expect, test } from 'bun:test'
import { ClockWatch } from '../../src/server/clock-watch.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'

function watched() {
  const times = { machine: 1_800_000_000_000, monotonic: 5_000, database: 1_800_000_000_000, answerMs: 0 }
  const lines: { level: string; msg: string }[] = []
  const metrics = createMetrics()
  const watch = new ClockWatch({
    clock: { now: () => times.machine },
    monotonicMs: () => times.monotonic,
    async databaseMs() {
      pass(times.answerMs)
      return times.database
    },
    metrics,
    log: createLogger({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
  })
  /** Lets time pass on every clock. */
  const pass = (ms: number) => {
    times.machine += ms
    times.monotonic += ms
    times.database += ms
  }
  const value = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value
  return {
    times,
    pass,
    watch,
    said: () => lines.map(({ msg }) => msg),
    steps: () => value('svc_clock_backward_steps_total'),
    offset: () => value('svc_clock_offset_seconds'),
  }
}

describe('a step backwards', () => {
  test('is counted and logged once, however small against the time that has passed', async () => {
    const { times, pass, watch, said, steps } = watched()
    expect(await steps()).toBe(0)
    await watch.look()
    pass(10_000)
    times.machine -= 300
    times.database -= 300
    await watch.look()
    pass(10_000)
    await watch.look()
    expect(await steps()).toBe(1)
    expect(said()).toEqual(['the clock of this machine was set back'])
  })

  test('is found although the database does not answer', async () => {
    const { times, pass, watch, steps } = watched()
    await watch.look()
    pass(10_000)
    times.machine -= 5_000
    Object.assign(watch.parts, {
      databaseMs: async () => {
        throw new Error('no database')
      },
    })
    expect(await watch.look().catch(String)).toBe('Error: no database')
    expect(await steps()).toBe(1)
  })

  test('is neither a step forwards nor a clock that is slowed down to be corrected', async () => {
    const { times, pass, watch, said, steps } = watched()
    await watch.look()
    for (const driftMs of [60_000, -5, -5, -5]) {
      pass(10_000)
      times.machine += driftMs
      times.database += driftMs
      await watch.look()
    }
    expect(await steps()).toBe(0)
    expect(said()).toEqual([])
  })
})

describe('a difference to the clock of the database', () => {
  test.each([
    ['ahead', 5_001],
    ['behind', -5_001],
  ])('of more than five seconds is logged once (%s), and so is its end', async (_, differenceMs) => {
    const { times, pass, watch, said, offset } = watched()
    times.database -= differenceMs
    await watch.look()
    pass(10_000)
    await watch.look()
    expect(await offset()).toBeCloseTo(differenceMs / 1_000)
    times.database += differenceMs
    await watch.look()
    expect(await offset()).toBe(0)
    expect(said()).toEqual([
      'the clock of this machine differs from the clock of the database',
      'the clock of this machine agrees with the clock of the database again',
    ])
  })

  test('of five seconds is none, and neither is the time that a slow answer took', async () => {
    const { times, watch, said, offset } = watched()
    times.database -= 5_000
    await watch.look()
    times.database += 5_000
    times.answerMs = 20_000
    await watch.look()
    expect(await offset()).toBe(-10)
    expect(said()).toEqual([])
  })
})
