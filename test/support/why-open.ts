/** Says of each intent that is open what recovery decides of it, and by which evidence: the last words of a failing test. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { parseCidr } from '../../src/base/cidr.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts'
import { addressRules } from '../../src/catalog/address.ts'
import { OpenCatalogs } from '../../src/catalog/open-catalog.ts'
import { tableKey, tableName } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { decideIntents, type IntentOutcome } from '../../src/gateway/recovery/decide.ts'
import { filesOf, type StaleIntent, type TableEvidence } from '../../src/gateway/recovery/evidence.ts'
import { decideAt, lookAtTable, staleIntent } from '../../src/gateway/recovery/look.ts'
import { type LookParts, lookIntoFiles } from '../../src/gateway/recovery/look-into-files.ts'
import { placeOf } from '../../src/gateway/recovery/place-intent.ts'
import { shownBetween } from '../../src/gateway/recovery/shows-change.ts'
import { tableAccess } from '../../src/storage/vended-access.ts'
import { findCatalogCredentialById } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { findAudit } from '../../src/store/commit/audit.ts'
import { findIntent, listIntents, type OpenIntent } from '../../src/store/commit/intent-settlements.ts'
import type { Store } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'

/** One paragraph for each open intent. Never throws: what cannot be looked at is said instead. */
export async function whyOpen(store: Store, tenant: TenantId): Promise<string> {
  const { items } = await listIntents(store, tenant, { limit: 100 })
  const budget = new ByteBudget({ bytesMax: 1 << 30, keptForSmall: 0, smallBytesMax: 0 })
  const range = parseCidr('127.0.0.0/8')
  const rules = addressRules({ cidrs: range === undefined ? [] : [range], hosts: [] })
  const catalogs = new OpenCatalogs({ addressRules: rules, budget })
  const parts: LookParts = {
    ...{ store, budget },
    log: createLogger({ level: 'silent' }),
    tableAccess: tableAccess({ catalogs, addressRules: rules }),
  }
  const said: string[] = []
  for (const group of Map.groupBy(items, ({ intent }) => tableKey(intent.table)).values())
    said.push(
      ...(await whyOpenOn(parts, catalogs, tenant, group).catch((thrown: unknown) => [
        `${tableName(group[0]?.intent.table ?? { namespace: [], name: '' })}: ${String(thrown)}`,
      ])),
    )
  return said.join('\n')
}

async function whyOpenOn(
  parts: LookParts,
  catalogs: OpenCatalogs,
  tenant: TenantId,
  group: readonly OpenIntent[],
): Promise<readonly string[]> {
  const commits = group.filter(({ intent }) => (intent.action ?? 'update-table') === 'update-table')
  const [first] = commits
  const head = ({ intent, state, openedAt }: OpenIntent) =>
    `${state} ${intent.action ?? 'update-table'} ${tableName(intent.table)} ${intent.commitId} opened ${openedAt.toISOString()}`
  const others = group.filter((one) => !commits.includes(one)).map(head)
  if (first === undefined) return others
  const { table, credentialId } = first.intent
  const credential = await findCatalogCredentialById(parts.store, tenant, credentialId)
  if (credential === undefined) return [...others, ...commits.map(head), 'their credential is gone']
  const at = { tenant, table, credential, catalog: catalogs.get(tenant, credential) }
  const mine = new Set(commits.map(({ intent }) => intent.commitId))
  const bases = commits.map(({ intent }) => intent.baseMetadataLocation)
  const now = await lookAtTable(parts, at, mine, { reach: { bases, since: new Date(0) } })
  const stale: StaleIntent[] = []
  for (const { intent } of commits)
    stale.push(staleIntent(intent, (await findIntent(parts.store, tenant, intent.commitId))?.body))
  const outcomes = await decideAt(parts, at, stale, now)
  if (now === undefined) return [...others, ...commits.map(head), 'their table is gone']
  const shown = await lookIntoFiles(parts, at, stale, now.evidence)
  const evidence = { ...now.evidence, ...(shown && { shown }) }
  const paragraphs: string[] = []
  for (const [index, one] of commits.entries())
    paragraphs.push(
      [
        head(one),
        outcomeText(outcomes.get(one.intent.commitId)),
        evidenceText(stale[index], stale, evidence),
        await transactionText(parts.store, tenant, one),
        await holdersOf(parts.store, tenant, stale[index], now.evidence),
      ].join('; '),
    )
  return [...others, ...paragraphs, unnamedFiles(now.evidence)]
}

/** Which files hold the change, and the commits that they are audited for. */
async function holdersOf(
  store: Store,
  tenant: TenantId,
  one: StaleIntent | undefined,
  evidence: TableEvidence,
): Promise<string> {
  if (one === undefined) return ''
  const said: string[] = []
  let before: JsonObject | undefined
  for (const { metadataLocation } of filesOf(evidence)) {
    const after = parseJson(readFileSync(fileURLToPath(metadataLocation), 'utf8'))
    if (!isJsonObject(after)) continue
    const shown = before && shownBetween(one, before, after)
    before = after
    if (shown === undefined || shown === 'no') continue
    const rows = await store.tenantQuery<{ commit_id: string }>(
      tenant,
      'select commit_id from svc.audit_log where tenant_id = $1 and metadata_location = $2',
      [tenant, metadataLocation],
    )
    const writers = rows.map((row) => row.commit_id).join(' ')
    said.push(`${shown} in ${short(metadataLocation)} audited for ${writers || 'nobody'}`)
  }
  return `held: ${said.join(', ') || 'by no file'}`
}

/** What became of the other commits of its transaction. */
async function transactionText(store: Store, tenant: TenantId, { intent }: OpenIntent): Promise<string> {
  const others = (intent.transaction ?? []).filter((id) => id !== intent.commitId)
  const said: string[] = []
  for (const id of others) {
    const row = await findAudit(store, tenant, id)
    const open = await findIntent(store, tenant, id)
    const audited =
      row &&
      `${row.decision} ${tableName(row.table)} ${short(row.metadataLocation ?? 'no file')} at ${row.createdAt}`
    said.push(`with ${id}: ${audited ?? (open ? 'open' : 'closed')}`)
  }
  return said.join('; ')
}

/** Metadata files beside the current one that the history does not name: a catalog that lost what it made leaves some. */
function unnamedFiles(evidence: TableEvidence): string {
  const named = new Set(filesOf(evidence).map(({ metadataLocation }) => short(metadataLocation)))
  const folder = dirname(fileURLToPath(evidence.metadataLocation))
  const unnamed = readdirSync(folder).filter((file) => file.endsWith('.metadata.json') && !named.has(file))
  return `files that the table does not name: ${unnamed.join(' ') || 'none'}`
}

const short = (location: string) => location.slice(location.lastIndexOf('/') + 1)

function outcomeText(outcome: IntentOutcome | undefined): string {
  if (outcome?.kind === 'undecidable') {
    const { why, isMade = false, proposed } = outcome
    return `undecidable: ${why}, made: ${isMade}, proposed: ${proposed ? `${short(proposed.metadataLocation)} (${proposed.evidence})` : 'none'}`
  }
  return outcome?.kind === 'committed'
    ? `committed ${short(outcome.metadataLocation)}`
    : (outcome?.kind ?? 'none')
}

function evidenceText(
  one: StaleIntent | undefined,
  stale: readonly StaleIntent[],
  evidence: TableEvidence,
): string {
  if (one === undefined) return ''
  const { intent, updates } = one
  const files = filesOf(evidence)
  const open = files.filter(({ metadataLocation }) => !evidence.audited.has(metadataLocation))
  const place = placeOf(one, [...stale, ...evidence.others], files, open, evidence)
  const asks = updates?.map((update) => `${update.get('action')}`).join(', ') ?? 'not read'
  const fits = [...place.fits].map(([index, fit]) => `${short(open[index]?.metadataLocation ?? '')} ${fit}`)
  return [
    `base ${short(intent.baseMetadataLocation)} reached: ${place.isReached}`,
    `asks ${asks}, snapshots ${intent.snapshotIds.join(' ') || 'none'}, shown: ${place.isShown}`,
    `accepted: ${intent.accepted ?? 'not known'}, transaction of ${intent.transaction?.length ?? 1}`,
    `${files.length} files, not audited ${open.map(({ metadataLocation }) => short(metadataLocation)).join(' ') || 'none'}`,
    `fits ${fits.join(', ') || 'none'}, unread ${place.unread.length}`,
    `${evidence.others.length} others, ${decideIntents(stale, evidence).size} decided together`,
  ].join('; ')
}
