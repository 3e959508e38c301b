/** The pages under docs/guides name files that exist and are all that is needed, and these files hold the examples. */

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { maskActions } from '../../src/core/mask.ts'
import { readProject } from '../tidy/source-files.ts'

const folder = 'docs/guides'
const page = (name: string) => readFileSync(`${folder}/${name}`, 'utf8')
const pages = readdirSync(folder).filter((name) => name !== 'README.md')
const sources = readProject('.').filter(({ path }) => path.startsWith('src/'))

/** The paths in backticks on a page; a folder ends with a slash. */
const pathsOn = (text: string) =>
  [...text.matchAll(/`((?:src|test|docs|migrations|bench|clients)\/[\w./-]*)`/g)].map(([, path = '']) => path)

/** One line for each line of code, however deep it stands. */
const flat = (code: string) =>
  code
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .join('\n')

/** An example that each guide rests on, as `src/` spells it: its page names every file in which it stands. */
const examples: Readonly<Record<string, RegExp>> = {
  'rest-operation.md': /'list_contracts'|\blistTableContracts\b|\blistContracts\b/,
  'mask-action.md': /'(?:truncate-to-month|show-first-4)'/,
  'sql-function.md': /'array_lower'/,
  'catalog-kind.md': /'beta'|\bbeta: \{|\bopenBeta\b/,
  'detector-class.md': /'iban'|\bjudgeIban\b|\bibanWords\b|import \{ iban \}/,
  'policy-function.md': /'manifest\.has_partition'/,
  'read-surface.md': /'pgwire'/,
  'stored-column.md': /\bfailingSince\b|\bfailing_since\b/,
  'setting.md': /\bdrainDelayMs\b|SVC_DRAIN_DELAY_SECONDS/,
  'job.md': /'prune-webhooks'|\bpruneWebhooks\b/,
  'graphql-field.md': /\bqualityRuns\b/,
  'mcp-tool.md': /\bwhyDenied\b|name: 'why_denied'/,
}

test('every guide is in the index, and has an example', () => {
  const listed = [...page('README.md').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name = '']) => name)
  expect(listed.toSorted()).toEqual(pages.toSorted())
  expect(Object.keys(examples).toSorted()).toEqual(pages.toSorted())
})

test('every place outside of the compiler that the guide of a mask action names knows all actions', () => {
  const named = [
    'masks.py',
    'covenant.schema.json',
    'transform-vectors.json',
    'sql.md',
    'masks-and-filters.md',
  ]
  const places = pathsOn(page('mask-action.md')).filter((path) =>
    named.includes(path.split('/').at(-1) ?? ''),
  )
  expect(new Set(places).size).toBe(named.length)
  for (const path of places) {
    const text = readFileSync(path, 'utf8')
    const quotes = ["'", '"', '`']
    const missing = maskActions.filter(
      (action) => !quotes.some((quote) => text.includes(`${quote}${action}${quote}`)),
    )
    expect({ path, missing }).toEqual({ path, missing: [] })
  }
})

describe.each(pages)('docs/guides/%s', (name) => {
  const text = page(name)
  const paths = pathsOn(text)

  test('names files and folders that are there', () => {
    expect(paths.length).toBeGreaterThan(3)
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  })

  test('links to pages and headings that are there', () => {
    const broken = [...text.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)].filter(([, target = '', anchor]) => {
      const path = `${folder}/${target}`
      if (!existsSync(path)) return true
      const anchors = [...readFileSync(path, 'utf8').matchAll(/^#{1,3} (.+)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      )
      return anchor !== undefined && !anchors.includes(anchor)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  test('shows code as it stands in one of its files', () => {
    const code = paths.filter((path) => path.endsWith('.ts')).map((path) => flat(readFileSync(path, 'utf8')))
    const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => flat(block))
    expect(blocks.length).toBeGreaterThan(0)
    expect(blocks.filter((block) => !code.some((file) => file.includes(block)))).toEqual([])
  })

  test('names every file of src in which its example stands', () => {
    const holding = sources.filter((file) => examples[name]?.test(file.text)).map(({ path }) => path)
    expect(holding.length).toBeGreaterThan(0)
    expect(holding.filter((path) => !paths.includes(path))).toEqual([])
  })

  test('has a section for files, an example and tests', () => {
    for (const heading of ['Files', 'Example', 'Tests']) expect(text).toContain(`\n## ${heading}\n`)
  })
})
