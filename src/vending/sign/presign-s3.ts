/**
 * Makes URLs by which one object of S3 can be read for a while, without keys (AWS Signature Version 4 in the query).
 * Whether the client may read the object was judged before.
 */

import { createHash, createHmac } from 'node:crypto'
import type { SignSettings } from '../settings.ts'
import { encodeComponent, encodePath } from './s3-encoding.ts'
import { dayKey } from './sign-s3.ts'

interface Presigning {
  readonly atMs: number
  /** From one second to a week. */
  readonly lifetimeSeconds: number
}

/**
 * A URL for a GET of one object.
 * @param path canonical: `s3://bucket/key`
 * @throws RangeError for any other path
 */
export function presignGet(
  { keys, sessionToken, region, endpoint, isPathStyle }: SignSettings,
  path: string,
  { atMs, lifetimeSeconds }: Presigning,
): string {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(path) ?? []
  if (bucket === undefined || key === undefined) throw new RangeError('not the canonical path of an object')
  const host = isPathStyle ? endpoint.host : `${bucket}.${endpoint.host}`
  const base = endpoint.pathname.replace(/\/+$/, '')
  const target = encodePath(isPathStyle ? `${base}/${bucket}/${key}` : `${base}/${key}`)
  const now = new Date(atMs).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const day = now.slice(0, 8)
  const scope = `${day}/${region}/s3/aws4_request`
  const query = Object.entries({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${keys.accessKeyId}/${scope}`,
    'X-Amz-Date': now,
    'X-Amz-Expires': String(lifetimeSeconds),
    ...(sessionToken !== undefined && { 'X-Amz-Security-Token': sessionToken }),
    'X-Amz-SignedHeaders': 'host',
  })
    .map(([name, value]) => `${encodeComponent(name)}=${encodeComponent(value)}`)
    .sort()
    .join('&')
  const canonical = ['GET', target, query, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const digest = createHash('sha256').update(canonical).digest('hex')
  const secret = dayKey({ ...keys, sessionToken, region }, day)
  const text = `AWS4-HMAC-SHA256\n${now}\n${scope}\n${digest}`
  const signature = createHmac('sha256', secret).update(text).digest('hex')
  return `${endpoint.protocol}//${host}${target}?${query}&X-Amz-Signature=${signature}`
}
