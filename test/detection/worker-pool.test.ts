/** The pool survives its workers: crashes, exits and hangs fail the task that caused them and no other. */

import { afterEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { WorkerPool } from '../../src/detection/worker-pool.ts'
import { eventually } from '../support/eventually.ts'

let pool: WorkerPool | undefined
afterEach(() => pool?.close())

let restarts = 0
const open = (size: number, taskMs = 60_000, worker = 'moody-worker') => {
  restarts = 0
  pool = new WorkerPool({
    workerUrl: new URL(`fixtures/${worker}.ts`, import.meta.url),
    size,
    taskMs,
    onRestart: () => restarts++,
  })
  return pool
}
const task = (metadataLocation: string) => ({ metadataLocation, access: { roots: [], s3: undefined } })

test('is ready once a worker is up, and answers every task', async () => {
  const workers = open(2)
  expect([workers.ready, workers.size]).toEqual([false, 2])
  const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => workers.run(task(name))))
  expect(outcomes.map((outcome) => outcome.kind === 'failed' && outcome.reason)).toEqual([
    'a',
    'b',
    'c',
    'd',
    'e',
  ])
  expect([workers.ready, restarts]).toEqual([true, 0])
})

test.each(['crash', 'exit'])(
  'a worker that dies by %s fails its task, is replaced, and the rest goes on',
  async (mood) => {
    const workers = open(1)
    const outcomes = await Promise.all([mood, 'a', mood, 'b'].map((name) => workers.run(task(name))))
    expect(outcomes).toEqual([
      { kind: 'failed', reason: 'the worker crashed', passing: true },
      { kind: 'failed', reason: 'a', passing: false },
      { kind: 'failed', reason: 'the worker crashed', passing: true },
      { kind: 'failed', reason: 'b', passing: false },
    ])
    expect(restarts).toBe(2)
  },
)

test('a worker that hangs is ended after its time and replaced', async () => {
  const workers = open(1, 250)
  const [hung, after] = await Promise.all([workers.run(task('hang')), workers.run(task('a'))])
  expect(hung).toEqual({ kind: 'failed', reason: 'the scan took longer than 0.25 s', passing: true })
  expect(after).toEqual({ kind: 'failed', reason: 'a', passing: false })
})

test('one that never comes up leaves the pool unready and is tried again, not at once', async () => {
  const workers = open(1, 60_000, 'stillborn-worker')
  await eventually(async () => restarts > 0)
  expect([workers.ready, restarts]).toEqual([false, 1])
})

test('closing fails what waits and what comes after', async () => {
  const workers = open(1)
  const waiting = [workers.run(task('hang')), workers.run(task('a'))]
  workers.close()
  const stopped = { kind: 'failed', reason: 'the service is stopping', passing: true } as const
  expect(await Promise.all([...waiting, workers.run(task('b'))])).toEqual([stopped, stopped, stopped])
})

// Skipped where threads have no entries of their own in /proc.
test.skipIf(!existsSync('/proc/self/task'))(
  'a scan gives way to requests: its thread is nice, and no other',
  async () => {
    const threads = () => readdirSync('/proc/self/task').map(nicenessOf)
    const own = nicenessOf(String(process.pid))
    const before = threads().filter((niceness) => niceness === 15).length
    pool = new WorkerPool({
      workerUrl: new URL('../../src/detection/worker.ts', import.meta.url),
      size: 1,
      taskMs: 60_000,
      onRestart: () => {},
    })
    await pool.run(task('nowhere'))
    expect(threads().filter((niceness) => niceness === 15).length - before).toBeGreaterThan(0)
    expect(nicenessOf(String(process.pid))).toBe(own)
  },
)

/** The 19th field of a thread's stat, counted from behind its name. */
function nicenessOf(thread: string): number {
  try {
    return Number(
      readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[16],
    )
  } catch {
    // It ended meanwhile.
    return 0
  }
}
