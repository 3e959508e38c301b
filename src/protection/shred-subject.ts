/** Erases a subject: its key is destroyed, so that nothing that it encrypted can be read, in any snapshot or copy. */

import { Fault } from '../base/fault.ts'
import type { Actor } from '../core/administration.ts'
import type { TenantId } from '../core/tenant.ts'
import { lockContracts, recordChange } from '../store/contract/changes.ts'
import { shredSubjectKey } from '../store/transform/subject-keys.ts'
import { deriveScopeKey } from '../transform/derive-keys.ts'
import { scopePattern } from '../transform/plan.ts'
import { refKeyName, subjectIdPattern, subjectRef } from '../transform/subject-keys.ts'
import type { ProtectionParts } from './parts.ts'
import { tenantKey } from './tenant-keys.ts'

interface ShredWanted {
  readonly kind: string
  /** The value of the subject column, numbers as decimal text. It is not kept. */
  readonly subject?: string | undefined
  /** The reference of the subject, as it is listed. */
  readonly ref?: string | undefined
}

interface ShredProof {
  readonly kind: string
  readonly ref: string
  /** The id of the destroyed key; undefined where there was none any more. */
  readonly keyId: string | undefined
  readonly shreddedAt: Date
}

/**
 * Erases a subject of a kind, for good. One that has no key yet is erased too: nothing is written of it from now on.
 *
 * @throws Fault `bad_request`
 */
export async function shredSubject(
  { store, keys }: Pick<ProtectionParts, 'store' | 'keys'>,
  { tenant, actor }: { readonly tenant: TenantId; readonly actor: Actor },
  { kind, subject, ref: given }: ShredWanted,
): Promise<ShredProof> {
  if (!scopePattern.test(kind)) throw new Fault('bad_request', 'The kind is not well-formed.')
  if ((subject === undefined) === (given === undefined))
    throw new Fault('bad_request', 'Name the subject by its value as `subject`, or by its `ref`.')
  if (given !== undefined && !subjectIdPattern.test(given))
    throw new Fault('bad_request', 'The `ref` is not well-formed.')
  const ref = given ?? (await refOf({ store, keys }, tenant, kind, subject ?? ''))
  return await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    const { sid, at } = await shredSubjectKey(tx, tenant, kind, ref)
    await recordChange(tx, actor, {
      action: 'shred-transform-subject',
      subject: { kind, ref },
      value: { key_id: sid ?? null, at: at.toISOString() },
    })
    return { kind, ref, keyId: sid, shreddedAt: at }
  })
}

async function refOf(
  { store, keys }: Pick<ProtectionParts, 'store' | 'keys'>,
  tenant: TenantId,
  kind: string,
  subject: string,
): Promise<string> {
  const root = await tenantKey(store, keys, tenant)
  return subjectRef(deriveScopeKey(root, { tenant, ...refKeyName(kind) }), subject)
}
