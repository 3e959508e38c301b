/** Places of the engine: a tenant with many queries waiting delays no other. */

import { expect, test } from 'bun:test'
import { Gate, type Leave } from '../../../src/engine/duckdb/gate.ts'

const never = new AbortController().signal

test('the query of a tenant comes before the backlog of another tenant', async () => {
  const gate = new Gate(1, 100)
  const first = await gate.enter('busy', never)
  const order: string[] = []
  const enter = async (tenant: string) => {
    const leave = await gate.enter(tenant, never)
    order.push(tenant)
    leave()
  }
  const waiting = [...Array.from({ length: 50 }, () => 'busy'), 'quiet'].map(enter)
  first()
  await Promise.all(waiting)
  expect(order.indexOf('quiet')).toBe(1)
})

test('a tenant that fills the queue is refused, and another one still waits in it', async () => {
  const gate = new Gate(1, 2)
  const leaves: Promise<Leave>[] = [gate.enter('busy', never)]
  for (let count = 0; count < 2; count++) leaves.push(gate.enter('busy', never))
  const code = async (work: Promise<unknown>) =>
    await work.then(
      () => 'entered',
      (error: { code: string }) => error.code,
    )
  expect(await code(gate.enter('busy', never))).toBe('53300')
  const quiet = gate.enter('quiet', never)
  expect(gate.load).toEqual({ taken: 1, waiting: 3 })
  ;(await leaves[0])?.()
  ;(await leaves[1])?.()
  expect(await code(quiet)).toBe('entered')
})

test('who gives up while waiting leaves its place in the queue', async () => {
  const gate = new Gate(1, 10)
  const leave = await gate.enter('a', never)
  const stop = new AbortController()
  const given = gate.enter('a', stop.signal).catch(() => 'gave up')
  stop.abort(new Error('gone'))
  expect(await given).toBe('gave up')
  expect(gate.load).toEqual({ taken: 1, waiting: 0 })
  leave()
  expect(gate.load).toEqual({ taken: 0, waiting: 0 })
})
