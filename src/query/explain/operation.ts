/** POST /api/v1/query/explain: explains a statement for a principal. It returns no data. */

import { requireRole } from '../../auth/verified-principal.ts'
import { Fault } from '../../base/fault.ts'
import type { DialectName } from '../../core/sql-type.ts'
import { protectionKinds } from '../../core/usage.ts'
import { operationsOf } from '../../http/declare.ts'
import {
  anyObject,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  nullable,
  object,
  oneOf,
  ordinal,
  tableIdentifier,
  text,
  whomToAskSchema,
} from '../../http/schemas.ts'
import { dialects } from '../compile/emit/render.ts'
import { type ExplainParts, type ExplainTarget, explain } from './explain.ts'

const operation = operationsOf<ExplainParts>()
const dialectNames = Object.keys(dialects) as DialectName[]

/** The filters and masks that apply to a statement. */
export const explainedPolicies = list(
  object({
    id: text,
    kind: oneOf(protectionKinds),
    table: tableIdentifier,
    column: maybe(text),
    action: maybe(text),
    origin: maybe(described(anyObject, 'where it is attached; only for stewards')),
  }),
)

const explained = object({
  dialect: oneOf(dialectNames),
  principal: object({ sub: text, roles: list(text) }),
  sql: maybe(described(text, 'SQL for the engine; only for stewards')),
  parameters: described(list(text), 'types of `$1` and so on'),
  columns: list(object({ name: text, type: text })),
  reads: list(
    object({
      table: tableIdentifier,
      contract: maybe(
        object({
          id: text,
          version: ordinal,
          description: maybe(described(text, 'what the contract says of the table')),
          whom_to_ask: maybe(whomToAskSchema),
        }),
      ),
      columns: list(text),
      snapshot: maybe(object({ id: described(nullable(text), 'decimal'), pinned: flag })),
    }),
  ),
  policies: explainedPolicies,
  access: described(
    list(object({ command: text, link: maybe(text) })),
    'how access for a time to what they hide is asked for',
  ),
  demands: described(list(text), 'the purposes for which its tables are read, in words'),
  fingerprint: text,
})

export const explainOperations = [
  operation({
    name: 'explain_query',
    tag: 'query',
    summary: 'Explains how a statement would run for a principal; returns no data',
    description: 'Explaining for another principal requires the role `steward`.',
    method: 'POST',
    path: '/api/v1/query/explain',
    access: { scope: 'read' },
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({
      statement: nonEmpty,
      catalog: maybe(described(text, 'explains a run in this catalog; give this or `dialect`')),
      dialect: maybe(oneOf(dialectNames)),
      search_path: maybe(list(text)),
      principal: maybe(object({ sub: nonEmpty, roles: maybe(list(text)) })),
      parameters: maybe(list(nullable(text))),
    }),
    output: explained,
    status: 200,
    faults: {
      bad_request: 'The body or the statement is malformed; `error.sqlstate` and `error.position` say where.',
      forbidden:
        'The session lacks the scope `read`, the caller lacks the role, or the principal may not read a table.',
      not_found: 'There is no such catalog.',
      conflict: 'A pinned snapshot is gone, or a pinned table is explained without its catalog.',
      upstream_failed: 'The upstream catalog did not reply.',
    },
    examples: [{ input: { statement: 'SELECT email FROM hr.people', catalog: 'lake' } }],
    run: async (
      { parts, caller, signal },
      { statement, search_path = [], principal, parameters, ...named },
    ) => {
      const target = targetOf(named)
      if (principal !== undefined) requireRole(caller.principal, 'steward')
      const input = {
        statement,
        target,
        searchPath: search_path,
        principal:
          principal === undefined ? caller.principal : { sub: principal.sub, roles: principal.roles ?? [] },
        parameters,
      }
      const isSteward = caller.principal.roles.includes('steward')
      const explained = await explain(parts, caller.tenant, input, isSteward, signal)
      const { nulled: _, ...shown } = explained
      return shown
    },
  }),
]

/** @throws Fault `bad_request` unless exactly one of the two is given */
function targetOf({
  catalog,
  dialect,
}: {
  catalog?: string | undefined
  dialect?: DialectName | undefined
}): ExplainTarget {
  if (catalog !== undefined && dialect === undefined) return { catalog }
  if (dialect !== undefined && catalog === undefined) return { dialect }
  throw new Fault('bad_request', 'Exactly one of `catalog` and `dialect` is required.')
}
