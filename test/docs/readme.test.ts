/** What the README and the pages of docs/ name is there. readme.walks.ts runs the walk-through. */

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')

test('the README and the pages of docs/ link to files that exist', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    ...new Bun.Glob('docs/**/*.md').scanSync({ cwd: root }),
  ]
  expect(pages.length).toBeGreaterThan(5)
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^https?:/.test(target) && !existsSync(join(root, page, '..', target)))
      .map((target) => `${page}: ${target}`)
  })
  expect(broken).toEqual([])
})

test('files of the project that a page names are there', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    ...new Bun.Glob('docs/**/*.md').scanSync({ cwd: root }),
  ]
  const named = pages.flatMap((page) =>
    [
      ...readFileSync(join(root, page), 'utf8').matchAll(
        /`((?:src|test|docs|deploy|demo|migrations|scripts)\/[\w./-]+)`/g,
      ),
    ].map(([, path = '']) => ({ page, path })),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
})

test('the README names only npm scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const named = [...readme.matchAll(/(?:^|`)npm (?:run )?([a-z][a-z:]*)/gm)].map(([, name = '']) => name)
  expect(named).toContain('demo')
  for (const name of named) expect(Object.keys(scripts)).toContain(name)
})
