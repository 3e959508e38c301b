/**
 * Stores the development catalog's views, one JSON file each: `{folder}/views/{namespace}.{view}.json`. A change
 * writes a new metadata location, but a replaced view has no history.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject, jsonObject, parseJson, stringifyJson } from '../../src/base/json.ts'
import { namespaceKey, type TableRef, tableKey, tableName } from '../../src/core/table-ref.ts'
import { Refusal } from './table-store.ts'

export class ViewStore {
  readonly #folder: string
  readonly #views = new Map<string, { readonly view: TableRef; readonly result: JsonObject }>()

  constructor(folder: string) {
    this.#folder = join(folder, 'views')
    mkdirSync(this.#folder, { recursive: true })
    for (const file of readdirSync(this.#folder)) {
      const stored = parseJson(readFileSync(join(this.#folder, file), 'utf8'))
      const levels = decodeURIComponent(file.slice(0, -'.json'.length)).split('\u001f')
      const view = { namespace: levels.slice(0, -1), name: levels.at(-1) ?? '' }
      if (isJsonObject(stored)) this.#views.set(tableKey(view), { view, result: stored })
    }
  }

  has(view: TableRef): boolean {
    return this.#views.has(tableKey(view))
  }

  /** The LoadViewResult. */
  load(view: TableRef): JsonObject {
    const found = this.#views.get(tableKey(view))
    if (found === undefined)
      throw new Refusal(404, 'NoSuchViewException', `View does not exist: ${tableName(view)}`)
    return found.result
  }

  list(namespace: readonly string[]): readonly TableRef[] {
    const key = namespaceKey(namespace)
    return [...this.#views.values()]
      .map(({ view }) => view)
      .filter((view) => namespaceKey(view.namespace) === key)
  }

  /** @param request a CreateViewRequest */
  create(view: TableRef, request: JsonObject): JsonObject {
    if (this.has(view))
      throw new Refusal(409, 'AlreadyExistsException', `View already exists: ${tableName(view)}`)
    return this.#write(view, [
      ['view-uuid', crypto.randomUUID()],
      ['format-version', 1n],
      ['location', `file:///views/${tableName(view)}`],
      ['schemas', [request.get('schema') ?? null]],
      ['current-version-id', 1n],
      ['versions', [request.get('view-version') ?? null]],
      ['version-log', []],
      ['properties', request.get('properties') ?? new Map()],
    ])
  }

  /** @param request a CommitViewRequest, of which only `add-view-version` and `set-properties` are applied */
  replace(view: TableRef, request: JsonObject): JsonObject {
    const metadata = this.load(view).get('metadata')
    const next = new Map(isJsonObject(metadata) ? metadata : [])
    const updates = request.get('updates')
    for (const update of Array.isArray(updates) ? updates : []) {
      if (update.get('action') === 'add-view-version') next.set('versions', [update.get('view-version')])
      if (update.get('action') === 'set-properties') next.set('properties', update.get('updates'))
    }
    return this.#write(view, [...next])
  }

  rename(from: TableRef, to: TableRef): void {
    const stored = this.load(from)
    if (this.has(to))
      throw new Refusal(409, 'AlreadyExistsException', `View already exists: ${tableName(to)}`)
    this.#put(to, stored)
    this.drop(from)
  }

  drop(view: TableRef): void {
    this.load(view)
    rmSync(this.#file(view))
    this.#views.delete(tableKey(view))
  }

  #write(view: TableRef, metadata: readonly (readonly [string, unknown])[]): JsonObject {
    const location = `file:///views/${tableName(view)}/${crypto.randomUUID()}.metadata.json`
    return this.#put(
      view,
      jsonObject({ 'metadata-location': location, metadata: new Map(metadata as never), config: new Map() }),
    )
  }

  #put(view: TableRef, result: JsonObject): JsonObject {
    const file = this.#file(view)
    writeFileSync(`${file}.next`, stringifyJson(result))
    renameSync(`${file}.next`, file)
    this.#views.set(tableKey(view), { view, result })
    return result
  }

  #file(view: TableRef): string {
    return join(this.#folder, `${encodeURIComponent(tableKey(view))}.json`)
  }
}
