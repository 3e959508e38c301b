/** The search of the documentation finds sections by their words, and shows what was asked as text. */

import { expect, test } from 'bun:test'
import { documentationRoutes } from '../../../src/server/documentation/routes.ts'

const routes = documentationRoutes()
const get = (path: string) => routes.handle(new Request(`http://localhost${path}`))
const find = async (question: string) => {
  const answer = await get(`/docs/search?q=${encodeURIComponent(question)}`)
  expect([question, answer.status]).toEqual([question, 200])
  return answer.text()
}
const linksOf = (text: string) => [...text.matchAll(/<li><a href="([^"]+)"/g)].map(([, href = '']) => href)

test.each([
  ['row filter', 'contracts.md'],
  ['pgbouncer', 'operations.md'],
  ['FF1', 'transform.md'],
  ['drillthrough', 'xmla.md'],
  ['git drift', 'contracts-in-git.md'],
  ['SVC_SECRETS_KEY', 'configuration.md'],
])('%p leads to %s', async (question, page) => {
  expect(linksOf(await find(question)).some((href) => href.startsWith(`/docs/${page}`))).toBe(true)
})

test('a word that is not written whole, or with a slip, is found', async () => {
  expect(linksOf(await find('reconcil')).length).toBeGreaterThan(0)
  expect(linksOf(await find('atestation')).length).toBeGreaterThan(0)
})

test('every link of a result leads to a heading that is there', async () => {
  for (const href of linksOf(await find('commit policy'))) {
    const [path = '', anchor] = href.split('#')
    const text = await (await get(path)).text()
    expect([href, anchor === undefined || text.includes(` id="${anchor}"`)]).toEqual([href, true])
  }
})

test('at most twenty sections are shown', async () => {
  expect(linksOf(await find('the table of a catalog')).length).toBe(20)
})

test('words that are nowhere, and none at all, are answered in a sentence', async () => {
  expect(await find('xyzzyplugh')).toContain('Nothing was found for “xyzzyplugh”.')
  expect(await find('  ')).toContain('Write words into the field above.')
  expect((await get('/docs/search')).status).toBe(200)
})

test.each(['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "'", '&lt;b&gt;', '</title><b>'])(
  '%p is shown as text',
  async (question) => {
    const text = await find(question)
    expect(text).not.toMatch(/<script|<img|<b>/)
    expect(text).toContain(
      question
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;'),
    )
  },
)

test('a question that is too long, and a parameter that there is not, are refused', async () => {
  expect((await get(`/docs/search?q=${'x'.repeat(201)}`)).status).toBe(400)
  expect((await get('/docs/search?query=mask')).status).toBe(400)
})
