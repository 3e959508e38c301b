/** docs/transform.md: its imports are published, its routes and its command exist, and its rules are carried out. */

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { exports } from '../../package.json'
import { transform } from '../../src/admin/transform-verb.ts'
import { protectionOperations } from '../../src/protection/operations.ts'
import { revealOperations } from '../../src/protection/reveal-operations.ts'
import { subjectOperations } from '../../src/protection/subject-operations.ts'
import { problemOf } from '../../src/transform/plan.ts'

const root = new URL('../../', import.meta.url)
const text = readFileSync(new URL('docs/transform.md', root), 'utf8')

test('what it imports is published, and is in the file named', async () => {
  const imports = [...text.matchAll(/import \{ (\w+) \} from 'covenant\/([\w/]+)'/g)]
  expect(imports.length).toBeGreaterThan(1)
  for (const [, name = '', path] of imports) {
    const file = (exports as Record<string, string>)[`./${path}`] ?? ''
    expect(Object.keys(await import(new URL(file, root).pathname))).toContain(name)
  }
})

test('every published entry point is a file', () => {
  for (const file of Object.values(exports)) expect(existsSync(new URL(file, root))).toBe(true)
})

test('its commands are two, with flags that they take', async () => {
  const commands = [...text.matchAll(/^covenant transform (.+)$/gm)].map(([, words = '']) => words)
  expect(commands.map((words) => words.split(' ')[0])).toEqual(['preview', 'sql'])
  for (const words of commands) await takesFlags(words)
})

async function takesFlags(words: string): Promise<void> {
  const said: string[] = []
  const terminal = {
    env: {},
    stdin: async () => '',
    print: () => {},
    complain: (line: string) => void said.push(line),
  }
  expect(await transform(words.split(' '), terminal)).toBe(64)
  // The flags are read before the address is missed.
  expect(said.join()).toContain('COVENANT_URL')
}

test('its rules are sent where it says, and can be carried out', () => {
  const shown = [...text.matchAll(/^(PUT|POST) (\/api\/v1\/\S+)\n(\{.+\})$/gm)]
  expect(shown).toHaveLength(5)
  const routes = [...protectionOperations, ...revealOperations, ...subjectOperations].map(
    ({ method, path }) => `${method} ${path.replace(/\{\w+\+?\}/g, '[^/]+')}`,
  )
  for (const [, method, path, body = ''] of shown) {
    expect(routes.some((route) => new RegExp(`^${route}$`).test(`${method} ${path}`))).toBe(true)
    if (!path?.includes('/rules/')) continue
    const rule = { type: 'string', required: false, scope: 's', kid: 'k1', ...JSON.parse(body) }
    expect(problemOf(rule)).toBeUndefined()
  }
})
