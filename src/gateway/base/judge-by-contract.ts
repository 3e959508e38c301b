/**
 * Judges a commit that the contract in force refuses by the policies of its approved versions. A version that allows the
 * commit covers it, and comes in force with it (docs/life-cycle.md).
 */

import type { JsonObject } from '../../base/json.ts'
import type { TableColumns } from '../../core/contract-break.ts'
import type { Verdict } from '../../core/decision.ts'
import type { CoveringVersion, DerivedPolicy, Policy, VersionNumber } from '../../core/policy.ts'
import { currentSchema, identifierFieldIds, schemaColumns } from '../../wire/iceberg/table-metadata.ts'

interface JudgedByContract {
  readonly policies: readonly Policy[]
  readonly verdict: Verdict
  /** The approved version that covers the commit. */
  readonly covers?: VersionNumber
  /** The version in force that denies it. */
  readonly deniedBy?: DerivedPolicy
}

/**
 * Judges by approved versions, where the contract does not hold after the commit.
 * @param policies those that the verdict rests on
 * @param judge evaluates other policies on the same commit
 */
export async function judgeByContract(
  policies: readonly Policy[],
  verdict: Verdict,
  atMs: number,
  judge: (policies: readonly Policy[]) => Promise<Verdict>,
): Promise<JudgedByContract> {
  const broken = brokenBy(policies, verdict)
  if (broken === undefined) return { policies, verdict }
  const others = policies.filter(({ derived }) => derived === undefined)
  for (const version of coveringVersions(policies, atMs)) {
    const instead = [...others, ...version.policies]
    const judged = await judge(instead)
    const { contract } = broken
    if (judged.kind === 'allow')
      return { policies: instead, verdict: judged, covers: { contract, number: version.number } }
    const isVersions = judged.kind === 'deny' && version.policies.some(({ id }) => id === judged.policyId)
    // What is denied by others, or cannot be judged, is so whatever the contract says.
    if (!isVersions && verdict.kind === 'deny') return { policies: instead, verdict: judged }
  }
  const proposes = verdict.kind === 'deny' && broken.written !== true
  return { policies, verdict, ...(proposes && { deniedBy: broken }) }
}

/** The contract that does not hold after the commit, in whatever mode; undefined where none is broken. */
function brokenBy(policies: readonly Policy[], verdict: Verdict): DerivedPolicy | undefined {
  const derived = (id: string) => policies.find((policy) => policy.id === id)?.derived
  if (verdict.kind === 'unavailable') return undefined
  if (verdict.kind === 'deny') return derived(verdict.policyId)
  const failed = verdict.outcomes.filter(({ value }) => value === false)
  return failed.map(({ policyId }) => derived(policyId)).find((one) => one !== undefined && !one.written)
}

function coveringVersions(policies: readonly Policy[], atMs: number): readonly CoveringVersion[] {
  return policies
    .flatMap(({ derived }) => derived?.covering ?? [])
    .filter(({ untilMs }) => untilMs === undefined || atMs < untilMs)
}

/** The columns of a table's metadata. */
export function tableColumns(metadata: JsonObject): TableColumns {
  const schema = currentSchema(metadata)
  return { columns: schemaColumns(schema), identifierFieldIds: [...identifierFieldIds(schema)] }
}
