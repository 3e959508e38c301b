/** Addresses that open one object for a while, against those of aws4fetch. */

import { expect, test } from 'bun:test'
import { AwsV4Signer } from 'aws4fetch'
import type { SignSettings } from '../../src/vending/settings.ts'
import { presignGet } from '../../src/vending/sign/presign-s3.ts'

const keys = { accessKeyId: 'AK', secretAccessKey: 'SK' }
const atMs = Date.UTC(2026, 10, 23, 8, 30, 1)

test.each([
  ['https://s3.example', true, 'wh/orders/data/a.parquet', undefined],
  ['https://s3.example:9000', true, 'wh/orders/data/region=eu +/ä~(1).parquet', 'S/T+'],
  ['https://s3.eu-1.example', false, 'wh/orders/data/a%2Fb.parquet', 'ST'],
] as const)('is that of aws4fetch: %s, %p, %s', async (endpoint, isPathStyle, key, sessionToken) => {
  const settings: SignSettings = {
    ...{ mode: 'sign', keys, sessionToken, region: 'eu-1', deletes: false, cachesSignatures: false },
    ...{ endpoint: new URL(endpoint), isPathStyle },
  }
  const made = new URL(presignGet(settings, `s3://lake/${key}`, { atMs, lifetimeSeconds: 900 }))
  const target = new URL(isPathStyle ? `${endpoint}/lake/` : endpoint.replace('//', '//lake.'))
  target.pathname += key.split('/').map(encodeURIComponent).join('/')
  target.searchParams.set('X-Amz-Expires', '900')
  const theirs = await new AwsV4Signer({
    ...keys,
    ...(sessionToken !== undefined && { sessionToken }),
    ...{ region: 'eu-1', service: 's3', method: 'GET', url: target.href, signQuery: true },
    datetime: '20261123T083001Z',
  }).sign()
  expect(made.searchParams.get('X-Amz-Signature')).toBe(theirs.url.searchParams.get('X-Amz-Signature') ?? '')
  expect(decodeURIComponent(made.pathname)).toBe(decodeURIComponent(target.pathname))
  expect(made.href).not.toContain('SK')
})

test('is refused for what is no object', () => {
  const settings: SignSettings = {
    ...{
      mode: 'sign',
      keys,
      sessionToken: undefined,
      region: 'eu-1',
      deletes: false,
      cachesSignatures: false,
    },
    ...{ endpoint: new URL('https://s3.example'), isPathStyle: true },
  }
  for (const path of ['s3://lake/', 's3://lake', 'gs://lake/a', 'file:///a'])
    expect(() => presignGet(settings, path, { atMs, lifetimeSeconds: 900 })).toThrow(RangeError)
})
