/** Metadata and manifests that the engine reads take bytes of the process's budget. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { ByteBudget } from '../../../src/base/byte-budget.ts'
import type { ByteReservation } from '../../../src/base/byte-work.ts'
import {
  columns,
  failure,
  rowsOf,
  snapshotOf,
  startTestEngine,
  type TestEngine,
} from '../../support/engine.ts'

const bytesMax = 1024 * 1024
const refused: string[] = []
const budget = new ByteBudget({
  bytesMax,
  keptForSmall: 0,
  smallBytesMax: 0,
  onRefused: (kind) => refused.push(kind),
})
let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine({ budget })
})
afterAll(() => engine.close())
beforeEach(() => {
  refused.length = 0
})

const count = async (name: string, filler?: ByteReservation) => {
  const writer = engine.table(name, { fields: [{ id: 1, name: 'id', type: 'long' }] })
  await writer.append([{ rows: [{ id: 1 }, { id: 2 }] }])
  const read = () =>
    rowsOf(engine.engine, snapshotOf(writer), 'SELECT count(*) FROM {} AS b', columns('n int8'))
  const first = filler === undefined ? undefined : await failure(read())
  filler?.release()
  return { first, rows: await read() }
}

test('and none of them once the table is read', async () => {
  expect((await count('a')).rows).toEqual([[2n]])
  expect(budget.held('parse')).toBe(0)
})

test('and are refused with 53200 where there are none; the refusal is not kept', async () => {
  const { first, rows } = await count('b', budget.reserve({ body: bytesMax }))
  expect(first).toMatchObject({
    code: '53200',
    message: 'The service has no memory left for this request. Retry.',
  })
  expect(refused).toEqual(['parse'])
  expect(rows).toEqual([[2n]])
  expect([budget.held('parse'), budget.held('body')]).toEqual([0, 0])
})
