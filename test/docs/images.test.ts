/** Each diagram of the documents has a light and a dark form that differ in style only, and both are used. */

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const images = join(root, 'docs/images')
const read = (name: string) => readFileSync(join(images, name), 'utf8')
const light = [...new Bun.Glob('*-light.svg').scanSync({ cwd: images })].sort()
const dark = [...new Bun.Glob('*-dark.svg').scanSync({ cwd: images })].sort()
const withoutStyle = (svg: string) => svg.replace(/<style>.*?<\/style>/s, '')
const pages = ['README.md', 'ARCHITECTURE.md', ...new Bun.Glob('docs/**/*.md').scanSync({ cwd: root })]
const named = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, path = '']) =>
    join(dirname(page), path),
  ),
)

test('every diagram is there for a light and for a dark page', () => {
  expect(light.length).toBeGreaterThan(2)
  expect(dark).toEqual(light.map((name) => name.replace('-light', '-dark')))
})

test.each(light)('%s and its dark twin differ in their style alone', (name) => {
  const twin = read(name.replace('-light', '-dark'))
  expect(withoutStyle(twin)).toBe(withoutStyle(read(name)))
  expect(twin).not.toBe(read(name))
})

test.each([...light, ...dark])('%s says in words what it shows, and loads nothing', (name) => {
  expect(read(name)).toMatch(/<title id="title">[^<]+<\/title>\s*<desc id="description">[^<]+<\/desc>/)
  expect(read(name)).not.toMatch(/<script|href=|url\((?!#)|@import/)
})

test('pages show diagrams that exist, and no diagram is unused', () => {
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  for (const name of [...light, ...dark]) expect(named).toContain(`docs/images/${name}`)
})
