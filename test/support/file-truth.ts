/** Compares what audited commits asked for with what their metadata files brought, read from the disk. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/base/json.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import type { Store } from '../../src/store/store.ts'
import { parseCommitRequest } from '../../src/wire/iceberg/commit-request.ts'

const objects = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : []
const keys = (value: JsonValue | undefined): readonly string[] =>
  isJsonObject(value) ? [...value.keys()] : []

/** A client that sends an append again keeps the id. */
const snapshotText = (one: JsonObject) => `snapshot ${one.get('snapshot-id')} of ${one.get('manifest-list')}`

/** The names of the properties and the snapshots in a state of a table. */
function partsOf(metadata: JsonObject): ReadonlySet<string> {
  const snapshots = objects(metadata.get('snapshots')).map(snapshotText)
  return new Set([...keys(metadata.get('properties')), ...snapshots])
}

/** The same of what a request sets and adds. */
function askedBy(body: Uint8Array): ReadonlySet<string> {
  const { updates } = parseCommitRequest(Bun.zstdDecompressSync(body as Uint8Array<ArrayBuffer>))
  return new Set(
    updates.flatMap((update) => {
      const snapshot = update.get('snapshot')
      if (isJsonObject(snapshot)) return [snapshotText(snapshot)]
      return update.get('action') === 'set-properties' ? keys(update.get('updates')) : []
    }),
  )
}

function read(location: string): JsonObject {
  const content = parseJson(readFileSync(fileURLToPath(location), 'utf8'))
  if (!isJsonObject(content)) throw new Error(`${location} holds no object`)
  return content
}

/** What a metadata file brought: it and the one that its log names last differ by that. */
function broughtBy(location: string): ReadonlySet<string> {
  const metadata = read(location)
  const before = objects(metadata.get('metadata-log')).at(-1)?.get('metadata-file')
  return partsOf(metadata).difference(partsOf(read(String(before))))
}

/** Audited commits of a tenant, one sentence for each whose file brought something else than it asked for. */
export async function wrongFiles(
  store: Store,
  tenant: TenantId,
): Promise<{ readonly checked: number; readonly wrong: readonly string[] }> {
  const rows = await store.tenantQuery<{ commit_id: string; body: Uint8Array; metadata_location: string }>(
    tenant,
    `select commit_id, body, metadata_location from svc.audit_log
     where tenant_id = $1 and decision = 'APPROVED' and action = 'update-table' and base_metadata_location <> ''`,
    [tenant],
  )
  const wrong = rows.flatMap(({ commit_id, body, metadata_location }) => {
    const [asked, brought] = [askedBy(body), broughtBy(metadata_location)]
    if (asked.symmetricDifference(brought).size === 0) return []
    return [`${commit_id} asked for ${[...asked]}, and ${metadata_location} brought ${[...brought]}`]
  })
  return { checked: rows.length, wrong }
}
