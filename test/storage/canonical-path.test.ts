/** Canonical texts of locations: what is one, what is refused, and that no spelling leaves a prefix. */

import { describe, expect, test } from 'bun:test'
import { seededRandom } from '../../bench/statistics.ts'
import {
  ancestorsOf,
  canonicalPath,
  canonicalPrefix,
  isWithin,
  whereaboutsIn,
} from '../../src/storage/canonical-path.ts'
import { parseLocation } from '../../src/storage/locations.ts'
import { roundsOf } from '../support/long-form.ts'

const pathOf = (text: string) => {
  const canonical = canonicalPath(text)
  return canonical.isClear ? canonical.path : undefined
}
const prefixOf = (text: string) => {
  const canonical = canonicalPrefix(text)
  return canonical.isClear ? canonical.path : undefined
}

describe('a canonical path', () => {
  test.each([
    ['s3://lake/db/t/a.parquet', 's3://lake/db/t/a.parquet'],
    ['s3a://lake/db/t/a.parquet', 's3://lake/db/t/a.parquet'],
    ['s3n://lake/db/t/a.parquet', 's3://lake/db/t/a.parquet'],
    ['S3A://lake/db/t/a.parquet', 's3://lake/db/t/a.parquet'],
    ['s3://lake/db/p=a%2Fb/a.parquet', 's3://lake/db/p=a%2Fb/a.parquet'],
    ['s3://lake/db/a b.parquet', 's3://lake/db/a b.parquet'],
    ['s3://lake/db/é.parquet', 's3://lake/db/é.parquet'],
    ['https://lake.s3.eu-west-1.amazonaws.com/db/a%20b', 's3://lake/db/a b'],
    ['https://s3.amazonaws.com/lake/db/a', 's3://lake/db/a'],
    ['https://s3.dualstack.us-east-1.amazonaws.com/lake/db%2Fa', 's3://lake/db/a'],
    ['https://LAKE.s3.amazonaws.com/db/a', 's3://lake/db/a'],
    ['gs://lake/db/a', 'gs://lake/db/a'],
    ['https://storage.googleapis.com/lake/db/a', 'gs://lake/db/a'],
    ['https://lake.storage.googleapis.com/db/a', 'gs://lake/db/a'],
    ['abfss://lake@acme.dfs.core.windows.net/db/a', 'abfss://lake@acme.dfs.core.windows.net/db/a'],
    ['abfs://lake@acme.dfs.core.windows.net/db/a', 'abfss://lake@acme.dfs.core.windows.net/db/a'],
    ['wasbs://lake@acme.blob.core.windows.net/db/a', 'abfss://lake@acme.dfs.core.windows.net/db/a'],
    ['wasb://lake@ACME.blob.core.windows.net/db/a', 'abfss://lake@acme.dfs.core.windows.net/db/a'],
    ['https://acme.blob.core.windows.net/lake/db/a', 'abfss://lake@acme.dfs.core.windows.net/db/a'],
    ['https://acme.dfs.core.windows.net/lake/db/a', 'abfss://lake@acme.dfs.core.windows.net/db/a'],
    ['file:///data/t/a', 'file:///data/t/a'],
    ['file:/data/t/a', 'file:///data/t/a'],
    ['/data//t/a', 'file:///data/t/a'],
    ['file:///data/a%20b', 'file:///data/a b'],
    ['/data/a%20b', 'file:///data/a%2520b'],
  ])('of %s is %s', (text, expected) => {
    expect(pathOf(text)).toBe(expected)
    expect(pathOf(expected)).toBe(expected)
  })

  test.each([
    ['a dot segment', 's3://lake/db/../x'],
    ['an encoded dot segment', 's3://lake/db/%2e%2e/x'],
    ['a dot segment behind an encoded slash', 's3://lake/db/a%2f..%2fb'],
    ['a dot segment between backslashes', 's3://lake/db\\..\\x'],
    ['a backslash', 's3://lake/db\\x'],
    ['a doubled slash', 's3://lake/db//x'],
    ['a slash at the start of a key', 's3://lake//db/x'],
    ['a trailing slash', 's3://lake/db/x/'],
    ['a query', 's3://lake/db/x?versionId=1'],
    ['a fragment', 's3://lake/db/x#1'],
    ['a space at the end', 's3://lake/db/x '],
    ['a bucket alone', 's3://lake'],
    ['a bucket in capital letters', 's3://Lake/db/x'],
    ['an access point', 's3://arn:aws:s3:eu-west-1:123456789012:accesspoint/lake/object/x'],
    ['the alias of an access point', 's3://lake-ap-0a1b2c3d4e5f-s3alias/db/x'],
    ['a user in the address', 's3://user@lake/db/x'],
    ['a port', 's3://lake:9000/db/x'],
    ['a URL of an unknown host', 'https://minio.example.com/lake/db/x'],
    ['a URL of an access point', 'https://lake-123456789012.s3-accesspoint.eu-west-1.amazonaws.com/x'],
    ['a URL with a plus sign', 'https://lake.s3.amazonaws.com/a+b'],
    ['a URL with an encoded dot segment', 'https://lake.s3.amazonaws.com/db/%2e%2e/x'],
    ['a URL with a signature', 'https://lake.s3.amazonaws.com/db/x?X-Amz-Signature=1'],
    ['an Azure address without an account', 'abfss://lake/db/x'],
    ['an escape in an Azure path', 'abfss://lake@acme.dfs.core.windows.net/db/a%20b'],
    ['a dot at the end of an Azure name', 'abfss://lake@acme.dfs.core.windows.net/db./a'],
    ['a file on another host', 'file://host/data/x'],
    ['a file behind an encoded slash', 'file:///data/a%2fb'],
    ['an escape that is none', 'file:///data/%zz'],
    ['a control character', '/data/a\u0000b'],
    ['half a surrogate pair', 's3://lake/\ud800'],
    ['an unknown scheme', 'hdfs://lake/db/x'],
    ['a relative path', 'data/x'],
    ['nothing', ''],
    ['a text without end', `s3://lake/${'a'.repeat(5000)}`],
  ])('is refused for %s', (_, text) => {
    const canonical = canonicalPath(text)
    expect(canonical.isClear).toBe(false)
    if (!canonical.isClear && text !== '') expect(canonical.reason).not.toContain(text)
  })
})

describe('a canonical prefix', () => {
  test.each([
    ['s3a://lake/db/t', 's3://lake/db/t/'],
    ['s3://lake/db/t//', 's3://lake/db/t/'],
    ['s3://lake', 's3://lake/'],
    ['s3://lake/', 's3://lake/'],
    ['/data/t/', 'file:///data/t/'],
    ['file:///', 'file:///'],
    ['/', 'file:///'],
    ['s3://', undefined],
    ['s3://lake/a//b', undefined],
  ])('of %s is %s', (text, expected) => {
    expect(prefixOf(text)).toBe(expected)
    if (expected !== undefined) expect(prefixOf(expected)).toBe(expected)
  })

  test('has itself and all folders above it as ancestors, down from the bucket', () => {
    expect(ancestorsOf('s3://lake/db/t/')).toEqual(['s3://lake/', 's3://lake/db/', 's3://lake/db/t/'])
    expect(ancestorsOf('file:///data/')).toEqual(['file:///', 'file:///data/'])
    expect(ancestorsOf('abfss://c@a.dfs.core.windows.net/x/')).toHaveLength(2)
  })

  test('holds what lies below it, on a boundary between names', () => {
    expect(isWithin('s3://lake/db/t/', 's3://lake/db/t/a')).toBe(true)
    expect(isWithin('s3://lake/db/t/', 's3://lake/db/t/')).toBe(false)
    expect(isWithin('s3://lake/db/t/', 's3://lake/db/t2/a')).toBe(false)
    expect(isWithin('s3://lake/db/t', 's3://lake/db/t2/a')).toBe(false)
  })
})

/** How readers that we did not write turn a text into bucket and key. Each is a model of its source code. */
const s3Readers: Readonly<Record<string, (text: string) => string | undefined>> = {
  // org.apache.iceberg.aws.s3.S3URI
  S3FileIO(text) {
    const parts = text.split('://')
    const [, rest = ''] = parts
    const slash = rest.indexOf('/')
    if (parts.length !== 2 || slash < 0) return undefined
    const key = rest
      .slice(slash + 1)
      .split('?')[0]
      ?.split('#')[0]
    return `${rest.slice(0, slash)}\n${key}`
  },
  // org.apache.hadoop.fs.Path, then S3A
  Hadoop(text) {
    const match = /^[a-z0-9]+:\/\/([^/]+)(\/.*)$/is.exec(text)
    if (match === null) return undefined
    const names: string[] = []
    for (const name of (match[2] ?? '').split('/')) {
      if (name === '..') names.pop()
      else if (name !== '' && name !== '.') names.push(name)
    }
    return `${match[1]}\n${names.join('/')}`
  },
  // pyiceberg.io: urllib.parse.urlparse, netloc and path
  PyIceberg(text) {
    const match = /^[a-z0-9]+:\/\/([^/?#]+)([^?#]*)/is.exec(text.trim())
    return match === null ? undefined : `${match[1]}\n${(match[2] ?? '').replace(/^\//, '')}`
  },
  // java.net.URI.getPath, as the AWS SDK's S3Utilities reads addresses
  decoding(text) {
    const match = /^[a-z0-9]+:\/\/([^/?#]+)\/([^?#]*)/is.exec(text)
    if (match === null) return undefined
    try {
      const names = decodeURIComponent(match[2] ?? '').split('/')
      return names.some((name) => name === '..' || name === '.') ? 'left the prefix' : `${match[1]}\n`
    } catch {
      return undefined
    }
  },
}

describe('spelled at random', () => {
  const seed = 20261123
  const pieces = [
    ...['db', 't', 'secret', '/', '/', '/', '//', '.', '..', '/../', '/./', '%2e', '%2E%2e', '%2f', '%5c'],
    ...['\\', '?', '#', '%', '%25', '%00', ' ', '+', ':', '@', 'é', 'e\u0301', '\u0000', '\n', '*', '~', ';'],
  ]
  const starts = [
    ...['s3://lake/', 's3a://lake/', 's3n://lake/', 'S3://lake/', 's3://Lake/', 's3://lake', 's3:/lake/'],
    ...['file:///', 'file:/', '/', 'file://', 'FILE:///', 'gs://lake/', 'https://lake.s3.amazonaws.com/'],
    ...[
      'https://s3.amazonaws.com/lake/',
      'abfs://c@acc.dfs.core.windows.net/',
      'wasb://c@acc.blob.core.windows.net/',
    ],
  ]
  const random = seededRandom(seed)
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? ''
  const texts = Array.from({ length: roundsOf(100_000) }, () => {
    const length = Math.floor(random() * 8)
    const folder = random() < 0.5 ? 'db/' : ''
    return pick(starts) + folder + Array.from({ length }, () => pick(pieces)).join('')
  })

  test(`each canonical path is its own, and storage opens it as it opens the text (seed ${seed})`, () => {
    let clear = 0
    for (const text of texts) {
      const path = pathOf(text)
      if (path === undefined) continue
      clear++
      expect(pathOf(path)).toBe(path)
      const opened = parseLocation(text)
      if (opened !== undefined) expect([text, parseLocation(path)]).toEqual([text, opened])
    }
    expect(clear).toBeGreaterThan(texts.length / 50)
  })

  test(`every reader opens what the canonical path names (seed ${seed})`, () => {
    let compared = 0
    for (const text of texts) {
      const path = pathOf(text)
      if (!/^s3[an]?:/i.test(text) || path === undefined) continue
      const [, bucket, key] = /^s3:\/\/([^/]+)\/(.*)$/s.exec(path) ?? []
      for (const [name, read] of Object.entries(s3Readers)) {
        const opened = read(text)
        if (opened === undefined) continue
        compared++
        const expected = name === 'decoding' ? `${bucket}\n` : `${bucket}\n${key}`
        expect([name, text, opened]).toEqual([name, text, expected])
      }
    }
    expect(compared).toBeGreaterThan(1000)
  })

  test(`no path leaves a prefix that it is judged to lie in, for any reader (seed ${seed})`, () => {
    const judge = whereaboutsIn({ prefixes: ['s3://lake/db/', 'file:///db/'] })
    let inside = 0
    for (const text of texts) {
      if (judge(text) !== 'inside') continue
      inside++
      if (/^s3/i.test(text))
        for (const [name, read] of Object.entries(s3Readers))
          expect([name, text, read(text) ?? 'lake\ndb/']).toEqual([
            name,
            text,
            expect.stringMatching(name === 'decoding' ? /^lake\n/ : /^lake\ndb\//),
          ])
    }
    expect(inside).toBeGreaterThan(50)
  })

  test(`the quick judgement is that of the canonical path (seed ${seed})`, () => {
    const prefixes = [
      's3://lake/db/',
      's3://lake/t/',
      'file:///db/',
      'gs://lake/t/',
      'abfss://c@acc.dfs.core.windows.net/db/',
    ]
    const judge = whereaboutsIn({ prefixes })
    for (const text of texts) {
      const path = pathOf(text)
      const isInside = path !== undefined && prefixes.some((prefix) => isWithin(prefix, path))
      const expected = path === undefined ? 'unclear' : isInside ? 'inside' : 'outside'
      expect([text, judge(text)]).toEqual([text, expected])
    }
  })

  test('a territory without prefixes holds nothing', () => {
    const judge = whereaboutsIn({ prefixes: [] })
    expect(texts.slice(0, 1000).map(judge)).not.toContain('inside')
    expect(whereaboutsIn({ prefixes: ['s3://lake/db'] })('s3://lake/db/x')).toBe('outside')
  })
})
