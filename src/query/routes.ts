/** POST /api/v1/query/explain: what a statement would be on an engine, for whom, and why; never data. */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { type FindSession, requireSession } from '../auth/guard.ts'
import type { IdentifyPrincipal } from '../auth/principal-chain.ts'
import { requireRoleOf, verifiedPrincipal } from '../auth/verified-principal.ts'
import { answerFaults } from '../http/answer.ts'
import { errorResponse } from '../http/fault-response.ts'
import { readFields } from '../http/fields.ts'
import type { Store } from '../store/store.ts'
import { explain, explainInput } from './explain.ts'
import { explainDetail } from './explain-open-api.ts'
import type { LoadParts } from './load-tables.ts'
import { SqlError } from './sql-error.ts'

export interface QueryParts {
  readonly store: Store
  readonly findSession: FindSession
  readonly identify: IdentifyPrincipal
  readonly log: Logger
}

/** The scope `read`; another principal than the caller takes the role of a steward. */
export function queryRoutes(parts: QueryParts & LoadParts) {
  return new Elysia({ name: 'query' }).post(
    '/api/v1/query/explain',
    ({ request }) => answerFaults(parts.log, () => answerExplain(parts, request)),
    { parse: 'none', detail: explainDetail },
  )
}

async function answerExplain(parts: QueryParts & LoadParts, request: Request): Promise<Response> {
  const again = () => requireSession(request, parts.findSession, 'read')
  const session = await again()
  const caller = await verifiedPrincipal(parts.identify, request, session)
  const input = explainInput(
    await readFields(
      { request, again },
      ...['statement', 'catalog', 'dialect', 'search_path', 'principal', 'parameters'],
    ),
    caller,
  )
  if (input.impersonates) await requireRoleOf(parts.identify, request, session, 'steward')
  try {
    const isSteward = caller.roles.includes('steward')
    return Response.json(await explain(parts, session.tenant, input, isSteward, request.signal))
  } catch (thrown) {
    if (!(thrown instanceof SqlError)) throw thrown
    parts.log.info(
      { faultId: thrown.id, sqlState: thrown.sqlState, detail: thrown.detail },
      'a statement was refused',
    )
    const response = errorResponse(thrown)
    const { error } = (await response.json()) as { readonly error: object }
    const { sqlState: sqlstate, position } = thrown
    return Response.json({ error: { ...error, sqlstate, position } }, { status: response.status })
  }
}
