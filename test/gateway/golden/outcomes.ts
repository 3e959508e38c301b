/** The possible outcomes of a request, for the recorded responses: how each case differs from a plain request. */

import type { Failure } from '../../../demo/catalog/faults.ts'
import { limits } from '../../../src/limits.ts'
import type { GoldenRoute } from './routes.ts'

export interface GoldenOutcome {
  readonly name: string
  /** Whether the case says something about the route. */
  readonly fits?: (route: GoldenRoute) => boolean
  /** The case's session; `writer` where absent. */
  readonly session?: 'writer' | 'reader' | 'neither' | 'unknown' | 'none'
  readonly prefix?: string
  /** The namespace of the path, in place of the case's own. */
  readonly namespace?: string
  readonly method?: string
  readonly body?: string | Uint8Array<ArrayBuffer> | ((namespace: string) => string)
  readonly headers?: Readonly<Record<string, string>>
  /** The policy on every name that the request concerns. */
  readonly policy?: {
    readonly definitionCel: string
    readonly mode?: 'warn' | 'shadow'
    /** The names that it governs alone. */
    readonly on?: readonly string[]
  }
  /** Of the upstream, at the operation that the route is made of. */
  readonly failure?: Omit<Failure, 'operation'> & { readonly operation?: Failure['operation'] }
  /** Statements and functions of the store that fail. */
  readonly failOn?: RegExp
  /** Whether the upstream lacks what the request is about. */
  readonly absent?: true
  /** Whether the same caller has sent the same request before, so that what it was told is cached. */
  readonly again?: true
}

const gated = ({ gated }: GoldenRoute) => gated
const reaches = ({ upstream }: GoldenRoute) => upstream !== 'none'
const posts = ({ id, method }: GoldenRoute) => method === 'POST' && !id.startsWith('no route')
const isTransaction = ({ id }: GoldenRoute) => /transaction/i.test(id)
const commits = ({ upstream }: GoldenRoute) => upstream === 'commit'

const ofCallers: readonly GoldenOutcome[] = [
  { name: 'no session', session: 'none' },
  { name: 'unknown session', session: 'unknown' },
  { name: 'session that may only read', session: 'reader' },
  { name: 'session that may neither', session: 'neither' },
  { name: 'no principal', headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIifQ.' } },
]

const ofRequests: readonly GoldenOutcome[] = [
  { name: 'wrong method', method: 'PATCH' },
  { name: 'wrong method without a session', method: 'PATCH', session: 'none' },
  { name: 'unknown prefix', prefix: 'other' },
  { name: 'malformed prefix', prefix: 'ma.in' },
  { name: 'malformed prefix and no session', prefix: 'ma.in', session: 'none' },
  {
    name: 'malformed namespace',
    namespace: 'caf%C3%A9',
    fits: ({ path }) => path('x') !== path('y'),
  },
  { name: 'body that is no JSON', body: '{', fits: posts },
  { name: 'body that is an array', body: '[]', fits: posts },
  { name: 'body that is an empty object', body: '{}', fits: posts },
  { name: 'empty body', body: '', fits: posts },
  { name: 'no JSON and unknown prefix', body: '{', prefix: 'other', fits: posts },
  {
    name: 'no JSON and no principal',
    body: '{',
    headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIifQ.' },
    fits: posts,
  },
  {
    name: 'body above its cap',
    body: new Uint8Array(limits.commitBodyBytesMax + 1).fill(32),
    fits: posts,
  },
  {
    name: 'no table-changes',
    body: '{"table-changes":[]}',
    fits: isTransaction,
  },
  {
    name: 'snapshot without an id',
    body: '{"requirements":[],"updates":[{"action":"add-snapshot","snapshot":{}}]}',
    fits: ({ id }) => id === 'updateTable' || id === 'literal table commit',
  },
  {
    name: 'body that names another table',
    body: '{"identifier":{"namespace":["x"],"name":"y"},"requirements":[],"updates":[]}',
    fits: ({ id }) => ['updateTable', 'literal table commit', 'replaceView'].includes(id),
  },
]

const ofPolicies: readonly GoldenOutcome[] = [
  { name: 'denied', policy: { definitionCel: 'false' }, fits: gated },
  { name: 'denied again', policy: { definitionCel: 'false' }, again: true, fits: gated },
  { name: 'allowed by a policy', policy: { definitionCel: 'true' }, fits: gated },
  { name: 'warned', policy: { definitionCel: 'false', mode: 'warn' }, fits: gated },
  { name: 'broken policy', policy: { definitionCel: 'nobody.knows' }, fits: gated },
  { name: 'broken policy again', policy: { definitionCel: 'nobody.knows' }, again: true, fits: gated },
  { name: 'policies that cannot be loaded', failOn: /load_policies|"WRITE_GOVERNS"/, fits: gated },
  { name: 'denied, not audited', policy: { definitionCel: 'false' }, failOn: /record_verdict/, fits: gated },
  {
    name: 'updates that cannot be applied',
    policy: { definitionCel: 'true' },
    body: '{"requirements":[],"updates":[{"action":"set-current-schema","schema-id":99}]}',
    fits: ({ id }) => id === 'updateTable' || id === 'literal table commit',
  },
  {
    name: 'update that is not known',
    policy: { definitionCel: 'true' },
    body: '{"requirements":[],"updates":[{"action":"from-the-future"}]}',
    fits: ({ id }) => id === 'updateTable' || id === 'literal table commit',
  },
]

const upstreamFailures = [
  { name: 'conflict upstream', failure: { effect: 'conflict' } },
  { name: '500 upstream', failure: { effect: 'fail', status: 500 } },
  { name: '503 upstream', failure: { effect: 'fail', status: 503 } },
  { name: '403 upstream', failure: { effect: 'fail', status: 403 } },
  { name: '404 upstream', failure: { effect: 'fail', status: 404 } },
  { name: '400 upstream', failure: { effect: 'fail', status: 400 } },
  { name: 'connection lost before', failure: { effect: 'drop-before', times: 3 } },
  { name: 'connection lost after', failure: { effect: 'drop-after' } },
  { name: 'token refused', failure: { effect: 'fail', status: 401, operation: 'token', times: 10 } },
] as const

const ofUpstreams: readonly GoldenOutcome[] = [
  ...upstreamFailures.map((one) => ({ ...one, fits: reaches })),
  { name: 'nothing there', absent: true, fits: ({ makesNamespace }) => makesNamespace === undefined },
  {
    name: 'table that cannot be loaded',
    failure: { effect: 'fail', status: 500, operation: 'load' },
    fits: commits,
  },
]

/** A change of `first` that the upstream takes, and one of `t` that meets a conflict there. */
const secondMoved = (namespace: string) => {
  const of = (name: string, requirements: readonly unknown[]) => {
    const updates = [{ action: 'set-properties', updates: { a: '1' } }]
    return { identifier: { namespace: [namespace], name }, requirements, updates }
  }
  const moved = { type: 'assert-table-uuid', uuid: '00000000-0000-4000-8000-000000000000' }
  return JSON.stringify({ 'table-changes': [of('first', []), of('t', [moved])] })
}

const ofSeveralTables: readonly GoldenOutcome[] = [
  { name: 'second table denied', policy: { definitionCel: 'false', on: ['t'] }, fits: isTransaction },
  {
    name: 'second table with a broken policy',
    policy: { definitionCel: '1', on: ['t'] },
    fits: isTransaction,
  },
  { name: 'second table in conflict', body: secondMoved, fits: isTransaction },
]

const ofStore: readonly GoldenOutcome[] = [
  { name: 'intent not durable', failOn: /open_intent/, fits: gated },
  { name: 'accepted, not audited', failOn: /record_verdict/, fits: gated },
  { name: 'session cannot be looked up', failOn: /find_service_session/ },
]

const asked = { 'x-svc-timing': '1' }

/** Every case; a route takes those that fit it. */
export const goldenOutcomes: readonly GoldenOutcome[] = [
  { name: 'plain' },
  { name: 'again', again: true },
  { name: 'timed', headers: asked },
  // Of other routes a failure may come before a stage that overlaps with it has ended.
  { name: 'timed again', headers: asked, again: true, fits: commits },
  ...ofCallers,
  ...ofRequests,
  ...ofPolicies,
  ...ofSeveralTables,
  ...ofUpstreams,
  ...ofStore,
]
