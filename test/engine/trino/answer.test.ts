/** Replies that were cut or changed on their way give an EngineError or a result, never anything else. */

import { expect, test } from 'bun:test'
import { EngineError } from '../../../src/engine/engine-error.ts'
import { parseReply } from '../../../src/engine/trino/answer.ts'
import { vectorBuilder } from '../../../src/engine/trino/vectors.ts'

const whole = Buffer.from(
  JSON.stringify({
    id: 'q',
    nextUri: 'http://trino/v1/statement/executing/q/1',
    columns: [
      { name: 'a', type: 'bigint', typeSignature: { rawType: 'bigint', arguments: [] } },
      { name: 'b', type: 'varchar' },
      { name: 'c', type: 'timestamp(6) with time zone' },
    ],
    data: [
      [1, 'ä"\\', '2024-01-16 08:00:00.000000 UTC'],
      [null, null, null],
    ],
    stats: { state: 'RUNNING', queuedTimeMillis: 1, physicalInputBytes: 5 },
    warnings: [],
  }),
)
const types = ['int8', 'text', 'timestamptz'] as const

/** Reads as a run does; the rows that came out. */
function read(body: Uint8Array): number {
  const { columns = [], data } = parseReply(body)
  if (data?.kind !== 'rows') return 0
  for (const [index, type] of types.entries()) {
    const build = vectorBuilder({ name: '', type }, columns[index]?.type ?? '')
    build?.(data.rows.map((row) => (Array.isArray(row) ? (row[index] ?? null) : null)))
  }
  return data.rows.length
}

function outcome(body: Uint8Array): number | 'refused' {
  try {
    return read(body)
  } catch (error) {
    if (error instanceof EngineError) return 'refused'
    throw error
  }
}

test('the whole answer is read', () => {
  expect(outcome(whole)).toBe(2)
})

test('an answer that is cut short is refused, wherever it is cut', () => {
  for (let length = 0; length < whole.length; length++)
    expect([length, outcome(whole.subarray(0, length))]).toEqual([length, 'refused'])
})

test('an answer with changed bytes is read or refused, and nothing else', () => {
  const seed = 20_260_801
  let state = seed
  // Park and Miller's generator.
  const below = (bound: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
  let refused = 0
  for (let round = 0; round < 5_000; round++) {
    const body = Buffer.from(whole)
    for (let changes = 1 + below(4); changes > 0; changes--)
      body[below(body.length)] = below(3) === 0 ? below(256) : (whole[below(whole.length)] ?? 0)
    try {
      if (outcome(body) === 'refused') refused++
    } catch (error) {
      throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify(body.toString('latin1'))}`, {
        cause: error,
      })
    }
  }
  expect(refused).toBeGreaterThan(2_500)
})
