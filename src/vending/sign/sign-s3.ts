/**
 * Signs requests to S3 by AWS Signature Version 4, in the form that clients complete: only the host and `x-amz-` headers
 * are signed, so that one signature serves every range of an object. The key of a day is derived once.
 */

import { createHash, createHmac } from 'node:crypto'
import { Lru } from '../../base/lru.ts'
import type { AwsKeys } from '../settings.ts'

interface S3Signing extends AwsKeys {
  readonly sessionToken: string | undefined
  readonly region: string
}

interface RequestToSign {
  readonly method: string
  /** With its port where it is not that of the scheme. */
  readonly host: string
  readonly canonicalPath: string
  readonly canonicalQuery: string
  /** As the client will send them. */
  readonly headers: Readonly<Record<string, readonly string[]>>
}

const dayKeys = new Lru<string, Buffer>(1_000)
const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text).digest()

/** The key that signs for a day in a region. Cached by a digest, so that no secret is a key of a cache. */
export function dayKey({ secretAccessKey, region }: S3Signing, day: string): Buffer {
  const id = createHash('sha256').update(`${secretAccessKey}\0${region}\0${day}`).digest('base64')
  const cached = dayKeys.get(id)
  if (cached !== undefined) return cached
  const made = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), 's3'), 'aws4_request')
  dayKeys.set(id, made)
  return made
}

/**
 * The headers that the client adds to its own.
 * @param atMs milliseconds since the Unix epoch
 */
export function signS3(
  signing: S3Signing,
  { method, host, canonicalPath, canonicalQuery, headers }: RequestToSign,
  atMs: number,
): Readonly<Record<string, readonly string[]>> {
  const now = new Date(atMs).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const signed = new Map<string, string>([['host', host]])
  for (const [name, values] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (lower.startsWith('x-amz-')) signed.set(lower, values.map((value) => value.trim()).join(','))
  }
  const added = new Map<string, string>()
  const add = (name: string, value: string) => {
    if (signed.has(name)) return
    signed.set(name, value)
    added.set(name, value)
  }
  add('x-amz-date', now)
  add('x-amz-content-sha256', 'UNSIGNED-PAYLOAD')
  if (signing.sessionToken !== undefined) add('x-amz-security-token', signing.sessionToken)
  const date = signed.get('x-amz-date') ?? now
  const names = [...signed.keys()].sort()
  const canonical = [
    method,
    canonicalPath,
    canonicalQuery,
    ...names.map((name) => `${name}:${signed.get(name)}`),
    '',
    names.join(';'),
    signed.get('x-amz-content-sha256'),
  ].join('\n')
  const day = date.slice(0, 8)
  const scope = `${day}/${signing.region}/s3/aws4_request`
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
  const signature = createHmac('sha256', dayKey(signing, day)).update(text).digest('hex')
  added.set(
    'authorization',
    `AWS4-HMAC-SHA256 Credential=${signing.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  )
  return Object.fromEntries([...added].map(([name, value]) => [name, [value]]))
}
