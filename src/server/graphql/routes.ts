/**
 * Serves /graphql by Yoga, mounted by Elysia's plugin. Method, media type, caller and body are checked before Yoga sees
 * a request. There is no page to explore the schema, because such a page loads scripts from other hosts.
 */

import { yoga } from '@elysiajs/graphql-yoga'
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { Elysia } from 'elysia'
import type { GraphQLSchema } from 'graphql'
import { type Plugin, useExecutionCancellation } from 'graphql-yoga'
import type { Logger } from 'pino'
import type { Admit } from '../../auth/admit.ts'
import { Fault } from '../../base/fault.ts'
import { assertMembers } from '../../base/json-input.ts'
import type { Caller } from '../../core/operation.ts'
import { respondWithFaults, wrongMethod } from '../../http/answer.ts'
import { readBodyOf } from '../../http/read-body.ts'
import { limits } from '../../limits.ts'
import { findOperation, takesStoredOnly } from '../../store/query/graphql-operations.ts'
import { withSignal } from '../../store/with-signal.ts'
import { graphqlBounds } from './bounds.ts'
import type { GraphContext, GraphParts } from './context.ts'
import { errorMask } from './errors.ts'
import { boundPlugins } from './limits.ts'
import { loadersFor } from './loaders.ts'

interface GraphqlOptions {
  readonly parts: GraphParts
  readonly schema: GraphQLSchema
  readonly admit: Admit
  readonly log: Logger
  /** Aborts when the process drains. */
  readonly draining: AbortSignal
  /** Aborts after so many milliseconds; a test decides when. */
  readonly after?: (ms: number) => AbortSignal
}

/** Where GraphQL is served. */
const graphqlPath = '/graphql'

const access = { scope: 'read', capability: 'graphql' } as const

/** The routes. */
export function graphqlRoutes(options: GraphqlOptions) {
  const { parts, schema, log } = options
  const contexts = new WeakMap<Request, GraphContext>()
  const contextOf = (request: Request): GraphContext => {
    const context = contexts.get(request)
    if (context === undefined) throw new Fault('tenant_context_missing', 'The request has no caller.')
    return context
  }
  const plugins = [
    admission(options, contexts),
    useExecutionCancellation(),
    ...boundPlugins(),
    usePersistedOperations({
      async allowArbitraryOperations(request) {
        const { caller } = contextOf(request)
        return caller.session.kind !== 'service' || !(await takesStoredOnly(parts.store, caller.tenant))
      },
      async getPersistedOperation(sha256, request) {
        return (await findOperation(parts.store, contextOf(request).caller.tenant, sha256)) ?? null
      },
    }),
  ]
  const mask = errorMask(log)
  return new Elysia({ name: 'graphql', detail: { hide: true } }).use(
    yoga({
      path: graphqlPath,
      schema: schema as never,
      context: (({ request }: { readonly request: Request }) => contextOf(request)) as never,
      plugins,
      graphqlEndpoint: graphqlPath,
      maskedErrors: { maskError: mask },
      logging: {
        debug: (...words: unknown[]) => log.debug({ words }, 'yoga'),
        info: (...words: unknown[]) => log.debug({ words }, 'yoga'),
        warn: (...words: unknown[]) => log.warn({ words }, 'yoga'),
        error: (...words: unknown[]) => log.debug({ words }, 'yoga'),
      },
      graphiql: false,
      landingPage: false,
      multipart: false,
      batching: false,
      maxRequestBodySize: graphqlBounds.bodyBytesMax,
    }) as never,
  ) as unknown as Elysia
}

/** Admits the caller and reads the body, before anything else looks at a request. */
function admission(
  { parts, admit, log, draining, after = AbortSignal.timeout }: GraphqlOptions,
  contexts: WeakMap<Request, GraphContext>,
): Plugin {
  const admitted = async (request: Request): Promise<Caller> => {
    const caller = await admit(request, access)
    if (caller === undefined) throw new Fault('tenant_context_missing', 'The request has no tenant.')
    return caller
  }
  return {
    async onRequest({ request, setRequest, endResponse }) {
      const refused = await respondWithFaults(log, async () => {
        const caller = await admitted(request)
        if (request.method !== 'POST') return wrongMethod(['POST'])
        // A page of another origin can send other types without asking the browser first.
        if (!/^application\/json(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
          throw new Fault('bad_request', 'Send the operation as application/json.')
        const { bytes } = await readBodyOf(request, graphqlBounds.bodyBytesMax, () => admitted(request))
        // Yoga parses the body without a bound on its members.
        assertMembers(bytes, limits.documentKeysMax)
        const isStream = request.headers.get('accept')?.includes('text/event-stream') === true
        const signal = isStream ? request.signal : AbortSignal.any([request.signal, timeUp(after)])
        const { url, method, headers } = request
        const read = new Request(url, { method, headers, body: new Uint8Array(bytes), signal })
        const ends = isStream ? AbortSignal.any([signal, draining]) : signal
        const store = withSignal(parts.store, ends)
        contexts.set(read, {
          ...{ parts, store, caller, signal: ends },
          loaders: loadersFor({ store, clock: parts.clock }, caller),
          again: () => admitted(request),
        })
        setRequest(read)
        return new Response(null, { status: 204 })
      })
      if (refused.status !== 204) endResponse(refused)
    },
  }
}

/** Aborts once the time of an operation is up, with what its client is told. */
function timeUp(after: (ms: number) => AbortSignal): AbortSignal {
  const { operationMs } = graphqlBounds
  const ending = new AbortController()
  const tell = () =>
    ending.abort(
      new Fault('unprocessable', `The operation took more than ${operationMs / 1_000} s. Ask for less.`),
    )
  after(operationMs).addEventListener('abort', tell, { once: true })
  return ending.signal
}
