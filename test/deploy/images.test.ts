/** Every image that the repository names has a digest, or stands by name in a list that says why it has none. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesWithImages, isOwn, referencesIn, withDigests } from '../../scripts/release/image-references.ts'

const root = new URL('../../', import.meta.url).pathname
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const references = filesWithImages(root).flatMap((file) => referencesIn(file, read(file)))
const foreign = references.filter((one) => !isOwn(one))
const reasons = JSON.parse(read('scripts/release/undigested-images.json')) as Record<string, string>
const digest = `sha256:${'a'.repeat(64)}`

test('every image has a digest, or a reason under its name', () => {
  const without = foreign.filter((one) => one.digest === undefined)
  expect([...new Set(without.map(({ image }) => image))].sort()).toEqual(Object.keys(reasons).sort())
  for (const reason of Object.values(reasons)) expect(reason).toMatch(/^[A-Z].{20,}\.$/)
  for (const one of foreign.filter((one) => one.digest !== undefined))
    expect([one.image, one.digest]).toEqual([one.image, expect.stringMatching(/^sha256:[0-9a-f]{64}$/)])
})

test('an image has the same digest wherever it is named', () => {
  const named = new Set(foreign.map(({ image, digest }) => `${image}@${digest}`))
  expect(named.size).toBe(new Set(foreign.map(({ image }) => image)).size)
})

test('the images of Dockerfile, Compose, workflows and chart are among them', () => {
  const files = new Set(references.map(({ file }) => file))
  const expected = [
    '.github/workflows/build.yml',
    'Dockerfile',
    'compose.yaml',
    'deploy/helm/covenant/values.yaml',
  ]
  expect([...files].sort()).toEqual(expected)
})

/** Every text under the key `image` or `container` of a YAML document. */
function* imagesOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value))
    if ((key === 'image' || key === 'container') && typeof inner === 'string') yield inner
    else yield* imagesOf(inner)
}

test('lines are read as a parser of YAML reads them', () => {
  // Templates of the chart are no YAML before they are filled in.
  const files = filesWithImages(root).filter((file) => /\.ya?ml$/.test(file) && !file.includes('/templates/'))
  for (const file of files) {
    const parsed = [...imagesOf(Bun.YAML.parse(read(file)))]
    const found = referencesIn(file, read(file)).filter(({ text }) => text !== 'covenant')
    expect([file, found.map(({ text }) => text)]).toEqual([file, parsed])
  }
})

test.each<[what: string, file: string, text: string, images: readonly string[]]>([
  [
    'bases, not stages',
    'Dockerfile',
    'FROM --platform=linux/amd64 a:1 AS b\nFROM b\nFROM c:2',
    ['a:1', 'c:2'],
  ],
  [
    'what is copied from',
    'Dockerfile',
    'FROM a:1 AS b\nCOPY --from=b /x /x\nCOPY --from=c:2 /x /x',
    ['a:1', 'c:2'],
  ],
  [
    'what is mounted',
    'x/Dockerfile',
    'FROM a:1\nRUN --mount=type=bind,from=c:2,target=/x ls',
    ['a:1', 'c:2'],
  ],
  ['no comment', 'Dockerfile', '# FROM a:1\nFROM scratch', []],
  [
    'flow and quotes',
    'a.yml',
    'x: {image: "a:1"}\ny: { image: b:2, z: 1 }\nimage: c:3 # why',
    ['a:1', 'b:2', 'c:3'],
  ],
  ['variables', 'a.yml', `image: a:$\{TAG:-1}`, [`a:$\{TAG:-1}`]],
  ['a container of a workflow', 'a.yml', 'container: a:1\ncontainer:\n  image: b:2', ['a:1', 'b:2']],
  ['an action in an image', 'a.yml', '- uses: docker://a:1\n- uses: actions/checkout@v4', ['a:1']],
  ['no template', 'templates/a.yaml', 'image: {{ include "a" . }}', []],
])('images are found: %s', (_, file, text, images) => {
  expect(referencesIn(file, text).map(({ image }) => image)).toEqual([...images])
})

test('a digest is written behind the name and replaces an older one; the rest stays as it is', () => {
  const digests = new Map([['a:1', digest]])
  const dockerfile = 'FROM a:1 AS x\nLABEL base="a:1"\nFROM a:1-slim\n'
  expect(withDigests('Dockerfile', dockerfile, digests)).toBe(
    `FROM a:1@${digest} AS x\nLABEL base="a:1"\nFROM a:1-slim\n`,
  )
  const compose = `x: { image: "a:1@sha256:${'b'.repeat(64)}" } # a:1\n`
  expect(withDigests('compose.yaml', compose, digests)).toBe(`x: { image: "a:1@${digest}" } # a:1\n`)
})
