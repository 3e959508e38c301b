/** Which requests to S3 are signed: of a reader, the files of one snapshot; of a writer, the folders of one table. */

import { describe, expect, test } from 'bun:test'
import { judgeRequest, type SignScope } from '../../src/vending/sign/judge-request.ts'

const storage = { endpoint: new URL('https://storage.example:9000'), isPathStyle: true }
const at = 'https://storage.example:9000'
const file = `${at}/lake/wh/orders/data/a.parquet`
const scope = (more: Partial<SignScope> = {}): SignScope => ({
  access: 'write',
  deletes: false,
  prefixes: ['s3://lake/wh/orders/'],
  mayRead: (path) => path === 's3://lake/wh/orders/data/a.parquet',
  ...more,
})
const reader = scope({ access: 'read' })

function refusal(method: string, uri: string, more: Partial<SignScope> = {}, headers: object = {}) {
  const request = { method, uri, headers: headers as Record<string, string[]> }
  const judged = judgeRequest(request, storage, scope(more))
  return judged.isAllowed ? undefined : judged.refusal
}

describe('a writer', () => {
  test.each([
    ['GET', file],
    ['HEAD', file],
    ['GET', `${file}?x-id=GetObject`],
    ['PUT', file],
    ['PUT', `${file}?x-id=PutObject`],
    ['POST', `${file}?uploads`],
    ['POST', `${file}?uploads=`],
    ['PUT', `${file}?partNumber=1&uploadId=u`],
    ['POST', `${file}?uploadId=u`],
    ['DELETE', `${file}?uploadId=u`],
    ['GET', `${at}/lake?list-type=2&prefix=wh%2Forders%2F&delimiter=%2F`],
    ['GET', `${at}/lake/?list-type=2&prefix=wh/orders/data/`],
    ['PUT', `${at}/lake/wh/orders/data/region%3Deu/%C3%A4.parquet`],
  ])('has signed what concerns the table: %s %s', (method, uri) => {
    expect(refusal(method, uri)).toBeUndefined()
  })

  test('deletes where the catalog allows it', () => {
    expect(refusal('DELETE', file)).toContain('deletes')
    expect(refusal('DELETE', file, { deletes: true })).toBeUndefined()
  })

  test.each([
    `${at}/lake/wh/secrets/data/a.parquet`,
    `${at}/lake/wh/orders_2/a.parquet`,
    `${at}/lake/wh/orders`,
    `${at}/lake/wh/orders/`,
    `${at}/other/wh/orders/data/a.parquet`,
    `${at}/lake/wh/orders/../secrets/a.parquet`,
    `${at}/lake/wh/orders/%2e%2e/secrets/a.parquet`,
    `${at}/lake/wh/orders/..%2fsecrets/a.parquet`,
    `${at}/lake/wh/orders//a.parquet`,
    `${at}/lake//wh/orders/a.parquet`,
    `${at}/lake/wh/orders/%00`,
    `${at}/lake/wh/orders/%zz`,
    `https://storage.example/lake/wh/orders/data/a.parquet`,
    `http://storage.example:9000/lake/wh/orders/data/a.parquet`,
    `https://evil.example/lake/wh/orders/data/a.parquet`,
    `https://storage.example:9000@evil.example/lake/wh/orders/data/a.parquet`,
    `https://user@storage.example:9000/lake/wh/orders/data/a.parquet`,
    `${file}#x`,
    `ftp://storage.example:9000/lake/wh/orders/data/a.parquet`,
    '',
    'x'.repeat(10_000),
  ])('has nothing else signed: %s', (uri) => {
    for (const method of ['GET', 'HEAD', 'PUT']) expect(refusal(method, uri, { deletes: true })).toBeString()
  })

  test.each([
    ...['acl', 'tagging', 'policy', 'versioning', 'versions', 'lifecycle', 'cors', 'replication', 'torrent'],
    ...[
      'delete',
      'restore',
      'select',
      'retention',
      'legal-hold',
      'attributes',
      'versionId=1',
      'uploadId=u&acl',
    ],
    ...['response-content-type=x', 'X-Amz-Signature=x', 'x-id=a&x-id=b', 'uploads'],
  ])('has no sub-resource signed: ?%s', (query) => {
    expect(refusal('GET', `${file}?${query}`, { deletes: true })).toBeString()
    expect(refusal('GET', `${at}/lake?${query}`, { deletes: true })).toBeString()
    expect(refusal('PUT', `${at}/lake?${query}`, { deletes: true })).toBeString()
    expect(refusal('POST', `${at}/lake?${query}`, { deletes: true })).toBeString()
    if (query !== 'uploads') expect(refusal('POST', `${file}?${query}`, { deletes: true })).toBeString()
  })

  test.each([
    'x-amz-copy-source',
    'X-Amz-Copy-Source',
    'x-amz-copy-source-range',
    'x-amz-acl',
    'x-amz-grant-read',
    'x-amz-tagging',
    'x-amz-website-redirect-location',
    'x-amz-bypass-governance-retention',
    'x-amz-object-lock-mode',
    'x-amz-security-token',
    'x-amz-meta-a',
  ])('has no header signed that does more: %s', (name) => {
    expect(refusal('PUT', file, {}, { [name]: ['lake/wh/secrets/a'] })).toContain('header')
  })

  test('has a payload signed that needs no signatures of its own', () => {
    const payload = (text: string) => refusal('PUT', file, {}, { 'x-amz-content-sha256': [text] })
    expect(payload('UNSIGNED-PAYLOAD')).toBeUndefined()
    expect(payload('a'.repeat(64))).toBeUndefined()
    expect(payload('STREAMING-AWS4-HMAC-SHA256-PAYLOAD')).toContain('payload')
  })

  test.each(['', 'wh', 'wh/', 'wh/orders', 'wh/orders_2/', 'wh/secrets/', 'wh/orders/../', 'wh/orders//'])(
    'lists a folder of the table only, with its slash: not %s',
    (prefix) => {
      const uri = `${at}/lake?list-type=2&prefix=${encodeURIComponent(prefix)}`
      expect(refusal('GET', uri)).toContain('lists')
    },
  )
})

describe('a reader', () => {
  test('has the files of the snapshot signed, whose signature may be used again', () => {
    for (const method of ['GET', 'HEAD'])
      expect(judgeRequest({ method, uri: file, headers: {} }, storage, reader)).toMatchObject({
        isAllowed: true,
        isRepeatable: true,
      })
  })

  test('has no other file of the table signed, and writes nothing', () => {
    const other = `${at}/lake/wh/orders/data/b.parquet`
    expect(refusal('GET', other, reader)).toContain('no file of the snapshot')
    for (const [method, uri] of [
      ['PUT', file],
      ['DELETE', file],
      ['POST', `${file}?uploads`],
    ] as const)
      expect(refusal(method, uri, { ...reader, deletes: true })).toBeString()
  })
})

test('a bucket may be in the host name', () => {
  const virtual = { endpoint: new URL('https://s3.eu-1.amazonaws.com'), isPathStyle: false }
  const judge = (uri: string) => judgeRequest({ method: 'GET', uri, headers: {} }, virtual, scope()).isAllowed
  expect(judge('https://lake.s3.eu-1.amazonaws.com/wh/orders/data/a.parquet')).toBe(true)
  expect(judge('https://other.s3.eu-1.amazonaws.com/wh/orders/data/a.parquet')).toBe(false)
  expect(judge('https://s3.eu-1.amazonaws.com/lake/wh/orders/data/a.parquet')).toBe(false)
  expect(judge('https://lake.s3.eu-1.amazonaws.com.evil.example/wh/orders/data/a.parquet')).toBe(false)
})
