/** Runs the statements of the page on MDX, and asks for what it says is refused. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mdxFunctions, mdxMethods, mdxProperties } from '../../src/wire/mdx/words.ts'
import { cellsetAs, refusalAs, runAs, startCubeLake } from '../semantics/mdx/cube-lake.ts'
import type { Lake } from '../support/lake.ts'

setDefaultTimeout(120_000)
const page = await Bun.file(new URL('../../docs/mdx.md', import.meta.url)).text()
const statements = [...page.matchAll(/```mdx\n(.*?)```/gs)].map(([, text = '']) => text.trim())
const refused = [...page.matchAll(/^\| `((?:SELECT|WITH|UPDATE|EVALUATE|CREATE)[^`]*)` \| (.*) \|$/gm)].map(
  ([, text = '', fault = '']) => [text, fault] as const,
)
const members = [
  ...page.matchAll(
    /^\| (`\[orders\][^|]*) \| (?:a member by its key|the member of NULL|a period|the same by captions)/gm,
  ),
]
  .flatMap(([, names = '']) => names.split(', '))
  .map((name) => name.replaceAll('`', ''))

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

test.each(statements)('is answered: %s', async (text) => {
  const answer = await runAs(lake, 'officer', text)
  if (answer.kind === 'cellset') expect(answer.cellset.cells.length).toBeGreaterThan(0)
  else if (answer.kind === 'tabular') expect(answer.tabular.rows.length).toBeGreaterThan(0)
  else expect(text).toMatch(/^(REFRESH|CREATE)/)
})

test.each(members)('%s is the name of one member', async (name) => {
  const { axes } = await cellsetAs(lake, 'officer', `SELECT {${name}} ON 0 FROM [sales.orders]`)
  expect(axes[0]?.tuples).toHaveLength(1)
})

test.each(refused)('%s is refused', async (text, fault) => {
  expect(await refusalAs(lake, 'officer', text)).toContain(fault)
})

describe('the page', () => {
  test('has statements, names and refusals', () => {
    expect([statements.length > 12, members.length, refused.length > 10]).toEqual([true, 5, true])
  })

  test('names every function, property and method', () => {
    const named = page.toUpperCase()
    const absent = [
      ...mdxFunctions.filter((name) => !named.includes(`\`${name}\``)),
      ...mdxProperties.filter((name) => !named.includes(`\`.${name}\``)),
      ...mdxMethods.filter((name) => !named.includes(`\`.${name}( )\``)),
    ]
    expect(absent).toEqual([])
  })
})
