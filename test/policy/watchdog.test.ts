/** What time-outs bound: processor time where a machine may be busy, and never a verdict on a policy's text. */

import { expect, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import { WatchdogTimeout, watchedCpu } from '../../src/policy/watchdog.ts'

/** Uses next to no processor time, and ends only where it is cut off. */
function waitForever(): never {
  for (;;) Bun.sleepSync(5)
}

test('a job that got no processor time runs again', () => {
  let runs = 0
  const value = watchedCpu(() => {
    if (runs++ === 0) waitForever()
    return 'done'
  }, 20)
  expect([value, runs]).toEqual(['done', 2])
})

test('a job that uses up its processor time is cut off', () => {
  expect(() =>
    watchedCpu(() => {
      for (;;);
    }, 20),
  ).toThrow(WatchdogTimeout)
})

test('a job that never gets processor time is given up', () => {
  let runs = 0
  const wait = () => {
    runs++
    waitForever()
  }
  expect(() => watchedCpu(wait, 20)).toThrow(WatchdogTimeout)
  expect(runs).toBeGreaterThan(1)
})

test('what a job throws passes through', () => {
  const thrown = new Error('a fault of the job')
  expect(() =>
    watchedCpu(() => {
      throw thrown
    }, 20),
  ).toThrow(thrown)
})

test('an engine that is stopped and continued keeps no failure for a policy', async () => {
  const child = Bun.spawn(
    [process.execPath, fileURLToPath(new URL('fixtures/judging.ts', import.meta.url))],
    {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  await lines.read()
  // Each stop is longer than the parser may take, and most of them fall into a parse.
  for (let stop = 0; stop < 4; stop++) {
    child.kill('SIGSTOP')
    await Bun.spawn(['sleep', '0.7']).exited
    child.kill('SIGCONT')
  }
  await child.stdin.end()
  const { value = '' } = await lines.read()
  expect(JSON.parse(value)).toEqual({ again: [] })
  expect(await child.exited).toBe(0)
}, 60_000)
