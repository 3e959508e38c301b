/** Compares a document with the version of its contract that is in force, and stores nothing. */

import type { TenantId } from '../../core/tenant.ts'
import { described, list, maybe, object, oneOf, text } from '../../http/schemas.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import { earlierModels, type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import { readColumnUses } from '../../store/semantics/column-uses.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import { loadFieldIds } from '../classify/field-ids.ts'
import { type ChangeVerdict, judgeChange, parseVersion } from '../classify/judge-change.ts'
import { stepProblemOf } from '../classify/step-problem.ts'
import { tagFindings } from '../classify/tag-findings.ts'
import { verdictSchema, verdictView } from '../classify/verdict-view.ts'
import { commitRulesOf, commitRulesSchema } from '../commit/commit-rules.ts'
import { neededSignOffs } from '../lifecycle/state-machine.ts'
import type { ContractParts } from '../parts.ts'
import { testProblemOf } from '../policy-tests/run-policy-tests.ts'
import { documentWarnings } from './document-warnings.ts'

/** What a document would change, whom it would break, and what its proposal would need. */
export const comparisonSchema = object({
  ...verdictSchema.properties,
  breaks: described(
    list(object({ name: text, contact: maybe(text) })),
    'the consumers that the document in force names, where it breaks consumers',
  ),
  waits_for: described(list(oneOf(['first', 'second'])), 'sign-offs that its proposal would need'),
  commits: commitRulesSchema,
  warnings: described(list(text), 'of row filters and masks in the document that are hardly meant'),
  problem: maybe(described(text, 'why its proposal would be refused: its version number, or a policy test')),
})

/** What the document would change. */
export async function compareDocument(
  { store, clock, warnPolicy }: Pick<ContractParts, 'store' | 'clock' | 'warnPolicy'>,
  tenant: TenantId,
  model: ContractModel,
) {
  const run: RunQuery = (statement, params) => store.tenantQuery(tenant, statement, params)
  const verdict = await judgeAgainstForce(run, tenant, model)
  const base = await versionInForce(run, tenant, model.id)
  const hurts = verdict.findings.some(({ consumer }) => consumer === 'breaking')
  const problem = testProblemOf(model) ?? stepProblemOf(base?.version, model.version, verdict)
  return {
    ...verdictView(verdict),
    breaks: hurts ? (base?.model.consumers ?? []) : [],
    waits_for: neededSignOffs({
      needsSignOff: verdict.breaking || verdict.loosensAccess,
      needsSecond: model.secondApproval,
    }),
    commits: await commitRulesOf(run, model, clock.now()),
    warnings: await documentWarnings({ store, tenant, warnPolicy }, model),
    ...(problem !== undefined && { problem }),
  }
}

/** Judges a model against the versions that were in force since the last major one. */
export async function judgeAgainstForce(
  run: RunQuery,
  tenant: TenantId,
  model: ContractModel,
): Promise<ChangeVerdict> {
  const earlier = await earlierModels(run, tenant, model.id)
  const major = parseVersion(earlier[0]?.version ?? '')?.[0]
  const since = earlier.findIndex(({ version }) => parseVersion(version)?.[0] !== major)
  const compared =
    major === undefined ? earlier.slice(0, 1) : earlier.slice(0, since < 0 ? earlier.length : since)
  const tables = governing(compared[0]).map(({ table }) => table)
  const uses = await readColumnUses(run, tables)
  const tags = await tagFindings(run, tenant, model)
  return judgeChange(compared, model, { ...(await loadFieldIds(run, model)), uses, tags })
}
