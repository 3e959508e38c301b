/**
 * Tells from when on a contract refuses commits that break it, for each table: what its mode says, or the days after
 * which a contract without a mode is enforced. Decides nothing: sync-policies.ts stores the policies.
 */

import { inEffect, type Policy, policyModes } from '../../core/policy.ts'
import { tableKey } from '../../core/table-ref.ts'
import { described, list, maybe, object, oneOf, ordinal, tableIdentifier, time } from '../../http/schemas.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import type { RunQuery } from '../../store/contract/versions.ts'
import { derivedPoliciesOf, type TablePolicy } from '../../store/policy/derived-policies.ts'
import { type CommitMode, type ContractModel, commitModes, shadowDays } from '../../wire/odcs/model.ts'
import { governedSince, rulesOf, shadowMs } from './sync-policies.ts'

const ruleMembers = {
  mode: described(oneOf(commitModes), 'what happens now to a commit that breaks the contract'),
  enforced_from: maybe(described(time, 'from this time on such commits are refused')),
}

/** What happens to commits that break the contract of one table, as {@link rulesInForce} gives it. */
export const tableRules = ruleMembers
/** The same for the tables of a document, as {@link commitRulesOf} gives it. */
export const commitRulesSchema = list(
  object({
    table: tableIdentifier,
    ...ruleMembers,
    enforced_after_days: maybe(
      described(
        ordinal,
        'such commits are refused so many days after the contract begins to govern the table',
      ),
    ),
  }),
)

/**
 * What a document means for commits on its tables, in the order of the document. Tables of which it asks nothing that a
 * commit could break are left out, and so are policies that say their mode themselves.
 * @param nowMs by the service's clock
 */
export async function commitRulesOf(run: RunQuery, model: ContractModel, nowMs: number) {
  return rulesOfModel(await derivedPoliciesOf(run, model.id), model, nowMs)
}

/** As {@link commitRulesOf}. @param present the contract's stored policies */
export function rulesOfModel(present: readonly TablePolicy[], model: ContractModel, nowMs: number) {
  const since = governedSince(present)
  return governing(model)
    .filter((schema) =>
      rulesOf(model, schema).some(({ mode, written }) => mode === 'enforce' && !written?.hasMode),
    )
    .map(({ table, mode = model.mode }) => {
      const sinceMs = since.get(tableKey(table))
      return { table: { namespace: table.namespace, name: table.name }, ...rulesView(mode, sinceMs, nowMs) }
    })
}

function rulesView(mode: CommitMode | undefined, sinceMs: number | undefined, nowMs: number) {
  if (mode !== undefined) return { mode }
  if (sinceMs === undefined) return { mode: 'shadow' as const, enforced_after_days: shadowDays }
  const fromMs = sinceMs + shadowMs
  return {
    mode: nowMs < fromMs ? ('shadow' as const) : ('enforce' as const),
    enforced_from: new Date(fromMs),
  }
}

/**
 * What the contract of a table does with commits on it now: the strictest mode among the policies that follow from it.
 * @param governing the policies that govern the table
 * @returns undefined where the contract asks nothing of commits
 */
export function rulesInForce(governing: readonly Policy[], nowMs: number) {
  const policies = governing.filter(({ derived }) => derived !== undefined)
  const timed = policies.flatMap(({ enforceFromMs }) => (enforceFromMs === undefined ? [] : [enforceFromMs]))
  const fromMs = timed.length === 0 ? undefined : Math.min(...timed)
  const present = inEffect(policies, nowMs)
  const mode = policyModes.find((one) => present.some((policy) => policy.mode === one))
  return mode && { mode, ...(fromMs !== undefined && { enforced_from: new Date(fromMs) }) }
}
