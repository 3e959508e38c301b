/** Members and sets of a session: each form of CREATE and DROP, what is refused, and what a static set does not see. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { SessionFormula } from '../../../src/semantics/mdx/session.ts'
import type { Lake } from '../../support/lake.ts'
import { captions, cellsetAs, grid, type Reader, refusalAs, runAs, startCubeLake } from './cube-lake.ts'

setDefaultTimeout(120_000)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

const from = 'FROM [sales.orders]'
const region = '[orders].[region]'
const readers: readonly Reader[] = ['officer', 'reader']

/** What a session defines after statements, one after another. */
async function sessionOf(who: Reader, ...statements: readonly string[]): Promise<readonly SessionFormula[]> {
  let session: readonly SessionFormula[] = []
  for (const statement of statements) {
    const answer = await runAs(lake, who, statement, { session })
    if (answer.kind !== 'empty') throw new Error(answer.kind)
    session = answer.session
  }
  return session
}

const values = async (who: Reader, statement: string, session: readonly SessionFormula[]) =>
  grid(await cellsetAs(lake, who, statement, { session }))

describe.each(readers)('a session of the %s', (who) => {
  test.each([
    "CREATE SESSION MEMBER [sales.orders].[Measures].[twice] AS '[Measures].[orders] * 2'",
    'CREATE SESSION MEMBER [sales.orders].[Measures].[twice] AS [Measures].[orders] * 2',
    'CREATE MEMBER [sales.orders].[Measures].[twice] AS [Measures].[orders] * 2, FORMAT_STRING = "0.0", SOLVE_ORDER = 1, VISIBLE = 1, CAPTION = "Twice"',
    'CREATE SESSION CALCULATED MEMBER CURRENTCUBE.[Measures].[twice] AS "[Measures].[orders] * 2"',
    'CREATE HIDDEN MEMBER [sales.orders].[Measures].[twice] AS [Measures].[orders] * 2',
    'CREATE MEMBER [sales.orders].[Measures].[half] AS [Measures].[orders] / 2 MEMBER [sales.orders].[Measures].[twice] AS [Measures].[half] * 4',
    "CREATE SESSION MEMBER [sales.orders].[Measures].[half] AS '[Measures].[orders] / 2', CALCULATED MEMBER [sales.orders].[Measures].[twice] AS '[Measures].[half] * 4' SET [sales.orders].[s] AS '{}'",
  ])('has the value of %s', async (statement) => {
    const session = await sessionOf(who, statement, 'REFRESH CUBE [sales.orders]')
    const [[plain] = []] = await values(who, `SELECT {[Measures].[orders]} ON 0 ${from}`, [])
    expect(Number(plain)).toBeGreaterThan(0)
    expect(await values(who, `SELECT {[Measures].[twice]} ON 0 ${from}`, session)).toEqual([
      [Number(plain) * 2],
    ])
  })

  test('has a calculated member of a hierarchy, and a set that names it', async () => {
    const session = await sessionOf(
      who,
      `CREATE SESSION MEMBER [sales.orders].${region}.[All].[coasts] AS Aggregate({${region}.&[east], ${region}.&[west]})`,
      `CREATE SESSION SET [sales.orders].[shown] AS {${region}.&[east], ${region}.[All].[coasts]}`,
    )
    const both = `SELECT {[Measures].[buyers]} ON 0 ${from} WHERE {${region}.&[east], ${region}.&[west]}`
    const [[coasts] = []] = await values(who, both, [])
    const shown = await values(who, `SELECT {[Measures].[buyers]} ON 0, [shown] ON 1 ${from}`, session)
    expect(shown[1]).toEqual([coasts])
  })

  test('drops several, or none where one of them is not there', async () => {
    const session = await sessionOf(
      who,
      'CREATE MEMBER [sales.orders].[Measures].[a] AS 1 MEMBER [sales.orders].[Measures].[b] AS 2 SET [sales.orders].[s] AS {}',
    )
    const drop = async (statement: string) => {
      const answer = await runAs(lake, who, statement, { session })
      return answer.kind === 'empty' ? answer.session.length : -1
    }
    expect(await drop('DROP MEMBER [sales.orders].[Measures].[a], [sales.orders].[Measures].[B]')).toBe(1)
    expect(await drop('DROP SESSION CALCULATED MEMBER [sales.orders].[Measures].[a]')).toBe(2)
    expect(await drop('DROP SET CURRENTCUBE.[s]')).toBe(2)
    const missing = 'DROP MEMBER [sales.orders].[Measures].[a], [sales.orders].[Measures].[c]'
    expect(await refusalAs(lake, who, missing, { session })).toContain('the session has no such member')
    expect(await refusalAs(lake, who, 'DROP SET [sales.orders].[a]', { session })).toContain('no such set')
  })
})

describe('a set', () => {
  const few = `{${region}.&[east], ${region}.&[west]}`
  const statement = `SELECT [greatest] ON 0 FROM (SELECT ${few} ON 0 ${from})`

  test('is dynamic where that is said: it sees the subselect; otherwise it is of all rows, and the subselect cuts it', async () => {
    const least = async (who: Reader, within: string) =>
      captions(
        (await cellsetAs(lake, who, `SELECT TopCount(${within}, 1, -[Measures].[revenue]) ON 0 ${from}`))
          .axes[0],
      )
    for (const who of readers) {
      const make = (words: string) =>
        sessionOf(
          who,
          `CREATE SESSION ${words} [sales.orders].[greatest] AS TopCount(${region}.[region].Members, 1, -[Measures].[revenue])`,
        )
      const shown = async (words: string) =>
        captions((await cellsetAs(lake, who, statement, { session: await make(words) })).axes[0])
      expect(await shown('DYNAMIC SET')).toEqual(await least(who, few))
      const ofAll = await least(who, `${region}.[region].Members`)
      const cut = ofAll.filter((name) => ['east', 'west'].includes(name))
      expect(await shown('SET')).toEqual(cut)
      expect(await shown('STATIC SET')).toEqual(cut)
    }
  })

  test('that is static does not see the slicer', async () => {
    const select = `WITH MEMBER [Measures].[n] AS Count([some]) SELECT {[Measures].[n]} ON 0 ${from} WHERE (${region}.&[east])`
    const make = (words: string) =>
      sessionOf(
        'officer',
        `CREATE ${words} [sales.orders].[some] AS Filter([orders].[paid].[paid].Members, [Measures].[orders] > 300)`,
      )
    expect(await values('officer', select, await make('SET'))).toEqual([[2]])
    expect(await values('officer', select, await make('DYNAMIC SET'))).toEqual([[0]])
  })
})

describe('what is refused', () => {
  test.each([
    ['the name of a measure', 'CREATE MEMBER [sales.orders].[Measures].[Revenue] AS 1'],
    ['a name of its own, also in another case', 'CREATE MEMBER [sales.orders].[Measures].[A] AS 1'],
    ['a set of its own', 'CREATE DYNAMIC SET [sales.orders].[S] AS {}'],
    [
      'a name twice in one statement',
      'CREATE MEMBER [sales.orders].[Measures].[c] AS 1 MEMBER [sales.orders].[Measures].[c] AS 2',
    ],
  ])('%s', async (_, statement) => {
    const session = await sessionOf(
      'officer',
      'CREATE MEMBER [sales.orders].[Measures].[a] AS 1 SET [sales.orders].[s] AS {}',
    )
    expect(await refusalAs(lake, 'officer', statement, { session })).toContain('of this name already')
  })

  test('more than a session may hold', async () => {
    const many = Array.from(
      { length: 200 },
      (_, index) => `MEMBER [sales.orders].[Measures].[m${index}] AS 1`,
    )
    const session = await sessionOf('officer', `CREATE ${many.join(' ')}`)
    expect(session).toHaveLength(200)
    const next = 'CREATE MEMBER [sales.orders].[Measures].[m200] AS 1'
    expect(await refusalAs(lake, 'officer', next, { session })).toContain('at most 200 members and sets')
    const long = `CREATE MEMBER [sales.orders].[Measures].[long] AS ("${'x'.repeat(600_000)}")`
    const first = await sessionOf('officer', long)
    expect(await refusalAs(lake, 'officer', long.replace('[long]', '[more]'), { session: first })).toContain(
      'at most 1000000 characters',
    )
  })

  test('a formula that names what the reader does not see fails as it does in WITH', async () => {
    const formula = `([Measures].[orders], ${region}.&[north])`
    const inWith = `WITH MEMBER [Measures].[n] AS ${formula} SELECT {[Measures].[n]} ON 0 ${from}`
    const made = `CREATE MEMBER [sales.orders].[Measures].[n] AS ${formula}`
    const select = `SELECT {[Measures].[n]} ON 0 ${from}`
    const refused = await refusalAs(lake, 'reader', inWith)
    expect(refused).toContain('not that of a member')
    const session = await sessionOf('reader', made)
    expect(await refusalAs(lake, 'reader', select, { session })).toBe(refused)
    expect(await values('officer', select, await sessionOf('officer', made))).toEqual([[250]])
  })

  test('CURRENTCUBE where the message names another cube than there is, and a cube that is not seen', async () => {
    const create = 'CREATE MEMBER CURRENTCUBE.[Measures].[a] AS 1'
    expect(await refusalAs(lake, 'officer', create, { currentCube: 'sales.nothing' })).toContain(
      'no such cube',
    )
    expect(await refusalAs(lake, 'officer', create, { cubes: [] })).toContain(
      'CURRENTCUBE stands for no cube',
    )
    expect(await refusalAs(lake, 'officer', 'CREATE MEMBER [secret].[Measures].[a] AS 1')).toContain(
      'no such cube',
    )
  })
})
