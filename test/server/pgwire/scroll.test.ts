/** Cursors go forward and back as those of a real PostgreSQL do, as far as they hold the rows that they have passed. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import pg from 'pg'
import { utf8Values } from '../../../src/core/variable-width.ts'
import { startOracle } from '../../query/support/postgres.ts'
import { freePort } from '../../support/free-port.ts'
import { generator } from '../../support/generator.ts'
import { numbers, startWire, type TestQuery, testSecret, type WireService } from '../../support/pgwire.ts'
import { frames, type WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(60_000)

/** Rows that take more memory than an undeclared cursor may hold, or any. */
const large = (rows: number): TestQuery => ({
  columns: [{ name: 't', type: 'text' }],
  async *batches() {
    for (let row = 0; row < rows; row++)
      yield {
        rowCount: 1,
        columns: [{ type: 'text', ...utf8Values([String(row).padEnd(1024 * 1024, '.')]) }],
      }
  },
})

const stack = new AsyncDisposableStack()
const port = freePort()
const oracle = await startOracle({ port })
let wire: WireService
let ours: pg.Client
let theirs: pg.Client | undefined
beforeAll(async () => {
  wire = stack.use(
    await startWire({
      queries: {
        'select n from seven': numbers(7, 2),
        'select n from none': numbers(0),
        'select t from large': large(4),
        'select t from huge': large(20),
      },
    }),
  )
  const login = { host: '127.0.0.1', database: 'main', user: 'ada', password: testSecret }
  ours = new pg.Client({ ...login, port: wire.port })
  await ours.connect()
  await oracle?.admin.unsafe(
    'create table seven as select n from generate_series(1, 7) n; create table none (n int)',
  )
  if (oracle === undefined) return
  theirs = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  await theirs.connect()
})
afterAll(async () => {
  await ours.end()
  await theirs?.end()
  await oracle?.stop()
  await stack.disposeAsync()
})

async function answer(client: pg.Client, text: string): Promise<unknown> {
  try {
    const { command, rowCount, rows } = await client.query({ text, rowMode: 'array' })
    return [command, rowCount, rows.flat()]
  } catch (thrown) {
    const { code, message, hint } = thrown as pg.DatabaseError
    return [code, message, hint]
  }
}

const steps = [
  ...['next', 'prior', 'first', 'last', 'forward', 'backward', 'forward all', 'backward all', 'all'],
  ...[-9, -7, -6, -2, -1, 0, 1, 2, 3, 6, 7, 8, 9].flatMap((n) =>
    ['', 'absolute ', 'relative ', 'forward ', 'backward '].map((word) => `${word}${n}`),
  ),
]

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(oracle === undefined)('as of PostgreSQL', () => {
  test.each(
    ['scroll', '', 'no scroll'].flatMap((scroll) => ['seven', 'none'].map((rows) => [scroll, rows] as const)),
  )('a %s cursor over %s rows gives the same after any walk', async (scroll, rows) => {
    if (theirs === undefined) return
    const random = generator(45)
    const any = () => steps[Math.floor(random() * steps.length)]
    for (let walk = 0; walk < 40; walk++) {
      const texts = ['begin', `declare c ${scroll} cursor for select n from ${rows}`]
      for (let step = 0; step < 8; step++) texts.push(`${random() < 0.7 ? 'fetch' : 'move'} ${any()} from c`)
      for (const [index, text] of texts.entries()) {
        const [here, there] = [await answer(ours, text), await answer(theirs, text)]
        expect({ texts: texts.slice(0, index + 1), answer: here }).toEqual({
          texts: texts.slice(0, index + 1),
          answer: there,
        })
      }
      for (const client of [ours, theirs]) await client.query('rollback')
    }
  })
})

describe('what a cursor holds', () => {
  let client: WireClient
  const say = async (text: string) =>
    (await client.ask(frames.query(text))).map((line) => line.replace(/\.+/, '').replace(/: .*/, ''))
  beforeAll(async () => {
    client = await wire.logIn()
  })
  afterAll(() => client.close())

  test.each([
    ['', 'large', false],
    ['scroll', 'large', true],
    ['scroll', 'huge', false],
  ])('%s over %s rows is bounded by memory, and it says so', async (scroll, rows, isHeld) => {
    await say(`begin; declare c ${scroll} cursor for select t from ${rows}; move all c`)
    expect(await say('fetch absolute 1 from c')).toContain(
      isHeld ? 'D 0' : 'E 54000 The cursor cannot go back',
    )
    await say('rollback')
  })

  test('is bounded for all cursors of a connection, which may all have begun before', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `c${index}`)
    const goBack = async (name: string) =>
      (await say(`fetch absolute 1 from ${name}; move last ${name}`)).at(1)
    await say('begin')
    for (const name of names)
      await say(`declare ${name} scroll cursor for select t from large; move 1 ${name}`)
    for (const name of names) await say(`savepoint s; move all ${name}`)
    const answers: (string | undefined)[] = []
    for (const name of names) {
      answers.push(await goBack(name))
      await say('rollback to s')
    }
    // Each takes 4 MiB of the 16 MiB.
    expect(answers.filter((answer) => answer === 'D 0').length).toBeWithin(1, 4)
    for (const name of names) await say(`close ${name}`)
    await say('declare c scroll cursor for select t from large; move all c')
    expect(await goBack('c')).toBe('D 0')
    await say('rollback')
  })

  test('is described by FETCH 0, without a row, as GDAL asks', async () => {
    await say('begin; declare c cursor for select n from seven')
    expect(await say('fetch 0 in c')).toEqual(['T n', 'C FETCH 0', 'Z T'])
    expect(await say('fetch 1 in c; move absolute 0 in c; fetch 1 in c')).toEqual([
      ...['T n', 'D 1', 'C FETCH 1', 'C MOVE 0', 'T n', 'D 1', 'C FETCH 1', 'Z T'],
    ])
    await say('rollback')
  })

  test('is read backwards in the steps of a driver with a row limit', async () => {
    const { parse, bind, execute, sync } = frames
    await say('begin; declare c scroll cursor for select n from seven; move last c')
    expect(
      await client.ask(parse('fetch backward 3 c'), bind(), execute('', 2), execute('', 2), sync()),
    ).toEqual(['1', '2', 'D 6', 'D 5', 's', 'D 4', 'C FETCH 3', 'Z T'])
    await say('rollback')
  })
})
