/** Saves the policies that follow from contracts, in the caller's transaction. The caller holds the lock of contracts. */

import type { Actor } from '../../core/administration.ts'
import type { DerivedPolicy, Policy } from '../../core/policy.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { storableJson } from '../database/names.ts'
import type { Param, Tx } from '../database/session.ts'
import { policyShapes, type StoredPolicy, storedPolicy, toPolicy } from './policies.ts'
import { scopeNode } from './policy-scope.ts'

/** A policy of one table that follows from a contract. */
export interface TablePolicy {
  readonly table: TableRef
  readonly policy: Policy & { readonly derived: DerivedPolicy }
}

type StoredTablePolicy = StoredPolicy & { readonly table: TableRef }

/** The policies that follow from a contract. */
export async function derivedPoliciesOf(
  run: <Row extends object>(text: string, params: readonly Param[]) => Promise<readonly Row[]>,
  contract: string,
): Promise<readonly TablePolicy[]> {
  const rows = await run<{ properties: string }>(
    `select p.properties::text as properties
     from (select properties from "Policy" union all select properties from "RetentionPolicy") p
     where p.properties::text::jsonb #>> '{derived,contract}' = $1`,
    [contract],
  )
  return rows.map(({ properties }) => {
    const { table, ...stored } = JSON.parse(properties) as StoredTablePolicy
    return { table, policy: toPolicy(stored) as TablePolicy['policy'] }
  })
}

/** Saves the wanted policies in place of the present ones. What is equal stays. @returns whether anything changed */
export async function replaceDerivedPolicies(
  tx: Tx,
  present: readonly TablePolicy[],
  wanted: readonly TablePolicy[],
  by: Actor,
): Promise<boolean> {
  const kept = new Map(wanted.map((one) => [one.policy.id, one]))
  const had = new Map(present.map((one) => [one.policy.id, one]))
  const gone = present.filter(({ policy }) => !kept.has(policy.id))
  const changed = wanted.filter((one) => !Bun.deepEquals(had.get(one.policy.id), one))
  const actor = storableJson(by)
  for (const { policy } of gone)
    await tx.query('select svc.delete_policy($1, $2::text::jsonb)', [policy.id, actor])
  for (const { table, policy } of changed) {
    const { label, edge } = policyShapes[policy.kind]
    await tx.query('select svc.put_policy($1, $2, $3::text::jsonb, $4::text::jsonb, $5::text::jsonb)', [
      ...[label, edge, storableJson({ ...storedPolicy(policy), table })],
      ...[storableJson(scopeNode(table)), actor],
    ])
  }
  return gone.length + changed.length > 0
}
