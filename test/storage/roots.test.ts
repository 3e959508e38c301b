/** Which locations lie below the storage roots, held against an oracle that reads texts in another way. */

import { describe, expect, test } from 'bun:test'
import { canonicalPath } from '../../src/storage/canonical-path.ts'
import { admitLocation, parseRoots } from '../../src/storage/locations.ts'
import { givenOut, isOutOfBounds, rootProblem, storageRoots, withinRoots } from '../../src/storage/roots.ts'
import { sessionPolicy } from '../../src/vending/aws/session-policy.ts'
import { generator } from '../support/generator.ts'

describe('a root', () => {
  test.each([
    ['s3://lake/root', 's3://lake/root', true],
    ['s3://lake/root', 's3://lake/root/', true],
    ['s3://lake/root/', 's3a://lake/root/t', true],
    ['s3n://lake/root', 's3://lake/root/t//', true],
    ['s3://lake', 's3://lake/t', true],
    ['/srv/lake', 'file:///srv/lake/t', true],
    ['gs://lake/root', 'gs://lake/root/t', true],
    ['abfss://lake@acct.dfs.core.windows.net/root', 'abfs://lake@acct.blob.core.windows.net/root/t', true],
    ['s3://lake/root', 's3://lake/root-x/t', false],
    ['s3://lake/root', 's3://lake/roo', false],
    ['s3://lake/root', 's3://lake', false],
    ['s3://lake/root', 's3://lake/Root/t', false],
    ['s3://lake/root', 's3://lake/root/../other', false],
    ['s3://lake/root', 's3://lake/root/%2e%2e/other', false],
    ['s3://lake/root', 's3://lake/root%2f..%2fother', false],
    ['s3://lake/root', 's3://lake/root//t', false],
    ['s3://lake/root', 's3://lake@other/root/t', false],
    ['s3://lake/root', 's3://lake:9000/root/t', false],
    ['s3://lake/root', 's3://other/lake/root/t', false],
    ['s3://lake/root', 'gs://lake/root/t', false],
    ['s3://lake/root', 's3://lake/root/t?versionId=1', false],
    ['s3://lake/root', 's3://lake/root\\..\\other', false],
    ['/srv/lake', '/srv/lake/../other', false],
    ['/srv/lake', 'file://host/srv/lake/t', false],
    ['s3://lake/ro\u006f\u0301t', 's3://lake/ro\u00f3t/t', false],
  ])('%s holds %s: %s', (root, location, holds) => {
    expect(withinRoots(location, [root])).toBe(holds)
    expect(isOutOfBounds(location, [root])).toBe(!holds)
  })

  test.each([
    ['ftp://lake/x'],
    ['s3://Lake_/x'],
    ['s3://lake/../x'],
    ['https://lake.s3.amazonaws.com/x'],
    [''],
  ])('that is %p bounds nothing, and holds nothing', (root) => {
    expect(rootProblem(root)).toBeString()
    expect(withinRoots('s3://lake/x/t', [root])).toBe(false)
    expect(isOutOfBounds('s3://lake/x/t', [root])).toBe(true)
  })

  test('is needed for whatever is given out, and for no territory', () => {
    expect(givenOut(['s3://lake/t/'], {})).toEqual([])
    expect(givenOut(['s3://lake/t/', 's3://other/t/'], { storage_roots: ['s3://lake'] })).toEqual([
      's3://lake/t/',
    ])
    expect(isOutOfBounds('s3://lake/t', [])).toBe(false)
    expect(storageRoots({ storage_roots: 's3://lake' })).toEqual([])
  })
})

const seed = 20_261_128
const buckets = ['lake', 'lake2', 'lake-x', 'Lake', 'other']
const names = ['root', 'root-x', 'rootx', 'Root', 'a', 'b', 'team', 'größe', 'c=1', 'x.y']
const tricks = [
  ...['..', '.', '', '%2e%2e', '%2E', '.%2e', 'a%2f..', '%5c', '\\', '..\\', 'a?b', 'a#b', '*', ' '],
  ...['%252e%252e', '．．', '\u0000', 'ro\u200bot', '..;', '...'],
]
const authorities = [
  (bucket: string) => `user@${bucket}`,
  (bucket: string) => `${bucket}:443`,
  (bucket: string) => `${bucket}.`,
  (bucket: string) => `${bucket}%2f`,
  (bucket: string) => bucket.toUpperCase(),
  (bucket: string) => `user:pass@${bucket}`,
]
const schemes = ['s3', 's3', 's3a', 's3n', 'S3', 'S3A', 'gs', 'file', 'https', 's4', 's3x']

interface Random {
  readonly integer: (below: number) => number
  readonly chance: (share: number) => boolean
  readonly pick: <T>(among: readonly T[]) => T
}

function randomOf(start: number): Random {
  const next = generator(start)
  const integer = (below: number) => Math.floor(next() * below)
  return {
    integer,
    chance: (share) => next() < share,
    pick: <T>(among: readonly T[]) => among[integer(among.length)] as T,
  }
}

function anyLocation(random: Random): string {
  const { chance, pick } = random
  const scheme = pick(schemes)
  const bucket = pick(buckets)
  const authority = chance(0.08) ? pick(authorities)(bucket) : bucket
  const levels = Array.from({ length: 1 + random.integer(4) }, () =>
    chance(0.06) ? pick(tricks) : pick(names),
  )
  const text =
    scheme === 'file' ? `file:///${levels.join('/')}` : `${scheme}://${authority}/${levels.join('/')}`
  return `${chance(0.02) ? ' ' : ''}${text}${pick(['', '', '', '/', '//'])}`
}

interface Read {
  readonly store: string
  readonly levels: readonly string[]
}

/** The oracle: takes a text apart level by level, and knows only what is certainly one object's name. */
function readBy(text: string): Read | undefined {
  if ([...text].some((one) => one < ' ' || one === '\u007f' || one === '\\' || one === '?' || one === '#'))
    return undefined
  let plainly = text
  while (plainly.endsWith('/')) plainly = plainly.slice(0, -1)
  if (!plainly.endsWith(':') && plainly !== plainly.trim()) return undefined
  const colon = text.indexOf(':')
  const scheme = text.slice(0, colon).toLowerCase()
  const isFile = scheme === 'file'
  if (isFile && !/^file:\/(?:\/\/)?(?:[^/]|$)/i.test(text)) return undefined
  const parts = text.slice(colon + 1).split('/')
  if (parts.shift() !== '') return undefined
  if (!isFile && parts.shift() !== '') return undefined
  if (isFile && parts[0] === '' && parts.length > 1) parts.splice(0, 2)
  const bucket = isFile ? '' : (parts.shift() ?? '')
  while (parts.length > 0 && parts.at(-1) === '') parts.pop()
  if (!isFile && (!buckets.includes(bucket) || bucket !== bucket.toLowerCase())) return undefined
  const store = { s3: 's3', s3a: 's3', s3n: 's3', gs: 'gs', file: 'file' }[scheme]
  if (store === undefined) return undefined
  const levels: string[] = []
  for (const part of parts) {
    let plain = part
    if (isFile) {
      if (/%2f|%5c/i.test(part)) return undefined
      try {
        plain = decodeURIComponent(part)
      } catch {
        return undefined
      }
    } else if (/%2e|%2f|%5c/i.test(part)) {
      const pieces = part
        .replace(/%2e/gi, '.')
        .replace(/%2f|%5c/gi, '/')
        .split('/')
      if (pieces.some((piece) => piece === '.' || piece === '..')) return undefined
    }
    if (plain === '.' || plain === '..') return undefined
    // Local file systems take doubled slashes for one; object stores do not.
    if (plain === '') {
      if (isFile) continue
      return undefined
    }
    levels.push(plain)
  }
  return { store: `${store}:${bucket}`, levels }
}

function heldBy(location: string, roots: readonly string[]): boolean {
  const read = readBy(location)
  if (read === undefined) return false
  return roots.some((text) => {
    const root = readBy(text)
    return (
      root !== undefined &&
      root.store === read.store &&
      root.levels.length <= read.levels.length &&
      root.levels.every((level, index) => level === read.levels[index])
    )
  })
}

test(`100,000 locations are held by the roots that hold them by another reading, and by no others (seed ${seed})`, () => {
  const random = randomOf(seed)
  const told = { inside: 0, outside: 0 }
  const wrong: unknown[] = []
  for (let at = 0; at < 100_000; at++) {
    const roots = Array.from({ length: 1 + random.integer(3) }, () => anyLocation(random))
    // Half of the locations begin as a root does, so that many lie below one or close beside it.
    const near = `${random.pick(roots).replace(/\/+$/, '')}${random.pick(['', '/', '-x', '/t', '/../b', '/%2e%2e/b', '//b', '/größe', 'x/t', '%2f..'])}`
    const location = random.chance(0.6) ? near : anyLocation(random)
    const within = withinRoots(location, roots)
    told[within ? 'inside' : 'outside']++
    if (within !== heldBy(location, roots)) wrong.push({ location, roots, within })
  }
  expect(wrong.slice(0, 5)).toEqual([])
  expect(told.inside).toBeGreaterThan(10_000)
  expect(told.outside).toBeGreaterThan(20_000)
})

test(`whatever is given out by a policy of a session is below a root for a reader that normalises paths (seed ${seed})`, () => {
  const random = randomOf(seed + 1)
  let issued = 0
  for (let at = 0; at < 20_000; at++) {
    const roots = Array.from({ length: 1 + random.integer(2) }, () => anyLocation(random))
    const prefixes = Array.from({ length: 3 }, () => {
      const start = random.chance(0.7) ? random.pick(roots).replace(/\/+$/, '') : anyLocation(random)
      return `${start}/${random.pick(names)}/`
    })
    const bounded = givenOut(prefixes, { storage_roots: roots })
    const made = sessionPolicy(
      { prefixes: bounded, access: 'write' },
      { partition: 'aws', deletes: true, kmsKeyArn: undefined },
    )
    if ('refusal' in made) continue
    issued++
    for (const [, bucket = '', key = ''] of made.policy.matchAll(/arn:aws:s3:::([^"/*]+)\/([^"]+)\*"/g)) {
      const isBelow = roots.some((root) => {
        const [, name = '', folder = ''] = /^s3[an]?:\/\/([^/]+)\/?(.*?)\/*$/i.exec(root) ?? []
        return name === bucket && normalised(bucket, key).startsWith(normalised(bucket, `${folder}/`))
      })
      expect([made.policy, roots, isBelow]).toEqual([made.policy, roots, true])
    }
  }
  expect(issued).toBeGreaterThan(1_000)
})

test(`what storage opens below a root is held by it, where its text has one meaning (seed ${seed})`, () => {
  const random = randomOf(seed + 2)
  let opened = 0
  for (let at = 0; at < 20_000; at++) {
    const root = anyLocation(random)
    const location = random.chance(0.7) ? `${root.replace(/\/+$/, '')}/t` : anyLocation(random)
    if (rootProblem(root) !== undefined || !canonicalPath(location).isClear || !opens(location, root))
      continue
    opened++
    expect([location, root, withinRoots(location, [root])]).toEqual([location, root, true])
  }
  expect(opened).toBeGreaterThan(1_000)
})

/** As readers open it that decode escapes and take a doubled slash for one. */
function normalised(bucket: string, key: string): string {
  const { pathname } = new URL(`http://${bucket}/${key}`)
  return pathname.replace(/\/{2,}/g, '/')
}

function opens(location: string, root: string): boolean {
  try {
    admitLocation(location, parseRoots([root]))
    return true
  } catch {
    return false
  }
}
