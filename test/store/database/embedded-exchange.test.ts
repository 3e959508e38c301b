import { heapStats } from 'bun:jsc'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PGlite } from '@electric-sql/pglite'
import { exchange } from '../../../src/store/database/embedded-exchange.ts'
import { frames } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)

let db: PGlite

beforeAll(async () => {
  db = await PGlite.create()
})

afterAll(() => db.close())

const ask = async (text: string): Promise<Buffer> => Buffer.from(await exchange(db, frames.query(text)))

/** Live objects of this thread. */
function objects(): number {
  Bun.gc(true)
  return heapStats().objectCount
}

describe('an exchange with the embedded database', () => {
  test('answers with every byte, also where the database sends them in many parts', async () => {
    const text = 'x'.repeat(300_000)
    const answer = await ask(`select repeat('x', 300000) as text`)
    expect(answer.includes(text)).toBe(true)
    // CommandComplete and ReadyForQuery, whole and last.
    expect(answer.subarray(-20).toString('latin1')).toBe('C\0\0\0\rSELECT 1\0Z\0\0\0\x05I')
  })

  test('answers with what the database refuses, and goes on', async () => {
    expect((await ask('select 1 / 0')).toString('latin1')).toContain('C22012')
    expect((await ask('select 42 as answer')).toString('latin1')).toContain('42')
  })

  test('answers of its own: a later one changes none', async () => {
    const first = await ask(`select 'first' as text`)
    const before = Buffer.from(first)
    await ask(`select 'other' as text`)
    expect(first.equals(before)).toBe(true)
  })

  test('keeps no row', async () => {
    const rows = frames.query('select i, i::text from generate_series(1, 100) as t(i)')
    for (let index = 0; index < 20; index++) await exchange(db, rows)
    const before = objects()
    for (let index = 0; index < 200; index++) await exchange(db, rows)
    expect(objects() - before).toBeLessThan(2_000)
  })
})
