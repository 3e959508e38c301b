/** The MDX that is read: each shape, its printed form, and that everything else is refused by its name. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Fault } from '../../../src/base/fault.ts'
import { parseMdx } from '../../../src/wire/mdx/parse.ts'
import { parseMdxText } from '../../../src/wire/mdx/parse-expression.ts'
import { printMdx, printMdxExpression } from '../../../src/wire/mdx/print.ts'
import { mdxBounds } from '../../../src/wire/mdx/tokens.ts'
import { roundsOf } from '../../support/long-form.ts'
import { expressions, selects } from './arbitrary.ts'
import { shapes } from './shapes.ts'

function refusal(text: string): string {
  try {
    parseMdx(text)
  } catch (thrown) {
    if (thrown instanceof Fault) return `${thrown.kind} ${thrown.publicMessage}`
    throw thrown
  }
  return 'parsed'
}

describe('a statement of each shape', () => {
  test.each(Object.entries(shapes))('%s is read, and printed as what parses to the same', (_, text) => {
    const parsed = parseMdx(text)
    expect(parseMdx(printMdx(parsed))).toEqual(parsed)
    expect(parseMdx(`${text} ;`)).toEqual(parsed)
  })
})

describe('a name', () => {
  const parts = (text: string) => {
    const parsed = parseMdxText(text)
    return parsed.kind === 'name' ? parsed.parts : parsed
  }
  test('has brackets in which a closing one is doubled', () => {
    expect(parts('[a]]b].c')).toEqual([
      { kind: 'name', name: 'a]b', quoted: true },
      { kind: 'name', name: 'c', quoted: false },
    ])
  })

  test('ends in a key, which is a text, or in a key of nothing', () => {
    expect(parts('[a].&[1]')).toEqual([
      { kind: 'name', name: 'a', quoted: true },
      { kind: 'key', key: '1' },
    ])
    expect(parts('[a].&1')).toEqual(parts('[a].&[1]'))
    expect(parts('[a].&')).toEqual([
      { kind: 'name', name: 'a', quoted: true },
      { kind: 'key', key: null },
    ])
  })
})

test('a property of a level needs no dot before its name, and one alone does', () => {
  const written = (properties: string) => `SELECT {[a]} DIMENSION PROPERTIES ${properties} ON 0 FROM [c]`
  expect(parseMdx(written('[a].[b]MEMBER_KEY, [a].[b]MEMBER_NAME'))).toEqual(
    parseMdx(written('[a].[b].MEMBER_KEY, [a].[b].MEMBER_NAME')),
  )
  expect(refusal(written('MEMBER_KEY MEMBER_NAME'))).toContain('ON is expected')
})

describe('operators', () => {
  const shape = (text: string) => JSON.stringify(parseMdxText(text))
  test.each([
    ['1 + 2 * 3', '1 + (2 * 3)'],
    ['- 2 ^ 2', '(- 2) ^ 2'],
    ['1 < 2 AND 3 = 3 OR NOT 1 > 2 AND 2 > 1', '((1 < 2) AND (3 = 3)) OR ((NOT (1 > 2)) AND (2 > 1))'],
    ['1 - 2 - 3', '(1 - 2) - 3'],
  ])('%s binds as %s', (text, written) => {
    const plain = (given: string) => given.replaceAll('{"kind":"tuple","items":[', '').replaceAll(']}', '')
    expect(plain(shape(text))).toBe(plain(shape(written)))
  })
})

describe('comments and keywords', () => {
  test('comments are left out, and keywords have any case', () => {
    expect(parseMdx('select -- a\n {[a]} on Columns /* b */ from [c] // d')).toEqual(
      parseMdx('SELECT {[a]} ON COLUMNS FROM [c]'),
    )
  })
})

describe('what is not read is refused by its name', () => {
  test.each([
    ['SELECT LinRegSlope({[a]}) ON 0 FROM [c]', 'the function LINREGSLOPE( ) is not supported'],
    ['SELECT [a].Children.Foo ON 0 FROM [c]', 'the property .FOO is not supported'],
    ['SELECT [a].Bar(1) ON 0 FROM [c]', 'the function .BAR( ) is not supported'],
    ['UPDATE CUBE [c] SET [a] = 1', 'the statement UPDATE is not supported'],
    ['CREATE CACHE FOR [c] AS ({[a]})', 'only CREATE MEMBER and SET of a session'],
    ['CREATE GLOBAL SET [c].[a] AS {}', 'only CREATE MEMBER and SET of a session'],
    ['CREATE STATIC MEMBER [c].[a] AS 1', 'STATIC and DYNAMIC are of sets'],
    ['CREATE CALCULATED SET [c].[a] AS {}', 'CALCULATED is of members'],
    ['CREATE STATIC DYNAMIC SET [c].[a] AS {}', 'a set is STATIC or DYNAMIC'],
    ['CREATE MEMBER [c].[M].[a] AS 1 MEMBER [d].[M].[b] AS 1', 'about what one cube has'],
    ['CREATE MEMBER [a] AS 1', 'a name begins with that of the cube'],
    ['CREATE MEMBER [c].[M].[a] AS 1,', 'only CREATE MEMBER and SET of a session'],
    ['DROP MEMBER [c].[M].[a], [d].[M].[b]', 'about what one cube has'],
    ['DROP CELL CALCULATION [c].[a]', 'only DROP MEMBER and SET of a session'],
    ['SELECT {{[a]} AS &[x]} ON 0 FROM [c]', 'the name of a set is expected'],
    ['SELECT [a].&[1]&[2] ON 0 FROM [c]', 'a key of several values'],
    ['SELECT {[a]} ON 1 FROM [c]', 'without a gap'],
    ['SELECT {[a]} ON 0, {[b]} ON 0 FROM [c]', 'without a gap'],
    ['SELECT {[a]} ON 0 FROM [c', 'a bracket is not closed'],
    ["WITH MEMBER [a] AS 'x SELECT FROM [c]", 'a text is not closed'],
    ['SELECT FROM [c] /* x', 'a comment is not closed'],
    ['SELECT FROM [c] WHERE', 'an expression is expected'],
    ['SELECT FROM [c] SELECT', 'the end of the statement is expected'],
    ['DRILLTHROUGH FIRSTROWSET 2 SELECT FROM [c]', 'FIRSTROWSET is 0 or 1'],
    ['DRILLTHROUGH SELECT FROM [c] RETURN CUSTOMROLLUP([a])', 'RETURN takes NAME, KEY'],
    ['DRILLTHROUGH SELECT FROM [c] RETURN KEY([a], 1)', 'a key has one value'],
    ['SELECT VBA!Shell("x") ON 0 FROM [c]', 'the function SHELL( ) is not supported'],
    ['SELECT a!b ON 0 FROM [c]', 'ON is expected'],
    ['EVALUATE x', 'the statement EVALUATE is not supported'],
    ['WITH CELL CALCULATION x FOR y AS z SELECT FROM [c]', 'WITH CELL CALCULATION is not supported'],
    ['', 'a statement is expected'],
  ])('%s', (text, message) => {
    expect(refusal(text)).toContain('bad_request MDX: ')
    expect(refusal(text)).toContain(message)
  })
})

describe('bounds', () => {
  const many = (text: string, count: number) => text.repeat(count)
  test.each([
    ['depth', `SELECT ${many('{', 70)}[a]${many('}', 70)} ON 0 FROM [c]`, 'levels'],
    ['subselects', `SELECT FROM ${many('(SELECT [a] ON 0 FROM ', 70)}[c]${many(')', 70)}`, 'levels'],
    ['operators', `SELECT 1${many(' + 1', 3_000)} ON 0 FROM [c]`, 'operators'],
    ['signs', `SELECT ${many('- ', 100)}1 ON 0 FROM [c]`, 'levels'],
    ['properties', `SELECT [a]${many('.Parent', 70)} ON 0 FROM [c]`, 'one after another'],
    ['tokens', `SELECT {${many('[a],', 150_000)}[a]} ON 0 FROM [c]`, 'tokens'],
    ['a name', `SELECT [${many('a', mdxBounds.nameCharsMax + 1)}] ON 0 FROM [c]`, 'a name has at most'],
    ['characters', many(' ', mdxBounds.charsMax + 1), 'characters'],
    ['formulas in quotes', `WITH MEMBER [a] AS '${many('(', 80)}' SELECT FROM [c]`, 'levels'],
  ])('of %s are kept', (_, text, message) => {
    expect(refusal(text)).toContain(message)
  })
})

describe('any tree', () => {
  test('of an expression is what its printed form parses to', () => {
    fc.assert(
      fc.property(expressions, (expression) => {
        expect(parseMdxText(printMdxExpression(expression))).toEqual(expression)
      }),
      { seed: 7, numRuns: roundsOf(5_000) },
    )
  })

  test('of a statement is what its printed form parses to', () => {
    fc.assert(
      fc.property(selects, (statement) => {
        expect(parseMdx(printMdx(statement))).toEqual(statement)
      }),
      { seed: 11, numRuns: roundsOf(2_000) },
    )
  })
})
