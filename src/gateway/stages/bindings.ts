/**
 * Makes what the policies of a commit see of it, and says which of them apply. It is pure: a replay of a stored commit
 * comes to the same as the gate did.
 */

import type { JsonObject } from '../../base/json.ts'
import type { ChangeOrigin } from '../../core/commit.ts'
import type { inEffect, Policy } from '../../core/policy.ts'
import { committerOf, type IdentifiedPrincipal, type Principal } from '../../core/principal.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { PolicyBindings } from '../../policy/evaluate.ts'
import { applyUpdates, isSupportedUpdate } from '../../wire/iceberg/apply-updates.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'
import { commitView, tableView } from '../../wire/iceberg/policy-view.ts'
import type { CachedTable } from '../base/table-cache.ts'
import { principalBinding } from './verdicts.ts'

/** The parts of a change that its policies see. */
interface SeenChange {
  readonly table: TableRef
  readonly request: CommitRequest
  readonly identified: { readonly principal: Principal }
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number
  readonly origin?: ChangeOrigin | undefined
}

/** A table before a change. */
export type BaseTable = Pick<CachedTable, 'metadata' | 'view'>

/** What policies see of a change. Throws what applying its updates throws. */
export function bindingsOf(change: SeenChange, base: BaseTable | undefined): PolicyBindings {
  const result = tableView(change.table, resultOf(change, base))
  return {
    table: base?.view ?? result,
    commit: commitView(change.request, result, change.receivedAtMs, change.origin),
    principal: principalBinding(change.identified.principal),
  }
}

/** The metadata after a change. Throws what applying its updates throws. */
export function resultOf(
  { request, receivedAtMs }: Pick<SeenChange, 'request' | 'receivedAtMs'>,
  base: BaseTable | undefined,
): JsonObject {
  return applyUpdates(base?.metadata, request.updates, { nowMs: receivedAtMs })
}

/**
 * Retention policies apply to snapshot expiry only (docs/reference/policies.md 4), and an unknown update may expire
 * snapshots.
 */
export function applicable<P extends Pick<Policy, 'kind'>>(
  policies: readonly P[],
  request: CommitRequest,
): readonly P[] {
  const expires = request.updates.some(
    (update) => update.get('action') === 'remove-snapshots' || !isSupportedUpdate(update),
  )
  return expires ? policies : policies.filter((policy) => policy.kind !== 'retention')
}

/** What grants may exempt a commit by: who commits, and to which table. */
export function exemptible(
  { identified }: { readonly identified: IdentifiedPrincipal },
  { metadata }: Pick<CachedTable, 'metadata'>,
): Parameters<typeof inEffect>[2] {
  const uuid = metadata.get('table-uuid')
  return { committer: committerOf(identified), tableUuid: typeof uuid === 'string' ? uuid : undefined }
}
