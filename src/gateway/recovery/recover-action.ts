/** Recovers the intent of one catalog change that is not a commit: looks up its names, decides and records. */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import type { Catalog, ForwardRequest } from '../../catalog/catalog.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { appliedPolicy, type IntentHead, writesMetadata } from '../../core/commit.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { auditedChanges, auditedLocations, wasChangedFrom } from '../../store/commit/audit.ts'
import { type ClaimedIntent, closeIntent, loadIntentBody } from '../../store/commit/commit-intents.ts'
import { recordVerdict } from '../../store/commit/verdicts.ts'
import { policiesAtIntent } from '../../store/policy/policy-history.ts'
import { parseCommitRequest, renameDestination } from '../../wire/iceberg/commit-request.ts'
import type { LoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import { committedAt } from './committed-at.ts'
import type { IntentOutcome } from './decide.ts'
import { decideAction, type Found } from './decide-action.ts'
import { loadNow } from './load-now.ts'
import { saysAbsent } from './says-absent.ts'
import { unlessOpen } from './unless-open.ts'

interface Look extends Found {
  readonly loaded?: LoadTableResult
}

/**
 * Recovers one intent.
 * @returns what was decided; an `undecidable` intent stays
 * @throws what the upstream or the store throws; then nothing was decided
 */
export async function recoverAction(
  parts: GatewayParts,
  credential: CatalogCredential,
  claimed: ClaimedIntent,
  signal: AbortSignal,
): Promise<IntentOutcome> {
  const { tenant, intent } = claimed
  const body = await loadIntentBody(parts.store, tenant, intent.commitId)
  const request = parseCommitRequest(Bun.zstdDecompressSync(body as Uint8Array<ArrayBuffer>))
  const update = request.updates[0] ?? new Map()
  const catalog = parts.catalogs.get(tenant, credential)
  const found = await lookAtName(parts, catalog, tenant, intent, intent.table, signal)
  const destination = renameDestination(update)
  const moved = destination && (await lookAtName(parts, catalog, tenant, intent, destination, signal))
  // The audit is read last: then no other change explains what is there but not audited.
  const since = await auditedChanges(parts.store, tenant, intent, claimed.openedAt)
  const { baseMetadataLocation: base } = intent
  const arrived =
    destination && (await wasChangedFrom(parts.store, tenant, destination, base, claimed.openedAt))
  const decided = decideAction(intent, update, found, moved, since, arrived)
  const outcome = await unlessOpen(parts, claimed, decided)
  if (outcome.kind === 'not-committed') await closeIntent(parts.store, tenant, intent.commitId)
  if (outcome.kind !== 'committed') return outcome

  const writes = writesMetadata(intent.action ?? 'update-table')
  if (writes && found?.loaded === undefined) throw new Error('the table that the change wrote was not loaded')
  await recordVerdict(parts.store, tenant, {
    intent: { ...intent, body },
    decision: 'APPROVED',
    reason: '',
    policies: (await policiesAtIntent(parts.store, tenant, intent.table, intent.commitId)).map(appliedPolicy),
    outcomes: [],
    ...(intent.action === 'rename-table' && destination && { renamedTo: destination }),
    ...(writes &&
      found?.loaded && { committed: committedAt(found.loaded, intent, outcome.metadataLocation) }),
  })
  return outcome
}

/** What is under a name now. @returns undefined if the catalog says that nothing is */
export async function lookAtName(
  parts: Pick<GatewayParts, 'store'>,
  catalog: Catalog,
  tenant: TenantId,
  { action }: Pick<IntentHead, 'action'>,
  name: TableRef,
  signal: AbortSignal,
): Promise<Look | undefined> {
  try {
    if (action?.endsWith('-table')) {
      const loaded = (await loadNow(catalog, name, signal))?.result
      if (loaded === undefined) return undefined
      const locations = historyOf(loaded).map((entry) => entry.metadataLocation)
      return {
        loaded,
        table: { ...loaded, audited: await auditedLocations(parts.store, tenant, name, locations) },
      }
    }
    if (name.name === '') {
      const properties = (await read(catalog, ['namespaces', name.namespace], name, signal)).get('properties')
      return { properties: isJsonObject(properties) ? properties : new Map() }
    }
    const view = await read(catalog, ['namespaces', name.namespace, 'views', name.name], name, signal)
    return { viewLocation: String(view.get('metadata-location')), versionTimes: versionTimesOf(view) }
  } catch (error) {
    if (saysAbsent(error)) return undefined
    throw error
  }
}

function versionTimesOf(view: JsonObject): readonly JsonValue[] {
  const metadata = view.get('metadata')
  const versions = isJsonObject(metadata) ? metadata.get('versions') : undefined
  if (!Array.isArray(versions)) return []
  return (versions as readonly JsonValue[])
    .filter(isJsonObject)
    .map((version) => version.get('timestamp-ms') ?? null)
}

async function read(
  catalog: Catalog,
  path: ForwardRequest['path'],
  name: TableRef,
  signal: AbortSignal,
): Promise<JsonObject> {
  const subject = tableName(name)
  const { body } = await catalog.forward({ method: 'GET', path, mutates: false, subject, signal })
  const value = parseJson(await new Response(body as Uint8Array<ArrayBuffer>).bytes())
  return isJsonObject(value) ? value : new Map()
}
