/**
 * Makes what policies see of a change of a catalog that is not a commit (docs/reference/gateway.md 4): one subject for
 * each name that the action affects. It is pure.
 */

import { type JsonObject, jsonObject } from '../../base/json.ts'
import type { CatalogAction } from '../../core/commit.ts'
import type { PolicyKind } from '../../core/policy.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { type ManifestFacts, noManifestFacts } from '../../policy/manifest-facts.ts'
import { applyUpdates } from '../../wire/iceberg/apply-updates.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'
import { createTableUpdates } from '../../wire/iceberg/create-table.ts'
import { tableView } from '../../wire/iceberg/policy-view.ts'
import { snapshotsOf } from '../../wire/iceberg/table-metadata.ts'
import type { BaseTable } from './bindings.ts'

/** The parts of an action that its policies see. */
export interface SeenAction {
  readonly action: CatalogAction
  readonly table: TableRef
  /** The new name, for a rename. */
  readonly destination: TableRef | undefined
  /** Whether the table's files are deleted too. */
  readonly purge: boolean
  /** Its one update has the action's name. */
  readonly request: CommitRequest
  /** Milliseconds since the Unix epoch. */
  readonly receivedAtMs: number
}

/** One name, and what its policies see. */
export interface Subject {
  readonly name: TableRef
  readonly table: JsonObject
  readonly result?: JsonObject
  readonly request: CommitRequest
  readonly kinds: readonly PolicyKind[]
  /** Whether a write ACL must allow the action if the name is governed. */
  readonly needsGrant: boolean
  /** A kind of policy that cannot be evaluated, because the resulting metadata is unknown until the upstream acts. */
  readonly unevaluatedKind?: PolicyKind
}

/**
 * The names that an action affects, in the order in which they are judged. Throws what making the table throws.
 * @param base the table before it, where the action has one
 */
export function subjectsOf(change: SeenAction, base: BaseTable | undefined): readonly Subject[] {
  const { action, table, destination, request, purge } = change
  const named = base?.view ?? jsonObject({ namespace: table.namespace, name: table.name })
  const acl = { request, kinds: ['write_acl'], needsGrant: true } as const
  switch (action) {
    case 'create-table': {
      const updates = createTableUpdates(request.updates[0] ?? new Map())
      const result = tableView(table, applyUpdates(undefined, updates, { nowMs: change.receivedAtMs }))
      return [{ ...acl, name: table, table: result, result, kinds: ['schema', 'write_acl'] }]
    }
    case 'register-table':
      // The file's content is unknown until the upstream has read it.
      return [{ ...acl, name: table, table: named, unevaluatedKind: 'schema' }]
    case 'rename-table': {
      if (base === undefined || destination === undefined) throw new Error('a rename without its two tables')
      const result = tableView(destination, base.metadata)
      const kinds = ['schema', 'write_acl'] as const
      return [
        { ...acl, name: table, table: base.view, result, kinds },
        { ...acl, name: destination, table: result, result, kinds },
      ]
    }
    case 'drop-table':
    case 'unregister-table': {
      const drop = { ...acl, name: table, table: named }
      if (!purge || base === undefined) return [drop]
      const ids = snapshotsOf(base.metadata).map((snapshot) => snapshot.get('snapshot-id') ?? null)
      // A purge deletes every snapshot, so retention policies are evaluated as for their expiry.
      const expiry = jsonObject({ action: 'remove-snapshots', 'snapshot-ids': ids })
      const purged = { requirements: [], updates: [expiry] }
      return [drop, { ...drop, request: purged, kinds: ['retention'], needsGrant: false }]
    }
    case 'rename-view':
      return [table, ...(destination === undefined ? [] : [destination])].map((name) => ({
        ...acl,
        name,
        table: jsonObject({ namespace: name.namespace, name: name.name }),
      }))
    case 'create-namespace':
    case 'update-properties':
      return [{ ...acl, name: table, table: named, needsGrant: false }]
    default:
      return [{ ...acl, name: table, table: named }]
  }
}

const judgedOnTable: ReadonlySet<CatalogAction> = new Set([
  'update-table',
  'register-table',
  'drop-table',
  'unregister-table',
  'rename-table',
])

/** Whether policies see the table before the change. They see the name alone of views and namespaces. */
export function isJudgedOnTable(action: CatalogAction): boolean {
  return judgedOnTable.has(action)
}

/** No action names a snapshot. What a metadata file to register holds is unknown until the upstream has read it. */
export function factsOfAction(action: CatalogAction): ManifestFacts {
  if (action !== 'register-table') return noManifestFacts
  return { values: {}, problem: 'the metadata file to register cannot be read beforehand' }
}
