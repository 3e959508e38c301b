/** Signatures for S3, against those of aws4fetch; the files of a snapshot as hashes; checks that are shared. */

import { describe, expect, test } from 'bun:test'
import { AwsV4Signer } from 'aws4fetch'
import { SharedChecks } from '../../src/base/shared-checks.ts'
import { FileSetBuilder } from '../../src/vending/sign/file-set.ts'
import { judgeRequest } from '../../src/vending/sign/judge-request.ts'
import { signS3 } from '../../src/vending/sign/sign-s3.ts'
import { openTicket, sealTicket } from '../../src/vending/sign/ticket.ts'

const keys = { accessKeyId: 'AK', secretAccessKey: 'SK' }
const atMs = Date.UTC(2026, 10, 23, 8, 30, 1)

describe('a signature', () => {
  test.each([
    ['GET', 'https://s3.example/lake/wh/orders/data/a.parquet'],
    ['GET', 'https://s3.example:9000/lake/wh/orders/data/region%3Deu%20%2B/%C3%A4.parquet?x-id=GetObject'],
    ['PUT', 'https://s3.example/lake/wh/orders/data/a?partNumber=2&uploadId=a%2Bb'],
    ['GET', 'https://s3.example/lake?list-type=2&prefix=wh%2Forders%2F&delimiter=%2F'],
  ])('is that of aws4fetch: %s %s', async (method, uri) => {
    const headers = { 'x-amz-content-sha256': ['UNSIGNED-PAYLOAD'], range: ['bytes=0-9'] }
    const judged = judgeRequest(
      { method, uri, headers },
      { endpoint: new URL(new URL(uri).origin), isPathStyle: true },
      { access: 'write', deletes: false, prefixes: ['s3://lake/wh/orders/'], mayRead: () => true },
    )
    if (!judged.isAllowed) throw new Error(judged.refusal)
    const signed = signS3(
      { ...keys, sessionToken: 'ST', region: 'eu-1' },
      { method, host: new URL(uri).host, headers, ...judged },
      atMs,
    )
    const theirs = await new AwsV4Signer({
      ...keys,
      sessionToken: 'ST',
      region: 'eu-1',
      service: 's3',
      method,
      url: uri,
      headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      datetime: '20261123T083001Z',
    }).sign()
    expect(signed.authorization?.[0]).toBe(theirs.headers.get('authorization') ?? '')
    expect(signed).toMatchObject({ 'x-amz-date': ['20261123T083001Z'], 'x-amz-security-token': ['ST'] })
    // What the client has already is not given again: some clients would send it twice.
    expect(signed).not.toHaveProperty('x-amz-content-sha256')
  })
})

test('the files of a snapshot are found by their paths, eight bytes each', () => {
  const set = new FileSetBuilder()
  const path = (index: number) => `s3://lake/wh/orders/data/${index}.parquet`
  for (let index = 0; index < 5_000; index++) set.add(path(index))
  const files = set.build()
  expect([files.count, files.bytes]).toEqual([5_000, 40_000])
  for (let index = 0; index < 5_000; index++) expect(files.has(path(index))).toBe(true)
  for (let index = 5_000; index < 10_000; index++) expect(files.has(path(index))).toBe(false)
  expect(new FileSetBuilder().build().has(path(0))).toBe(false)
})

test('a ticket is opened with its key alone, and says nothing without', () => {
  const [key, other] = [crypto.getRandomValues(new Uint8Array(32)), new Uint8Array(32)]
  const ticket = {
    ...{ tenant: 't', sessionId: 'secret-session', credentialId: 'c', prefix: 'main' },
    ...{ namespace: ['n'], name: 't', tableUuid: undefined, access: 'read' as const, sub: 's', roles: [] },
    ...{ verified: false, snapshotId: '7', manifestList: undefined, metadataFile: 's3://x', expiresAtMs: 1 },
  } as const
  const text = sealTicket(key, ticket)
  expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
  expect(Buffer.from(text, 'base64url').toString('latin1')).not.toContain('secret-session')
  expect(openTicket(key, text)).toEqual(ticket)
  for (const wrong of ['', 'x', text.slice(1), `${text.slice(0, -2)}AA`, 'A'.repeat(4_000)])
    expect(openTicket(key, wrong)).toBeUndefined()
  expect(openTicket(other, text)).toBeUndefined()
})

test('a shared check answers those only who asked before it began', async () => {
  const checks = new SharedChecks<number>()
  const begun: ((value: number) => void)[] = []
  const check = () => new Promise<number>((resolve) => void begun.push(resolve))
  const first = checks.ask('a', check)
  const late = [checks.ask('a', check), checks.ask('a', check)]
  const other = checks.ask('b', check)
  expect(begun).toHaveLength(2)
  begun[0]?.(1)
  begun[1]?.(2)
  expect([await first, await other]).toEqual([1, 2])
  await Promise.resolve()
  expect(begun).toHaveLength(3)
  begun[2]?.(3)
  expect(await Promise.all(late)).toEqual([3, 3])
  const next = checks.ask('a', async () => 4)
  expect(await next).toBe(4)
})
