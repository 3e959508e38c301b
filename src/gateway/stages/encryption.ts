/**
 * Denies commits that would take away the keys of an encrypted table (docs/reference/gateway.md 5.6). Looks at the
 * updates only, so it needs no policy and no storage.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Verdict } from '../../core/decision.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'

/** The table property that names the key with which all others are encrypted. */
const keyProperty = 'encryption.key-id'

/** Whether a table is encrypted: it names a key, or holds some. */
export function isEncrypted(metadata: JsonObject | undefined): boolean {
  return (
    metadata !== undefined &&
    (keyOf(metadata) !== undefined || listOf(metadata, 'encryption-keys').length > 0)
  )
}

/** Denies a commit that removes or alters the table's key, or a key that encrypts one of its snapshots. */
export function altersEncryption(
  table: TableRef,
  base: JsonObject | undefined,
  { updates }: CommitRequest,
): Verdict | undefined {
  if (base === undefined || !isEncrypted(base)) return undefined
  const key = keyOf(base)
  if (key !== undefined && updates.some((update) => altersKey(update, key)))
    return denial(`the key of ${tableName(table)} may not be removed or changed (${keyProperty})`)
  const changed = updates.filter((update) => changesKeys(base, update))
  if (changed.length === 0) return undefined
  const used = usedKeys(base, updates)
  return changed.some((update) => isUsed(idIn(update), used))
    ? denial(`an encryption key of ${tableName(table)} is in use by one of its snapshots`)
    : undefined
}

function denial(reason: string): Verdict {
  return { kind: 'deny', reason, policyId: '', outcomes: [] }
}

/** What cannot be read is denied, because an upstream might read more in it. Some still read the older names. */
function altersKey(update: JsonObject, key: JsonValue): boolean {
  const has = (names: readonly string[], alters: (value: JsonValue) => boolean) =>
    names.some((name) => {
      const value = update.get(name)
      return value !== undefined && alters(value)
    })
  switch (update.get('action')) {
    case 'set-properties':
      return has(
        ['updates', 'updated'],
        (set) => !isJsonObject(set) || (set.has(keyProperty) && set.get(keyProperty) !== key),
      )
    case 'remove-properties':
      return has(
        ['removals', 'removed'],
        (removed) => !Array.isArray(removed) || removed.includes(keyProperty),
      )
    default:
      return false
  }
}

/** Whether an update removes a key, or gives the id of one to another. */
function changesKeys(base: JsonObject, update: JsonObject): boolean {
  if (update.get('action') === 'remove-encryption-key') return true
  if (update.get('action') !== 'add-encryption-key') return false
  const key = update.get('encryption-key')
  return listOf(base, 'encryption-keys').some(
    (one) => isJsonObject(one) && one.get('key-id') === idIn(update) && !Bun.deepEquals(one, key),
  )
}

function idIn(update: JsonObject): JsonValue | undefined {
  const key = update.get('encryption-key')
  return isJsonObject(key) ? key.get('key-id') : update.get('key-id')
}

/** The keys of all snapshots that the table has or receives, and the keys that encrypt these. */
function usedKeys(base: JsonObject, updates: readonly JsonObject[]): ReadonlySet<JsonValue> {
  const expired = new Set(
    updates.flatMap((update) =>
      update.get('action') === 'remove-snapshots' ? listIn(update.get('snapshot-ids')) : [],
    ),
  )
  const added = updates.map((update) => update.get('snapshot'))
  const snapshots = [
    ...listOf(base, 'snapshots').filter(
      (one) => !isJsonObject(one) || !expired.has(one.get('snapshot-id') ?? null),
    ),
    ...added,
  ]
  const keys = [...updates.map((update) => update.get('encryption-key')), ...listOf(base, 'encryption-keys')]
  const encryptedBy = new Map(
    keys.flatMap((one) =>
      isJsonObject(one) ? [[one.get('key-id') ?? null, one.get('encrypted-by-id') ?? null] as const] : [],
    ),
  )
  const used = new Set<JsonValue>()
  for (const snapshot of snapshots) {
    let key = isJsonObject(snapshot) ? snapshot.get('key-id') : undefined
    // A key is seen once, so a circle of keys ends.
    while (typeof key === 'string' && !used.has(key)) {
      used.add(key)
      key = encryptedBy.get(key) ?? undefined
    }
  }
  return used
}

function isUsed(key: JsonValue | undefined, used: ReadonlySet<JsonValue>): boolean {
  return typeof key !== 'string' || used.has(key)
}

function keyOf(metadata: JsonObject): JsonValue | undefined {
  const properties = metadata.get('properties')
  return isJsonObject(properties) ? properties.get(keyProperty) : undefined
}

function listOf(object: JsonObject, name: string): readonly JsonValue[] {
  return listIn(object.get(name))
}

function listIn(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
