/** Declares why_denied: why a commit or a query of the caller was refused, and what to change. */

import { Fault } from '../../../base/fault.ts'
import { decisions } from '../../../core/decision.ts'
import { policyModes } from '../../../core/policy.ts'
import { tableName } from '../../../core/table-ref.ts'
import { usageOutcomes } from '../../../core/usage.ts'
import { explainDecision } from '../../../gateway/oversight/explain-decision.ts'
import { list, maybe, object, oneOf, text, uuid } from '../../../http/schemas.ts'
import { showUsage } from '../../../query/usage/show-usage.ts'
import type { ListedUsage } from '../../../store/query/usage.ts'
import { sqlHint } from '../result.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark, untrustedText, untrustedTextOf } from '../untrusted.ts'
import { protectionSchema, protectionView } from './query.ts'

type Decision = NonNullable<Awaited<ReturnType<typeof explainDecision>>>

export const whyDenied = tool({
  name: 'why_denied',
  description:
    'Explain why a commit (decision_id, the header X-Svc-Decision-Id) or a query (query_id) was refused. Your own only, unless you are a steward.',
  scope: 'mcp:read',
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
      }),
    ),
    query: maybe(
      object({
        query_id: uuid,
        outcome: oneOf(usageOutcomes),
        sqlstate: maybe(text),
        tables: object({ ...untrustedMark, items: list(text) }),
        protections: object({ ...untrustedMark, items: list(protectionSchema) }),
      }),
    ),
    hint: maybe(text),
  }),
  async run(
    { parts: { store }, caller: { tenant, principal } },
    { decision_id: decisionId, query_id: queryId },
  ) {
    if (decisionId !== undefined && queryId === undefined) {
      const found = await explainDecision(store, tenant, decisionId, principal)
      if (found !== undefined) return decisionView(found)
    } else if (queryId !== undefined && decisionId === undefined) {
      const found = await showUsage(store, tenant, queryId, principal)
      if (found !== undefined) return queryView(found)
    } else throw new Fault('bad_request', 'Give `decision_id` or `query_id`.')
    throw new Fault('not_found', 'There is no such decision or query of yours.')
  },
})

function decisionView({ commitId, action, table, decision, reason, policies }: Decision) {
  return {
    decision: {
      ...untrusted,
      decision_id: commitId,
      action,
      table: cleanName(tableName(table)),
      decision,
      ...(reason !== '' && { reason: untrustedTextOf(reason) }),
      policies: policies.map(({ name, mode, error, explanation }) => ({
        ...untrusted,
        ...{ name: cleanName(name), mode },
        ...(error !== undefined && { error }),
        ...(explanation !== undefined && { explanation: untrustedTextOf(explanation).text }),
      })),
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
      tables: { ...untrusted, items: reads.map((table) => cleanName(tableName(table))) },
      protections: { ...untrusted, items: policies.map(protectionView) },
    },
    hint: sqlHint(sqlState),
  }
}
