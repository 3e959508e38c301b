/**
 * What runs by a grant of access when it ends: a COPY, a statement and a portal stop with what they have given, and what
 * was prepared before runs masked. The engine's rows come when the test says so.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type AccessLake, startAccessLake } from '../support/access-lake.ts'
import { scriptedEngine } from '../support/scripted-engine.ts'
import { frames, type WireClient } from '../support/wire-client.ts'

setDefaultTimeout(300_000)

const hourMs = 3_600_000
const text = 'select count(email) from sales.orders group by region'
const scripted = scriptedEngine()
let nowMs = Date.now()
let on: AccessLake
let rita: string
let rolf: string

beforeAll(async () => {
  on = await startAccessLake({
    clock: { now: () => nowMs },
    engines: new Map([['duckdb', { engine: async () => scripted.engine, close: async () => {} }]]),
  })
  rita = await on.sessionOf({ sub: 'rita', roles: ['analyst'] })
  rolf = await on.sessionOf({ sub: 'rolf', roles: ['analyst'] })
})
afterAll(() => on?.[Symbol.asyncDispose]())
beforeEach(() => {
  scripted.asked.length = 0
  scripted.rows = async function* () {}
})

const rowOf = (value: bigint) => ({
  rowCount: 1,
  columns: [{ type: 'int8' as const, values: BigInt64Array.of(value) }],
})
/** Gives one row, then lets the time of every open grant pass, then gives another. */
function acrossTheEnd(): void {
  scripted.rows = async function* () {
    yield rowOf(1n)
    nowMs += hourMs
    yield rowOf(2n)
  }
}
async function answersOf(client: WireClient, ...sent: readonly Uint8Array[]) {
  client.send(...sent)
  const answers = await client.until('Z')
  return {
    types: answers.map(({ type }) => type).join(''),
    text: answers.map(({ body }) => body.toString()).join(' '),
  }
}
/** Whether the last statement that the engine got reads the column without a mask. */
const readsRaw = () => !/regexp|translate|replace/i.test(scripted.asked.at(-1)?.statement?.sql ?? '')

describe('at the end of the grant that it needs', () => {
  test.each([
    ['a statement', text],
    ['a COPY', `copy (${text}) to stdout`],
  ])('%s in progress stops with an error, and one of who needs no grant does not', async (_, statement) => {
    await on.granted(rita)
    acrossTheEnd()
    const hers = await on.wire('rita', rita)
    const ended = await answersOf(hers, frames.query(statement))
    expect([ended.types.includes('E'), ended.types.includes('C')]).toEqual([true, false])
    expect(ended.text).toContain('55000')
    expect(ended.text).toContain('A grant of access has ended')
    expect(ended.text).not.toContain('\u00002\n')
    acrossTheEnd()
    const his = await on.wire('rolf', rolf)
    const whole = await answersOf(his, frames.query(statement))
    expect([whole.types.includes('E'), whole.types.includes('C')]).toEqual([false, true])
    hers.close()
    his.close()
  })

  test('a portal gives no more rows', async () => {
    await on.granted(rita)
    scripted.rows = async function* () {
      for (const value of [1n, 2n, 3n]) yield rowOf(value)
    }
    const hers = await on.wire('rita', rita)
    const opened = [
      frames.query('begin'),
      frames.parse(text),
      frames.bind({ portal: 'p' }),
      frames.execute('p', 1),
    ]
    hers.send(...opened, frames.flush())
    expect((await hers.until('s')).map(({ type }) => type)).toContain('D')
    nowMs += hourMs
    const rest = await answersOf(hers, frames.execute('p', 1), frames.sync())
    expect([rest.types.includes('D'), rest.text.includes('55000')]).toEqual([false, true])
    hers.close()
  })

  test('a prepared statement runs masked from then on, without an error', async () => {
    await on.granted(rita)
    const hers = await on.wire('rita', rita)
    await answersOf(hers, frames.parse(text, 's'), frames.sync())
    const run = () => answersOf(hers, frames.bind({ statement: 's' }), frames.execute(), frames.sync())
    expect((await run()).types).not.toContain('E')
    expect(readsRaw()).toBe(true)
    nowMs += hourMs
    expect((await run()).types).not.toContain('E')
    expect(readsRaw()).toBe(false)
    hers.close()
  })
})

test('a revocation ends what is in progress as the end of its time does', async () => {
  const grant = await on.granted(rita)
  scripted.rows = async function* () {
    yield rowOf(1n)
    expect((await on.revoke(on.stella, grant))[0]).toBe(204)
    yield rowOf(2n)
  }
  const hers = await on.wire('rita', rita)
  const ended = await answersOf(hers, frames.query(`copy (${text}) to stdout`))
  expect([ended.types.includes('E'), ended.types.includes('C')]).toEqual([true, false])
  hers.close()
})
