/**
 * The development catalog's state, on disk, so that the process may be killed and started again:
 *
 *     {folder}/catalog/{namespace}.ns/namespace.json      properties
 *     {folder}/catalog/{namespace}.ns/{table}.table       the present metadata location
 *     {folder}/warehouse/{namespace}/{table}/metadata/…   one metadata file per commit
 *
 * Every change is one synchronous step of one process, so it is atomic towards other requests. Files replace each
 * other by rename but are not synced: state survives the death of the process, not of the machine.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '../../src/base/json.ts'
import { namespaceKey, type TableRef, tableKey, tableName } from '../../src/core/table-ref.ts'
import { applyUpdates } from '../../src/wire/iceberg/apply-updates.ts'
import { checkRequirements } from '../../src/wire/iceberg/check-requirements.ts'
import { refsOf } from '../../src/wire/iceberg/table-metadata.ts'

/** A refused request, in the words of the Iceberg ErrorModel. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
  ) {
    super(message)
  }
}

export interface StoredTable {
  readonly metadataLocation: string
  readonly metadata: JsonObject
  /** The LoadTableResult with all snapshots. */
  readonly body: Uint8Array
}

export interface StoredChange {
  readonly requirements: readonly JsonObject[]
  readonly updates: readonly JsonObject[]
}

type Properties = ReadonlyMap<string, JsonValue>

const metadataLogMaxDefault = 100
/** Names become file names. */
const nameBytesMax = 200
const levelSeparator = '\u001f'

export class TableStore {
  readonly #catalogFolder: string
  readonly #warehouseFolder: string
  readonly #namespaces = new Map<string, { levels: readonly string[]; properties: Properties }>()
  readonly #locations = new Map<string, { table: TableRef; location: string }>()
  /** The current metadata of each table that was used since the start, by table key. */
  readonly #loaded = new Map<string, StoredTable>()

  constructor(folder: string) {
    this.#catalogFolder = join(folder, 'catalog')
    this.#warehouseFolder = join(folder, 'warehouse')
    mkdirSync(this.#catalogFolder, { recursive: true })
    mkdirSync(this.#warehouseFolder, { recursive: true })
    this.#readAll()
  }

  createNamespace(levels: readonly string[], properties: Properties): void {
    for (const level of levels) assertName(level)
    if (levels.length === 0)
      throw new Refusal(400, 'BadRequestException', 'A namespace needs at least one level.')
    if (this.#namespaces.has(namespaceKey(levels)))
      throw new Refusal(409, 'AlreadyExistsException', `Namespace already exists: ${levels.join('.')}`)
    mkdirSync(this.#namespaceFolder(levels), { recursive: true })
    this.#writeNamespace(levels, properties)
  }

  namespace(levels: readonly string[]): Properties {
    const found = this.#namespaces.get(namespaceKey(levels))
    if (found === undefined)
      throw new Refusal(404, 'NoSuchNamespaceException', `Namespace does not exist: ${levels.join('.')}`)
    return found.properties
  }

  setNamespaceProperties(levels: readonly string[], removals: readonly string[], updates: Properties): void {
    const properties = new Map(this.namespace(levels))
    for (const name of removals) properties.delete(name)
    for (const [name, value] of updates) properties.set(name, value)
    this.#writeNamespace(levels, properties)
  }

  /** The namespaces one level below `parent`. */
  listNamespaces(parent: readonly string[]): readonly (readonly string[])[] {
    if (parent.length > 0) this.namespace(parent)
    return [...this.#namespaces.values()]
      .map(({ levels }) => levels)
      .filter(
        (levels) => levels.length === parent.length + 1 && parent.every((level, i) => levels[i] === level),
      )
  }

  dropNamespace(levels: readonly string[]): void {
    this.namespace(levels)
    if (this.listTables(levels).length > 0 || this.listNamespaces(levels).length > 0)
      throw new Refusal(409, 'NamespaceNotEmptyException', `Namespace is not empty: ${levels.join('.')}`)
    rmSync(this.#namespaceFolder(levels), { recursive: true })
    this.#namespaces.delete(namespaceKey(levels))
  }

  /** The tables of a namespace, by name. */
  listTables(levels: readonly string[]): readonly TableRef[] {
    this.namespace(levels)
    const key = namespaceKey(levels)
    return [...this.#locations.values()]
      .map(({ table }) => table)
      .filter((table) => namespaceKey(table.namespace) === key)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  has(table: TableRef): boolean {
    return this.#locations.has(tableKey(table))
  }

  location(table: TableRef): string {
    this.namespace(table.namespace)
    const found = this.#locations.get(tableKey(table))
    if (found === undefined)
      throw new Refusal(404, 'NoSuchTableException', `Table does not exist: ${tableName(table)}`)
    return found.location
  }

  load(table: TableRef): StoredTable {
    const location = this.location(table)
    const known = this.#loaded.get(tableKey(table))
    if (known?.metadataLocation === location) return known
    const stored = this.#read(location)
    this.#loaded.set(tableKey(table), stored)
    return stored
  }

  /** The location of a new table whose creator does not name one. */
  defaultLocation(table: TableRef): string {
    return pathToFileURL(this.#tableFolder(table)).href
  }

  /** Applies one commit. A table that does not exist is created if the requirements allow it. */
  commit(table: TableRef, change: StoredChange, nowMs: number): StoredTable {
    return this.#write(table, this.#prepare(table, change, nowMs))
  }

  /** Applies all changes or none. */
  commitAll(changes: readonly (StoredChange & { readonly table: TableRef })[], nowMs: number): void {
    const prepared = changes.map((change) => ({
      change,
      metadata: this.#prepare(change.table, change, nowMs),
    }))
    for (const { change, metadata } of prepared) this.#write(change.table, metadata)
  }

  /** The metadata that a commit would make, without committing it. */
  stage(table: TableRef, change: StoredChange, nowMs: number): JsonObject {
    return this.#prepare(table, change, nowMs)
  }

  register(table: TableRef, location: string): StoredTable {
    assertName(table.name)
    this.namespace(table.namespace)
    if (this.has(table))
      throw new Refusal(409, 'AlreadyExistsException', `Table already exists: ${tableName(table)}`)
    const stored = this.#read(location)
    this.#point(table, stored)
    return stored
  }

  rename(from: TableRef, to: TableRef): void {
    assertName(to.name)
    const stored = this.load(from)
    this.namespace(to.namespace)
    if (this.has(to))
      throw new Refusal(409, 'AlreadyExistsException', `Table already exists: ${tableName(to)}`)
    this.#point(to, stored)
    this.drop(from)
  }

  /** Drops a table. Its files stay, because a renamed table may still use them. */
  drop(table: TableRef): void {
    this.location(table)
    rmSync(this.#pointer(table))
    this.#locations.delete(tableKey(table))
    this.#loaded.delete(tableKey(table))
  }

  #prepare(table: TableRef, change: StoredChange, nowMs: number): JsonObject {
    assertName(table.name)
    this.namespace(table.namespace)
    const base = this.has(table) ? this.load(table) : undefined
    checkRequirements(base?.metadata, change.requirements)
    if (
      base === undefined &&
      !change.requirements.some((requirement) => requirement.get('type') === 'assert-create')
    )
      this.location(table)
    return applyUpdates(base?.metadata, change.updates, { nowMs })
  }

  #write(table: TableRef, metadata: JsonObject): StoredTable {
    const base = this.has(table) ? this.load(table) : undefined
    if (base !== undefined && metadata === base.metadata) return base
    const version =
      base === undefined ? 0 : Number(/\/(\d+)-[^/]*$/.exec(base.metadataLocation)?.[1] ?? -1) + 1
    // The new file goes beside the last one, so that a renamed or registered table keeps its folder.
    const folder =
      base === undefined
        ? join(this.#tableFolder(table), 'metadata')
        : dirname(this.#ownFile(base.metadataLocation))
    const file = join(folder, `${String(version).padStart(5, '0')}-${crypto.randomUUID()}.metadata.json`)
    const logged = base === undefined ? metadata : withMetadataLog(metadata, base)
    const text = stringifyJson(logged)
    if (base === undefined) mkdirSync(folder, { recursive: true })
    writeFileSync(file, text)
    const stored = storedTable(pathToFileURL(file).href, logged, text)
    this.#point(table, stored)
    if (base !== undefined && deletesOld(logged)) this.#deleteUnlogged(base.metadata, logged)
    return stored
  }

  /** Removes the metadata files that the log has dropped. */
  #deleteUnlogged(before: JsonObject, after: JsonObject): void {
    const kept = new Set(loggedFiles(after))
    for (const location of loggedFiles(before))
      if (!kept.has(location)) rmSync(this.#ownFile(location), { force: true })
  }

  #point(table: TableRef, stored: StoredTable): void {
    replaceFile(this.#pointer(table), stored.metadataLocation)
    this.#locations.set(tableKey(table), { table, location: stored.metadataLocation })
    this.#loaded.set(tableKey(table), stored)
  }

  #read(location: string): StoredTable {
    const text = readFileSync(this.#ownFile(location), 'utf8')
    const metadata = parseJson(text)
    if (!isJsonObject(metadata))
      throw new Refusal(400, 'BadRequestException', 'The metadata file holds no JSON object.')
    return storedTable(location, metadata, text)
  }

  /** Converts a location below the warehouse folder to a path. No other file of the machine is read. */
  #ownFile(location: string): string {
    const path = URL.canParse(location) && location.startsWith('file:///') ? fileURLToPath(location) : ''
    if (!path.startsWith(this.#warehouseFolder + sep) || !path.endsWith('.metadata.json'))
      throw new Refusal(400, 'BadRequestException', 'The metadata location is not in this warehouse.')
    return path
  }

  #readAll(): void {
    for (const folder of readdirSync(this.#catalogFolder)) {
      if (!folder.endsWith('.ns')) continue
      const levels = folder.slice(0, -3).split('%1F').map(decodeURIComponent)
      for (const file of readdirSync(join(this.#catalogFolder, folder))) {
        const text = readFileSync(join(this.#catalogFolder, folder, file), 'utf8')
        if (file === 'namespace.json') {
          const properties = parseJson(text)
          if (isJsonObject(properties)) this.#namespaces.set(namespaceKey(levels), { levels, properties })
        } else if (file.endsWith('.table')) {
          const table = { namespace: levels, name: decodeURIComponent(file.slice(0, -6)) }
          this.#locations.set(tableKey(table), { table, location: text })
        }
      }
    }
  }

  #writeNamespace(levels: readonly string[], properties: Properties): void {
    replaceFile(join(this.#namespaceFolder(levels), 'namespace.json'), stringifyJson(properties))
    this.#namespaces.set(namespaceKey(levels), { levels, properties })
  }

  #namespaceFolder(levels: readonly string[]): string {
    return join(this.#catalogFolder, `${encodeURIComponent(namespaceKey(levels))}.ns`)
  }

  #pointer(table: TableRef): string {
    return join(this.#namespaceFolder(table.namespace), `${encodeURIComponent(table.name)}.table`)
  }

  #tableFolder(table: TableRef): string {
    return join(
      this.#warehouseFolder,
      ...table.namespace.map(encodeURIComponent),
      encodeURIComponent(table.name),
    )
  }
}

/** The LoadTableResult with only the snapshots that a branch or tag names. */
export function refsOnlyBody(stored: StoredTable): Uint8Array {
  const named = new Set<JsonValue | undefined>()
  for (const ref of refsOf(stored.metadata).values()) if (isJsonObject(ref)) named.add(ref.get('snapshot-id'))
  const snapshots = stored.metadata.get('snapshots')
  const kept = (Array.isArray(snapshots) ? (snapshots as readonly JsonValue[]) : []).filter(
    (snapshot) => isJsonObject(snapshot) && named.has(snapshot.get('snapshot-id')),
  )
  return resultBody(stored.metadataLocation, stringifyJson(new Map(stored.metadata).set('snapshots', kept)))
}

function storedTable(metadataLocation: string, metadata: JsonObject, text: string): StoredTable {
  return { metadataLocation, metadata, body: resultBody(metadataLocation, text) }
}

function resultBody(metadataLocation: string, metadata: string): Uint8Array {
  return Buffer.from(
    `{"metadata-location":${JSON.stringify(metadataLocation)},"metadata":${metadata},"config":{}}`,
  )
}

function deletesOld(metadata: JsonObject): boolean {
  const properties = metadata.get('properties')
  return isJsonObject(properties) && properties.get('write.metadata.delete-after-commit.enabled') === 'true'
}

function loggedFiles(metadata: JsonObject): readonly string[] {
  const log = metadata.get('metadata-log')
  if (!Array.isArray(log)) return []
  return (log as readonly JsonValue[]).flatMap((entry) => {
    const file = isJsonObject(entry) ? entry.get('metadata-file') : undefined
    return typeof file === 'string' ? [file] : []
  })
}

function withMetadataLog(metadata: JsonObject, base: StoredTable): JsonObject {
  const properties = metadata.get('properties')
  const setting = isJsonObject(properties)
    ? properties.get('write.metadata.previous-versions-max')
    : undefined
  const countMax =
    typeof setting === 'string' && /^[1-9]\d{0,5}$/.test(setting) ? Number(setting) : metadataLogMaxDefault
  const log = base.metadata.get('metadata-log')
  const entry = new Map<string, JsonValue>([
    ['timestamp-ms', base.metadata.get('last-updated-ms') ?? 0n],
    ['metadata-file', base.metadataLocation],
  ])
  const entries = [...(Array.isArray(log) ? (log as readonly JsonValue[]) : []), entry]
  return new Map(metadata).set('metadata-log', entries.slice(-countMax))
}

function replaceFile(path: string, text: string): void {
  const next = `${path}.next`
  writeFileSync(next, text)
  renameSync(next, path)
}

function assertName(name: string): void {
  const wrong = name === '' || name === '.' || name === '..' || name.includes(levelSeparator)
  if (wrong || encodeURIComponent(name).length > nameBytesMax)
    throw new Refusal(400, 'BadRequestException', 'A name is empty, too long, or cannot be a file name.')
}
