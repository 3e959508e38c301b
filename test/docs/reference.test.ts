/** docs/reference: its headings are numbered, every citation names one of them, and its tables agree with the code. */

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commercialCapabilities, communityCapabilities } from '../../src/core/capability.ts'
import { capabilitiesOf, catalogKinds } from '../../src/core/catalog-kinds.ts'
import { policyErrorCodes } from '../../src/core/decision.ts'
import { maskActions } from '../../src/core/mask.ts'
import { policyKinds } from '../../src/core/policy.ts'
import { limits } from '../../src/limits.ts'
import { edgeLabels, vertexLabels } from '../../src/store/database/names.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = 'docs/reference'
const glob = (pattern: string, below: string) => [
  ...new Bun.Glob(pattern).scanSync({ cwd: join(root, below) }),
]
const pages = new Map(
  glob('*.md', folder).map((name) => [name, readFileSync(join(root, folder, name), 'utf8')] as const),
)
const page = (name: string) => pages.get(name) ?? ''
const headings = (text: string) =>
  [...text.matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number)

/** Every citation in `text` of a page with numbers, as `page.md 1.2`. */
function citations(text: string): readonly string[] {
  return [...text.matchAll(/docs\/reference\/([\w-]+\.md)((?: \d+(?:\.\d+)?(?:,| and)?)*)/g)].flatMap(
    ([, name = '', numbers = '']) => {
      const each = numbers.match(/\d+(?:\.\d+)?/g) ?? []
      return each.length === 0 ? [name] : each.map((number) => `${name} ${number}`)
    },
  )
}

function exists(citation: string): boolean {
  const [name = '', number] = citation.split(' ')
  return pages.has(name) && (number === undefined || headings(page(name)).includes(number))
}

describe('docs/reference', () => {
  test('is listed in its index, page by page', () => {
    const listed = [...page('README.md').matchAll(/^\| \[([\w-]+\.md)\]/gm)].map(([, name = '']) => name)
    expect(listed.sort()).toEqual([...pages.keys()].filter((name) => name !== 'README.md').sort())
  })

  test.each([...pages.keys()].filter((name) => name !== 'README.md'))(
    '%s has numbers under which each rule stands once, below its part',
    (name) => {
      const numbers = headings(page(name))
      const written = [...page(name).matchAll(/^#{2,3} /gm)]
      expect(numbers).toHaveLength(written.length)
      expect(numbers.length).toBeGreaterThan(2)
      expect(new Set(numbers).size).toBe(numbers.length)
      let part = ''
      for (const number of numbers)
        if (number.includes('.')) expect(number.split('.')[0]).toBe(part)
        else part = number
    },
  )

  test('is cited by headings that exist', () => {
    const files = ['src', 'test', 'bench', 'demo', 'docs', 'scripts'].flatMap((below) =>
      glob('**/*.{ts,md}', below).map((path) => join(below, path)),
    )
    const cited = files
      .filter((path) => path !== 'test/docs/reference.test.ts')
      .flatMap((path) => citations(readFileSync(join(root, path), 'utf8')).map((one) => ({ path, one })))
    expect(cited.length).toBeGreaterThan(0)
    expect(cited.filter(({ one }) => !exists(one))).toEqual([])
  })

  test('a citation of a heading that is not there is found', () => {
    const text = 'docs/reference/gateway.md 2.1, 99.1 and docs/reference/nothing.md'
    expect(citations(text)).toEqual(['gateway.md 2.1', 'gateway.md 99.1', 'nothing.md'])
    expect(citations(text).filter(exists)).toEqual(['gateway.md 2.1'])
  })

  test('its links to headings of the same folder name headings that exist', () => {
    const anchors = (text: string) =>
      [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      )
    const broken = [...pages].flatMap(([name, text]) =>
      [...text.matchAll(/\]\(([\w-]+\.md)?#([^)]+)\)/g)]
        .filter(([, other = name, anchor = '']) => !anchors(page(other)).includes(anchor))
        .map(([link]) => `${name}: ${link}`),
    )
    expect(broken).toEqual([])
  })
})

describe('docs/reference says what the code says', () => {
  const firstCells = (text: string) => [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, cell = '']) => cell)

  test('of the labels of the graph', () => {
    const [, vertices = '', edges = ''] = page('graph.md').split(/^(?:### 1\.\d|## 2)/m)
    expect(firstCells(vertices)).toEqual([...vertexLabels])
    expect(firstCells(edges)).toEqual([...edgeLabels])
    expect(vertices).toContain(`There are ${vertexLabels.length}.`)
    expect(edges).toContain(`There are ${edgeLabels.length}.`)
  })

  test('of the kinds of catalogs', () => {
    const flag = (on: boolean) => (on ? 'yes' : 'no')
    for (const kind of catalogKinds) {
      const { live, branches, credentialVending, webhooks, atomicTransactions, namespaceDepthMax } =
        capabilitiesOf(kind)
      const cells = live
        ? [
            'live',
            ...[branches, credentialVending, webhooks, atomicTransactions].map(flag),
            namespaceDepthMax,
          ]
        : ['stub', '–', '–', '–', '–', '–']
      expect(page('catalogs.md')).toContain(`| \`${kind}\` | ${cells.join(' | ')} |`)
    }
  })

  test('of policies, masks and capabilities', () => {
    for (const name of [...policyKinds, ...policyErrorCodes])
      expect(page('policies.md')).toContain(`\`${name}\``)
    const actions = page('masks-and-filters.md').split('### 2.1 ')[1]?.split('\n### ')[0] ?? ''
    const listed = [...actions.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
    expect(listed.filter((name) => name !== 'read-restrictions')).toEqual([...maskActions])
    for (const name of [...communityCapabilities, ...commercialCapabilities])
      expect(page('license.md')).toContain(`\`${name}\``)
  })

  test('of limits', () => {
    const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`
    const text = page('limits.md')
    for (const sentence of [
      `| commit | ${mebibytes(limits.commitBodyBytesMax)} | 413 |`,
      `| lineage event | ${mebibytes(limits.lineageBodyBytesMax)} | 400 |`,
      `| webhook | ${limits.webhookBodyBytesMax / 1024} KiB |`,
      `at most ${limits.identifierLengthMax} characters`,
      `at most ${limits.jsonDepthMax} levels`,
      `at most ${limits.transactionTablesMax} tables`,
      `${limits.graphHopsDefault} hops by default and ${limits.graphHopsMax} at most`,
      `intent lease ${limits.intentLeaseMs / 1000} s, forward within ${limits.forwardWithinMs / 1000} s`,
      `Baseline poll ${limits.detectionPollMs / 1000} s`,
      `${mebibytes(limits.detectionBytesMax)} and ${limits.detectionFilesMax} files`,
    ])
      expect(text).toContain(sentence)
  })
})
