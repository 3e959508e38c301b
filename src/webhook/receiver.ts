/**
 * Checks receivers of webhooks and sends to them, signed by Standard Webhooks. Receivers obey the rules of upstreams: no
 * private addresses but those that the operator allows, a name is resolved once and the address kept, no redirects.
 */

import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { Lru } from '../base/lru.ts'
import { type AddressRules, isAllowedByOperator, type Lookup, PinnedHost } from '../catalog/address.ts'
import { sendForStatus, UpstreamHttpError } from '../catalog/upstream-http.ts'
import type { Attempt } from '../core/webhook.ts'
import { cloudEventMedia } from './cloud-event.ts'

const urlCharsMax = 2_048
const prefix = 'whsec_'
const secretBytes = 32
const hostsMax = 1_000
const attemptMsDefault = 15_000

/** A new secret, as Standard Webhooks writes them. */
export function newSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`
}

/**
 * The address of a receiver: https, or http where the operator allows its host or address by name.
 * @throws Fault `bad_request`, which never quotes the text, because it may hold a secret
 */
export async function checkReceiver(text: string, rules: AddressRules): Promise<URL> {
  const url = text.length <= urlCharsMax ? URL.parse(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new Fault('bad_request', '`url` must be an https URL.')
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new Fault('bad_request', '`url` must have neither user, password nor fragment.')
  const host = new PinnedHost(new URL(url.origin), rules)
  if (url.protocol === 'http:' && !isAllowedByOperator(host.host, rules))
    throw new Fault('bad_request', '`url` must be https.')
  try {
    await host.addresses()
  } catch (cause) {
    throw new Fault(
      'bad_request',
      'The host of `url` does not resolve, or to private addresses only. Such addresses must be allowed by the operator.',
      { cause },
    )
  }
  return url
}

export interface Message {
  readonly id: string
  readonly body: string
  /** One signature each. */
  readonly secrets: readonly string[]
}

/** The headers that sign a message at a time, by Standard Webhooks 1.0. */
export function signedHeaders({ id, body, secrets }: Message, at: Date): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const sign = (secret: string) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  }
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  }
}

interface SenderParts {
  readonly addressRules: AddressRules
  readonly clock: Clock
  /** Resolves names; a test passes its own. */
  readonly lookup?: Lookup
  /** Milliseconds that one attempt may take. */
  readonly attemptMs?: number
}

/** Sends a message once. It never throws, and its result quotes nothing of the address. */
export type Send = (url: URL, message: Message, signal: AbortSignal) => Promise<Attempt>

/** Sends messages, with the addresses and connections of receivers kept for the next ones. */
export function sender({
  addressRules: rules,
  clock,
  lookup,
  attemptMs = attemptMsDefault,
}: SenderParts): Send {
  const hosts = new Lru<string, PinnedHost>(hostsMax)
  const hostOf = ({ origin }: URL): PinnedHost => {
    const known = hosts.get(origin)
    if (known !== undefined) return known
    const host = new PinnedHost(new URL(origin), rules, lookup, clock)
    hosts.set(origin, host)
    return host
  }
  return async (url, message, signal) => {
    const at = new Date(clock.now())
    const startedMs = performance.now()
    const late = AbortSignal.timeout(attemptMs)
    const ended = (outcome: Attempt['outcome'], status?: number, afterMs = 0): Attempt => {
      return { outcome, status, at, durationMs: performance.now() - startedMs, afterMs }
    }
    try {
      const { status, headers } = await sendForStatus(hostOf(url), {
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: { 'content-type': cloudEventMedia, ...signedHeaders(message, at) },
        body: message.body,
        signal: AbortSignal.any([signal, late]),
        responseBytesMax: 0,
      })
      if (status >= 200 && status < 300) return ended('delivered', status)
      return ended('refused', status, afterMs(headers, at.getTime()))
    } catch (thrown) {
      if (late.aborted) return ended('timed_out')
      if (thrown instanceof UpstreamHttpError || signal.aborted) return ended('unreachable')
      return ended(thrown instanceof Fault ? 'address_refused' : 'unreachable')
    }
  }
}

/** `Retry-After` in milliseconds; 0 where there is none. */
function afterMs(headers: Headers, nowMs: number): number {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0)
}
