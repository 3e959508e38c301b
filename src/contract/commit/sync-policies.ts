/**
 * Makes the policies of commits that are stored those that follow from a contract's version in force and its approved
 * versions. It is one part of the caller's transaction, and changes nothing where they are so already.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { type DerivedPolicy, derivedPolicyPrefix, type Policy } from '../../core/policy.ts'
import { tableKey, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { checkPolicy } from '../../policy/check.ts'
import { type GoverningSchema, governing } from '../../store/contract/put-in-force.ts'
import {
  type ContractVersion,
  type RunQuery,
  versionInForce,
  versionsIn,
} from '../../store/contract/versions.ts'
import { nodeId } from '../../store/database/names.ts'
import type { Tx } from '../../store/database/session.ts'
import {
  derivedPoliciesOf,
  replaceDerivedPolicies,
  type TablePolicy,
} from '../../store/policy/derived-policies.ts'
import { type CommitMode, type ContractModel, type ModelSchema, shadowDays } from '../../wire/odcs/model.ts'
import { type DerivedRule, deriveRules } from './derive-policies.ts'
import { documentRules } from './document-policies.ts'

/** How long a contract without a mode only records what it would refuse, for each table that it begins to govern. */
export const shadowMs = shadowDays * 24 * 3_600_000

/**
 * Stores the policies of a contract.
 * @param change its time, by the service's clock, and who makes it
 * @returns whether anything changed
 * @throws Fault `unprocessable` for a version whose policies do not compile
 */
export async function syncCommitPolicies(
  tx: Tx,
  tenant: TenantId,
  contract: string,
  { nowMs, by }: { readonly nowMs: number; readonly by: Actor },
): Promise<boolean> {
  const run: RunQuery = (text, params) => tx.query(text, params)
  const present = await derivedPoliciesOf(run, contract)
  const force = await versionInForce(run, tenant, contract)
  const approved = force === undefined ? [] : await versionsIn(run, tenant, contract, ['approved'])
  const since = governedSince(present)
  const wanted = governing(force?.model).flatMap((schema) =>
    force === undefined
      ? []
      : policiesOf(force, schema, {
          sinceMs: since.get(tableKey(schema.table)) ?? nowMs,
          covering: approved
            .filter((one) => mayCover(one, force))
            .map((one) => coveringOf(one, force, schema)),
        }),
  )
  return await replaceDerivedPolicies(tx, present, wanted, by)
}

/** When a contract began to govern each table, by tableKey. @param present its stored policies */
export function governedSince(present: readonly TablePolicy[]): ReadonlyMap<string, number> {
  return new Map(present.map(({ table, policy }) => [tableKey(table), policy.derived.sinceMs]))
}

/** @throws Fault `unprocessable` for a version whose policies do not compile */
export function assertCompiles(model: ContractModel): void {
  for (const schema of governing(model))
    for (const { clause, definitionCel } of rulesOf(model, schema)) {
      const [problem] = checkPolicy(definitionCel)
      if (problem !== undefined)
        throw new Fault(
          'unprocessable',
          `The policy ${clause} of ${tableName(schema.table)} does not compile: ${problem.message}`,
        )
    }
}

/** A version that moves a pin is deployed by a person, because the pinned snapshot is looked up first. */
function mayCover({ model, baseNumber }: ContractVersion, force: ContractVersion): boolean {
  return baseNumber === force.number && governing(model).every(({ pin }) => pin === undefined)
}

/** All rules of an object; see {@link deriveRules}. */
export function rulesOf(
  model: ContractModel,
  schema: GoverningSchema,
  before?: ModelSchema,
): readonly DerivedRule[] {
  return [...deriveRules(schema, before), ...documentRules(model, schema)]
}

function policiesOf(
  version: ContractVersion,
  schema: GoverningSchema,
  { sinceMs, covering }: Pick<DerivedPolicy, 'sinceMs' | 'covering'>,
): readonly TablePolicy[] {
  const { contract, number, model } = version
  const mode = schema.mode ?? model.mode
  return rulesOf(model, schema)
    .map((rule) => ({ rule, policy: policyOf(version, schema, rule) }))
    .toSorted((a, b) => (a.policy.id < b.policy.id ? -1 : 1))
    .map(({ rule: { written }, policy }, index) => ({
      table: { namespace: [...schema.table.namespace], name: schema.table.name },
      policy: {
        ...policy,
        ...(written?.hasMode ? {} : inMode(policy.mode, mode, sinceMs)),
        derived: {
          ...{ contract, number, version: version.version, sinceMs },
          ...(written !== undefined && { written: true as const }),
          covering: index === 0 ? covering : [],
        },
      },
    }))
}

/** What a rule does in a contract's mode: never more than the rule itself says. */
function inMode(
  most: CommitMode,
  mode: CommitMode | undefined,
  sinceMs: number,
): Pick<Policy, 'mode' | 'enforceFromMs'> {
  if (mode === undefined)
    return most === 'enforce' ? { mode: 'shadow', enforceFromMs: sinceMs + shadowMs } : { mode: most }
  const order: readonly CommitMode[] = ['shadow', 'warn', 'enforce']
  return { mode: order.indexOf(mode) < order.indexOf(most) ? mode : most }
}

function policyOf(
  { contract, number, version }: ContractVersion,
  { table }: GoverningSchema,
  { clause, kind, mode, message, definitionCel, written }: DerivedRule,
): Policy {
  const id = derivedPolicyPrefix + nodeId(`${contract}:${number}:${tableName(table)}:${clause}`)
  return { id, kind, mode, name: written?.name ?? `contract ${contract} ${version}`, message, definitionCel }
}

/** The policies of an approved version, as a commit must fulfil them that puts it in force. */
function coveringOf(
  version: ContractVersion,
  force: ContractVersion,
  { table }: GoverningSchema,
): DerivedPolicy['covering'][number] {
  const of = ({ model }: ContractVersion) =>
    governing(model).find((one) => tableKey(one.table) === tableKey(table))
  const schema = of(version)
  const policies =
    schema === undefined
      ? []
      : rulesOf(version.model, schema, of(force)).map((rule) => policyOf(version, schema, rule))
  const { number, breakGlassUntil } = version
  return {
    ...{ number, version: version.version, policies },
    ...(breakGlassUntil !== undefined && { untilMs: breakGlassUntil.getTime() }),
  }
}
