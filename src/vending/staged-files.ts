/**
 * Lists what an ended session may have left in storage: files below the tables that it could write to, written since it
 * was issued credentials, that no snapshot of the table names. It reads with the catalog's own storage credentials, a
 * bounded part for each page. Storage does not say who wrote a file, so others' files are among them
 * (docs/reference/credentials.md 7).
 */

import type { Logger } from 'pino'
import type { ByteBudget } from '../base/byte-budget.ts'
import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { Lru } from '../base/lru.ts'
import type { AddressRules } from '../catalog/address.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { OpenCatalogs } from '../catalog/open-catalog.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { storageAccess } from '../storage/access.ts'
import { canonicalPath } from '../storage/canonical-path.ts'
import { admitSnapshot, snapshotIdOf } from '../storage/iceberg/new-manifests.ts'
import { snapshotReader } from '../storage/iceberg/snapshot-difference.ts'
import { type ListedObject, listFolder } from '../storage/list-folder.ts'
import { ReadFailure, toReadFailure } from '../storage/read-failure.ts'
import { openStorage, type StorageAccess } from '../storage/storage.ts'
import { findCatalogCredentialById } from '../store/catalog-credential/catalog-credentials.ts'
import { isUuid, type Page, type PageRequest, pageLimit } from '../store/database/page.ts'
import type { Store } from '../store/store.ts'
import { type WrittenTable, writtenTable } from '../store/vended/vended-credentials.ts'
import { filesOf } from '../wire/iceberg/named-locations.ts'
import { parseLoadTableResult, snapshotsOf } from '../wire/iceberg/table-metadata.ts'
import { type FileSet, FileSetBuilder } from './sign/file-set.ts'
import { outermost } from './vending.ts'

export interface StagedParts {
  readonly store: Store
  readonly catalogs: OpenCatalogs
  readonly addressRules: AddressRules
  /** Absent where an operator works on the store itself. */
  readonly budget?: ByteBudget
  readonly log?: Logger
}

interface StagedRequest extends PageRequest {
  readonly sessionId: string
  /** Only below this table. */
  readonly table?: TableRef | undefined
}

/** A file, or why the files of a table cannot be told. */
interface Staged {
  readonly table: TableRef
  /** Other sessions that could write to the table meanwhile. */
  readonly otherWriters: number
  readonly file?: ListedObject
  readonly problem?: string
}

/** Parts of listings that one page reads. */
const partsMax = 20
/** Milliseconds for one page. */
const pageMs = 60_000
/** Milliseconds that the clock of the storage may differ from the database's. */
const skewMs = 300_000
/** As the checks of commits: no snapshot with more can be read by a query either. */
const bounds = {
  bytesMax: 1024 * 1024 * 1024,
  filesMax: limits.engineManifestsMax,
  entriesMax: 1_000_000,
  readsMax: limits.manifestFactsReadsMax,
} as const

/** Files that tables name, by their state, so that the pages of a listing read them once. By bytes. */
const namedFiles = new Lru<string, FileSet>(limits.signFilesBytes)

/**
 * One page. It may hold fewer items than were asked for, or none, and another page follow.
 * @throws Fault `not_found` for an unknown session, `conflict` for one that has not ended, `bad_request` for a bad token
 */
export async function listStaged(
  parts: StagedParts,
  tenant: TenantId,
  request: StagedRequest,
): Promise<Page<Staged>> {
  const { sessionId, table } = request
  const limit = pageLimit(request)
  const signal = AbortSignal.timeout(pageMs)
  const items: Staged[] = []
  let place = placeOf(request)
  let listed = 0
  for (;;) {
    const isAfter = place.prefix === undefined
    const written = await writtenTable(parts.store, tenant, sessionId, table, place, isAfter)
    if (written === undefined) return { items }
    const { tableId, credentialId, otherWriters } = written
    const about = { table: written.table, otherWriters }
    const prefixes = outermost(written.prefixes)
    const startsAt = place.prefix === undefined ? 0 : prefixes.indexOf(place.prefix)
    if (startsAt < 0) throw badToken()
    try {
      const opened = await openTable(parts, tenant, written, signal)
      if (opened.named === undefined && isAfter) items.push({ ...about, problem: notThere })
      for (const prefix of prefixes.slice(startsAt)) {
        let after: string = place.prefix === prefix ? place.after : ''
        for (let isMore = true; isMore; ) {
          if (items.length >= limit || listed++ === partsMax || signal.aborted) {
            return { items, next: tokenOf({ tableId, credentialId, prefix, after }) }
          }
          const part = await listFolder(opened.access, prefix, after)
          const taken = take(part.objects, limit - items.length, (one) =>
            isStaged(written, opened.named, one),
          )
          items.push(...taken.objects.map((file) => ({ ...about, file })))
          after = taken.last ?? after
          isMore = part.isMore || !taken.isWhole
        }
      }
    } catch (thrown) {
      items.push({ ...about, problem: problemOf(thrown) })
    }
    place = { tableId, credentialId, prefix: undefined, after: '' }
  }
}

/** The first objects that are wanted, up to a number. */
function take(objects: readonly ListedObject[], count: number, isWanted: (one: ListedObject) => boolean) {
  const wanted: ListedObject[] = []
  let last: string | undefined
  for (const one of objects) {
    if (wanted.length === count) return { objects: wanted, last, isWhole: false }
    if (isWanted(one)) wanted.push(one)
    last = one.key
  }
  return { objects: wanted, last, isWhole: true }
}

function isStaged(
  { firstIssuedAt, lastExpiresAt }: WrittenTable,
  named: FileSet | undefined,
  { location, modifiedAt }: ListedObject,
): boolean {
  const atMs = modifiedAt.getTime()
  if (atMs < firstIssuedAt.getTime() - skewMs || atMs > lastExpiresAt.getTime() + skewMs) return false
  return named?.has(comparable(location)) !== true
}

/** The text by which a listed object and a location in metadata are compared. */
function comparable(location: string): string {
  const canonical = canonicalPath(location)
  return canonical.isClear ? canonical.path : location.replace(/^s3[an]:/, 's3:')
}

const notThere =
  'The catalog has no table of this name: it was never made, was dropped, or was renamed. Files that a renamed table still names are listed too.'

function problemOf(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.publicMessage
  if (thrown instanceof CatalogError) return 'The catalog does not load the table.'
  const { reason } = thrown instanceof ReadFailure ? thrown : toReadFailure(thrown, 'a file of the table')
  return `Its files cannot be told: ${reason}.`
}

interface OpenTable {
  readonly access: StorageAccess
  /** Undefined where the catalog has no such table. */
  readonly named: FileSet | undefined
}

/** @throws ReadFailure, Fault, CatalogError where its files cannot be told */
async function openTable(
  parts: StagedParts,
  tenant: TenantId,
  { table, credentialId }: WrittenTable,
  signal: AbortSignal,
): Promise<OpenTable> {
  const credential = await findCatalogCredentialById(parts.store, tenant, credentialId)
  if (credential === undefined) throw new ReadFailure('its catalog credential was removed')
  const access = await storageAccess(credential, parts.addressRules)
  const loaded = await loadTable(parts, tenant, credential, table, signal)
  if (loaded === undefined) return { access, named: undefined }
  const { metadataLocation, metadata } = loaded
  const key = JSON.stringify([tenant, credential.id, credential.version, tableKey(table), metadataLocation])
  const known = namedFiles.get(key)
  if (known !== undefined) return { access, named: known }
  const named = await filesNamed(access, parts.budget, metadataLocation, metadata, signal)
  namedFiles.set(key, named, named.bytes + 1)
  return { access, named }
}

async function loadTable(
  { catalogs }: StagedParts,
  tenant: TenantId,
  credential: CatalogCredential,
  table: TableRef,
  signal: AbortSignal,
) {
  try {
    const loaded = await catalogs.get(tenant, credential).loadTable(table, { signal })
    if (loaded.status === 'loaded') return parseLoadTableResult(loaded.body)
  } catch (thrown) {
    if (thrown instanceof CatalogError && thrown.code === 'ErrTableNotFound') return undefined
    throw thrown
  }
  throw new ReadFailure('the catalog did not send the table', true)
}

/** Every file that the metadata, its log and its snapshots name. */
async function filesNamed(
  access: StorageAccess,
  budget: ByteBudget | undefined,
  metadataLocation: string,
  metadata: JsonObject,
  signal: AbortSignal,
): Promise<FileSet> {
  const set = new FileSetBuilder()
  const add = (location: string) => set.add(comparable(location))
  add(metadataLocation)
  const log = metadata.get('metadata-log')
  for (const entry of Array.isArray(log) ? (log as readonly JsonValue[]) : []) {
    const file = isJsonObject(entry) ? entry.get('metadata-file') : undefined
    if (typeof file === 'string') add(file)
  }
  for (const { text } of filesOf(metadata)) add(text)
  const storage = openStorage(access, budget)
  try {
    await storage.during(async () => {
      const reader = snapshotReader(storage, bounds, signal, () => true)
      const seen = new Map<bigint, JsonObject>()
      for (const snapshot of snapshotsOf(metadata)) {
        await admitSnapshot(reader, snapshot, seen, { admit: (_kind, location) => add(location) })
        seen.set(snapshotIdOf(snapshot), snapshot)
      }
    })
  } finally {
    await storage.close()
  }
  return set.build()
}

/** A place in the listing; without a prefix it is behind the table. */
interface Place {
  readonly tableId: string
  readonly credentialId: string
  readonly prefix: string | undefined
  readonly after: string
}

const badToken = () => new Fault('bad_request', 'The page token is not valid.')

function tokenOf({ tableId, credentialId, prefix, after }: Place): string {
  return Buffer.from(JSON.stringify([tableId, credentialId, prefix, after])).toString('base64url')
}

/** Everything that a token says is compared with what is on record: it opens nothing. */
function placeOf({ after: token }: PageRequest): Place {
  if (token === undefined)
    return {
      tableId: '',
      credentialId: '00000000-0000-0000-0000-000000000000',
      prefix: undefined,
      after: '',
    }
  let read: unknown
  try {
    read = JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    throw badToken()
  }
  if (!Array.isArray(read) || read.length !== 4 || read.some((one) => typeof one !== 'string'))
    throw badToken()
  const [tableId, credentialId, prefix, after] = read as [string, string, string, string]
  if (!isUuid(credentialId) || tableId.includes('\0') || after.includes('\0')) throw badToken()
  return { tableId, credentialId, prefix, after }
}
