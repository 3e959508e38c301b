/** Declares why_denied: why a commit or a query of the caller was refused, and what to change. */

import { Fault } from '../../../base/fault.ts'
import { decisions } from '../../../core/decision.ts'
import { policyModes } from '../../../core/policy.ts'
import { tableName } from '../../../core/table-ref.ts'
import { usageOutcomes } from '../../../core/usage.ts'
import { explainDecision } from '../../../gateway/oversight/explain-decision.ts'
import { described, list, maybe, object, oneOf, text, uuid, wholeNumber } from '../../../http/schemas.ts'
import { showUsage } from '../../../query/usage/show-usage.ts'
import { givesWritten } from '../../../store/governance/written-values.ts'
import type { ListedUsage } from '../../../store/query/usage.ts'
import { partOf } from '../fitting.ts'
import { sqlHint } from '../result.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark, untrustedText, untrustedTextOf } from '../untrusted.ts'
import { protectionSchema, protectionView } from './query.ts'

type Decision = NonNullable<Awaited<ReturnType<typeof explainDecision>>>

const listTotal = maybe(described(wholeNumber, 'where not all are shown'))
/** Bytes of each list, in sum below those of an answer that nobody asked to be long. */
const bytes = { policies: 24_000, tables: 12_000, protections: 14_000 } as const

export const whyDenied = tool({
  name: 'why_denied',
  description:
    'Explain why a commit (decision_id, the header X-Svc-Decision-Id) or a query (query_id) was refused. Your own only, unless you are a steward.',
  hints: {
    not_found: 'Give the id that the denial or the query of yours was answered with.',
  },
  scope: 'mcp:read',
  gives: {
    own: ['existence', 'columns', 'counts'],
    ...givesWritten,
  },
  input: object({ decision_id: maybe(uuid), query_id: maybe(uuid) }),
  output: object({
    decision: maybe(
      object({
        ...untrustedMark,
        decision_id: uuid,
        action: text,
        table: text,
        decision: oneOf(decisions),
        reason: maybe(untrustedText),
        policies: list(
          object({
            ...untrustedMark,
            name: text,
            mode: oneOf(policyModes),
            error: maybe(text),
            explanation: maybe(text),
          }),
        ),
        policies_total: listTotal,
      }),
    ),
    query: maybe(
      object({
        query_id: uuid,
        outcome: oneOf(usageOutcomes),
        sqlstate: maybe(text),
        tables: object({ ...untrustedMark, items: list(text), total: listTotal }),
        protections: object({ ...untrustedMark, items: list(protectionSchema), total: listTotal }),
      }),
    ),
    hint: maybe(text),
  }),
  async run({ parts: { store }, caller }, { decision_id: decisionId, query_id: queryId }) {
    if (decisionId !== undefined && queryId === undefined) {
      const found = await explainDecision(store, caller, decisionId)
      if (found !== undefined) return decisionView(found)
    } else if (queryId !== undefined && decisionId === undefined) {
      const found = await showUsage(store, caller.tenant, queryId, caller.principal)
      if (found !== undefined) return queryView(found)
    } else throw new Fault('bad_request', 'Give `decision_id` or `query_id`.')
    throw new Fault('not_found', 'There is no such decision or query of yours.')
  },
})

function decisionView({ commitId, action, table, decision, reason, policies }: Decision) {
  const views = policies.map(({ name, mode, error, explanation }) => ({
    ...untrusted,
    ...{ name: cleanName(name), mode },
    ...(error !== undefined && { error }),
    ...(explanation !== undefined && { explanation: untrustedTextOf(explanation).text }),
  }))
  const { items, total } = partOf(views, bytes.policies)
  return {
    decision: {
      ...untrusted,
      decision_id: commitId,
      action,
      table: cleanName(tableName(table)),
      decision,
      ...(reason !== '' && { reason: untrustedTextOf(reason) }),
      policies: items,
      ...(total !== undefined && { policies_total: total }),
    },
    hint:
      decision === 'APPROVED'
        ? 'The commit was approved.'
        : 'Change the commit so that the named policies allow it, or ask a steward to change the policy.',
  }
}

function queryView({ queryId, outcome, sqlState, reads, policies }: ListedUsage) {
  return {
    query: {
      ...{ query_id: queryId, outcome },
      ...(sqlState !== undefined && { sqlstate: sqlState }),
      tables: {
        ...untrusted,
        ...partOf(
          reads.map((table) => cleanName(tableName(table))),
          bytes.tables,
        ),
      },
      protections: { ...untrusted, ...partOf(policies.map(protectionView), bytes.protections) },
    },
    hint: sqlHint(sqlState),
  }
}
