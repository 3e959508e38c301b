/** Issues signed plans to writers, with the scope keys that they need wrapped to the public key that they bring. */

import { Fault } from '../base/fault.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { makingRoot } from '../store/keys/plan-roots.ts'
import { firstVersions } from '../store/transform/keys.ts'
import { deriveScopeKey, wrapKeys } from '../transform/derive-keys.ts'
import { planSecondsMax } from '../transform/open-plan.ts'
import { type ColumnRule, isSubjectRule, type TransformPlan } from '../transform/plan.ts'
import { makeNonce, policyVersionOf } from '../transform/plan-proof.ts'
import { refKeyName } from '../transform/subject-keys.ts'
import { subjectKeysMax } from './issue-subject-keys.ts'
import type { ProtectionParts } from './parts.ts'
import { loadState, problemSentence, resolveTable } from './plan-table.ts'
import { tenantKey } from './tenant-keys.ts'

interface WantedPlan {
  readonly catalog?: string | undefined
  /** Default: the current one. */
  readonly schemaId?: bigint | undefined
  /** An X25519 public key as base64url; absent: the writer has its keys from elsewhere. */
  readonly publicKey?: string | undefined
  /** Whether the keys of earlier versions are sent, too. */
  readonly allKeys?: boolean | undefined
}

/**
 * Issues a plan.
 *
 * @returns the compact JWS
 * @throws Fault `not_found`, `unprocessable` where a column cannot be protected as declared, `bad_request` for a public
 * key that is none
 */
export async function issuePlan(
  parts: ProtectionParts,
  tenant: TenantId,
  named: TableRef,
  wanted: WantedPlan,
  signal: AbortSignal,
): Promise<string> {
  const { store, clock, signers, publicUrl } = parts
  const { table, state } = await loadState(parts, tenant, named, wanted.catalog, signal)
  const schemaId = wanted.schemaId ?? state.currentSchemaId
  const schema = state.schemas.get(schemaId)
  if (schema === undefined) throw new Fault('not_found', 'The table has no such schema.')
  if (state.tableUuid === undefined)
    throw new Fault('unprocessable', 'The table has no uuid, so a plan could not be bound to it.')
  const run = <R extends object>(text: string, params: readonly string[]) =>
    store.tenantQuery<R>(tenant, text, params)
  const { columns, problems } = await resolveTable(run, tenant, table, schema, state.keyFieldIds)
  if (problems.length > 0) throw new Fault('unprocessable', problemSentence(table, problems))
  const iat = Math.floor(clock.now() / 1000)
  const exp = iat + planSecondsMax
  const policyVersion = policyVersionOf(columns)
  const nonce = makeNonce(
    makingRoot(store.roots, clock.now()),
    { tenant, tableUuid: state.tableUuid, policyVersion },
    exp,
  )
  const plan: TransformPlan = {
    v: 1,
    iss: publicUrl().origin,
    tenant,
    table_uuid: state.tableUuid,
    // As the writer named it, who looks for that.
    table: [...named.namespace, named.name],
    schema_id: Number(schemaId),
    policy_version: policyVersion,
    iat,
    exp,
    nonce,
    columns,
    complete: true,
    ...(columns.some(isSubjectRule) && { subject_keys: { max: subjectKeysMax } }),
    ...(wanted.publicKey !== undefined && {
      keys: await keysFor(parts, tenant, columns, wanted.publicKey, nonce, wanted.allKeys === true),
    }),
  }
  return signers.present().sign(plan)
}

/** The scope keys that these columns need, each once. */
async function keysFor(
  { store, keys }: ProtectionParts,
  tenant: TenantId,
  columns: readonly ColumnRule[],
  publicKey: string,
  nonce: string,
  allKeys: boolean,
): Promise<NonNullable<TransformPlan['keys']>> {
  const run = <R extends object>(text: string, params: readonly string[]) =>
    store.tenantQuery<R>(tenant, text, params)
  const firsts = allKeys ? await firstVersions(run, tenant) : new Map<string, number>()
  const names = new Map(
    columns.flatMap((rule) => {
      if (!('method' in rule)) return []
      if (isSubjectRule(rule)) {
        // The writer tells subjects apart by this key, and asks for theirs.
        const name = refKeyName(rule.subject_kind)
        return [[`${name.scope}|${name.method}|${name.kid}`, { tenant, ...name }] as const]
      }
      const { scope, method } = rule
      const kids = allKeys ? kidsUntil(rule.kid, firsts.get(scope) ?? 1) : [rule.kid]
      return kids.map((kid) => [`${scope}|${method}|${kid}`, { tenant, scope, method, kid }] as const)
    }),
  )
  const root = names.size > 0 ? await tenantKey(store, keys, tenant) : new Uint8Array()
  const wanted = [...names.values()].map((name) => ({ ...name, key: deriveScopeKey(root, name) }))
  try {
    return wrapKeys(publicKey, nonce, wanted)
  } catch (cause) {
    throw new Fault('bad_request', '`public_key` must be an X25519 public key in base64url.', { cause })
  }
}

/** The ids of the keys of a scope, from the first version whose key there is to this one. */
function kidsUntil(kid: string, first: number): readonly string[] {
  return Array.from({ length: Number(kid.slice(1)) - first + 1 }, (_, index) => `k${first + index}`)
}
