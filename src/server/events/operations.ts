/** Declares the stream of a tenant's events: server-sent events that a client resumes by `Last-Event-ID`. */

import { requireRole } from '../../auth/verified-principal.ts'
import { Fault } from '../../base/fault.ts'
import { type EventType, eventTypes, type TenantEvent } from '../../core/event.ts'
import type { Caller } from '../../core/operation.ts'
import { operationsOf } from '../../http/declare.ts'
import { described, maybe, object, text } from '../../http/schemas.ts'
import { lastEvent } from '../../store/event/events.ts'
import { cloudEvent } from '../../webhook/cloud-event.ts'
import { eventsAfter, type Follower, type FollowParts } from './follow-events.ts'

interface EventStreamParts extends FollowParts {
  readonly publicUrl: () => URL
  /** Aborts once the process refuses new requests. */
  readonly draining: AbortSignal
}

const operation = operationsOf<EventStreamParts>()
const roles = ['steward', 'administrator', 'owner'] as const
/** What sessions hold, and where the audit differs, is for those who answer for the tenant. */
const ofAdministrators = /^(session|breach|webhook)\./

export const eventOperations = [
  operation({
    name: 'follow_events',
    tag: 'events',
    summary: 'What happens in the tenant, as server-sent events',
    description:
      'Each event is a CloudEvents 1.0 JSON whose `id` is its number in the tenant. `Last-Event-ID` resumes behind one without a gap; without it the stream begins with what comes next. Events of `session`, `breach` and `webhook` are for administrators and owners.',
    method: 'GET',
    path: '/api/v1/events',
    access: { scope: 'read', roles, capability: 'contracts' },
    gives: { overseen: ['existence', 'description', 'columns', 'counts'] },
    input: object({
      types: maybe(
        described(text, 'types of events, joined by commas; default: all that the caller may see'),
      ),
      after: maybe(described(text, 'the number of an event, where a client cannot send `Last-Event-ID`')),
    }),
    headers: { 'Last-Event-ID': { description: 'the `id` of the last event that was received' } },
    media: { response: ['text/event-stream'] },
    status: 200,
    faults: { overloaded: 'The caller or the tenant follows as many streams as it may.' },
    respond: async ({ parts, caller, request, signal, again }) => {
      const { searchParams } = new URL(request.url)
      const types = typesOf(searchParams.get('types'))
      const given = request.headers.get('last-event-id') ?? searchParams.get('after')
      const start = given === null ? undefined : numberOf(given)
      const follower: Follower = {
        caller,
        signal: AbortSignal.any([signal, parts.draining]),
        again: async () => (await again()) as Caller,
      }
      const leave = parts.events.enter(caller.tenant, caller.principal.sub)
      const body = linesOf(parts, follower, { types, start }, leave)
      return new Response(body, {
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
      })
    },
  }),
]

function typesOf(text: string | null): ReadonlySet<string> | undefined {
  if (text === null) return undefined
  const types = text.split(',').map((one) => one.trim())
  const unknown = types.find((type) => !eventTypes.includes(type as EventType))
  if (unknown !== undefined) throw new Fault('bad_request', `\`types\`: there are ${eventTypes.join(', ')}.`)
  return new Set(types)
}

function numberOf(text: string): bigint {
  if (!/^\d{1,18}$/.test(text))
    throw new Fault('bad_request', '`Last-Event-ID` must be the `id` of an event.')
  return BigInt(text)
}

/** @param leave gives the place of the stream back; it is called once */
function linesOf(
  parts: EventStreamParts,
  follower: Follower,
  asked: { readonly types: ReadonlySet<string> | undefined; readonly start: bigint | undefined },
  leave: () => void,
): ReadableStream<Uint8Array> {
  const lines = follow(parts, follower, asked)
  const encoder = new TextEncoder()
  const { promise: ended, resolve: end } = Promise.withResolvers<{
    readonly done: true
    readonly value: ''
  }>()
  const { signal } = follower
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    signal.removeEventListener('abort', close)
    end({ done: true, value: '' })
    leave()
  }
  if (signal.aborted) close()
  else signal.addEventListener('abort', close, { once: true })
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await Promise.race([lines.next(), ended])
        if (done !== true) {
          controller.enqueue(encoder.encode(value))
          return
        }
      } catch {
        // The client reconnects, and is told then why it may no longer read.
      }
      close()
      controller.close()
    },
    cancel: close,
  })
}

async function* follow(
  parts: EventStreamParts,
  follower: Follower,
  { types, start }: { readonly types: ReadonlySet<string> | undefined; readonly start: bigint | undefined },
): AsyncGenerator<string> {
  const { tenant } = follower.caller
  const after = start ?? (await lastEvent(parts.store, tenant))
  // The client learns that the stream is open, and from where it would resume.
  yield `id: ${after}\nretry: 2000\n: open\n\n`
  for await (const [event, caller] of eventsAfter(parts, follower, after))
    if (event === undefined) yield ': nothing new\n\n'
    else if ((types === undefined || types.has(event.type)) && isSeen(event, caller))
      yield `id: ${event.sequence}\nevent: ${event.type}\ndata: ${cloudEvent(tenant, event, parts.publicUrl())}\n\n`
}

function isSeen({ type }: TenantEvent, { principal }: Caller): boolean {
  if (!ofAdministrators.test(type)) return true
  try {
    requireRole(principal, 'administrator', 'owner')
    return true
  } catch {
    return false
  }
}
