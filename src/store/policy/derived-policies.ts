/**
 * Saves the policies that follow from contracts, in the caller's transaction, and reads them by contract or table. The
 * caller who saves holds the lock of contracts.
 */

import type { Actor } from '../../core/administration.ts'
import type { DerivedPolicy, Policy } from '../../core/policy.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import type { Param, Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import {
  notLoaded,
  policyShapes,
  readGoverning,
  type StoredPolicy,
  storedPolicy,
  toPolicy,
} from './policies.ts'
import { namespaceIds, scopeNode } from './policy-scope.ts'

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
  return (await derivedPoliciesOfEach(run, [contract]))[0] ?? []
}

/** As {@link derivedPoliciesOf} for each of several contracts, in their order, in one statement. */
export async function derivedPoliciesOfEach(
  run: <Row extends object>(text: string, params: readonly Param[]) => Promise<readonly Row[]>,
  contracts: readonly string[],
): Promise<readonly (readonly TablePolicy[])[]> {
  const rows = await run<{ properties: string }>(
    `select p.properties::text as properties
     from (select properties from "Policy" union all select properties from "RetentionPolicy") p
     where p.properties::text::jsonb #>> '{derived,contract}' in (select jsonb_array_elements_text($1::text::jsonb))`,
    [JSON.stringify(contracts.map(storableText))],
  )
  const found = rows.map(({ properties }) => {
    const { table, ...stored } = JSON.parse(properties) as StoredTablePolicy
    return { table, policy: toPolicy(stored) as TablePolicy['policy'] }
  })
  const byContract = Map.groupBy(found, ({ policy }) => policy.derived.contract)
  return contracts.map((contract) => byContract.get(contract) ?? [])
}

/** As {@link governingPolicies}, in a statement of its own. */
export async function governingPoliciesOfEach(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
): Promise<readonly (readonly Policy[])[]> {
  return await governingPolicies((text, params) => store.tenantQuery(tenant, text, params), tables)
}

/**
 * The policies that govern each of several tables, in their order, in one statement.
 * @throws Fault `policy_engine_unavailable` where those of one cannot be read
 */
export async function governingPolicies(
  run: <Row extends object>(text: string, params: readonly Param[]) => Promise<readonly Row[]>,
  tables: readonly TableRef[],
): Promise<readonly (readonly Policy[])[]> {
  const asked = tables.map((table) => ({
    id: nodeId(tableKey(table)),
    above: JSON.stringify(namespaceIds(table.namespace)),
  }))
  try {
    const rows = await run<{ governance: string | null }>(
      `select svc.write_governance(t ->> 'id', t ->> 'above') as governance
       from jsonb_array_elements($1::text::jsonb) with ordinality as asked (t, place) order by place`,
      [storableJson(asked)],
    )
    return tables.map((_, index) => readGoverning(rows[index]?.governance).policies)
  } catch (error) {
    throw notLoaded(error)
  }
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
