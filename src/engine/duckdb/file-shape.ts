/**
 * Reads which columns a Parquet file has, and checks whether a table's columns may be read from it. The check is
 * needed because DuckDB silently reads a missing column as NULL and casts a column of another type.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import { eachInTurns } from '../../base/in-turns.ts'
import { isQuotable, quoteText } from '../../base/sql-text.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { engineCannotRead } from '../engine-error.ts'
import type { TableField } from '../iceberg/table-schema.ts'
import { needsNoCast, readsFrom } from './column-type.ts'

/** A top-level column of a file. */
export interface FileColumn {
  readonly name: string
  readonly fieldId: number | undefined
  /** DuckDB's name of the type, for a list of the element's type; undefined for other nested types. */
  readonly type: string | undefined
  readonly isList: boolean
  /** The whole of it, for nested values; see nested-value.ts. */
  readonly node: SchemaNode
}

/** Equal shapes are one object, because thousands of files have few shapes. */
export interface FileShape {
  readonly columns: readonly FileColumn[]
  readonly hasFieldIds: boolean
}

/** A node of a file's schema, as Parquet has it. */
export interface SchemaNode {
  readonly name: string
  readonly repetition: string
  readonly fieldId: number | undefined
  /** DuckDB's name of the type; undefined for a group. */
  readonly type: string | undefined
  readonly isList: boolean
  readonly isMap: boolean
  readonly children: readonly SchemaNode[]
}

/** Files whose footers one statement reads. */
const learnMax = 128

/** A file on the local disk whose shape is asked for. */
interface ShapedFile {
  readonly path: string
  /** Files with one key have one shape; undefined where that is not known. */
  readonly footerKey: string | undefined
}

interface Interned {
  readonly text: string
  readonly shape: FileShape
  readonly footerKeys: Set<string>
  paths: number
}

/** Caches the shapes of cached files. A path is never reused for another file, so a shape never becomes stale. */
export class ShapeCache {
  readonly #byPath = new Map<string, Interned>()
  readonly #byText = new Map<string, Interned>()
  readonly #byFooter = new Map<string, Interned>()

  get(path: string): FileShape | undefined {
    return this.#byPath.get(path)?.shape
  }

  /** Whether the shape of a file is known, its own or that of another file with its key. */
  knows({ path, footerKey }: ShapedFile): boolean {
    if (this.#byPath.has(path)) return true
    const interned = footerKey === undefined ? undefined : this.#byFooter.get(footerKey)
    if (interned !== undefined) this.#add(path, interned)
    return interned !== undefined
  }

  /**
   * Reads the footers of files, one of each key, some at a time, because their rows are decoded on this thread.
   * @throws DuckDB's error for a file that is not a Parquet file
   */
  async learn(connection: DuckDBConnection, files: readonly ShapedFile[]): Promise<void> {
    const first = new Map<string, ShapedFile>()
    await eachInTurns(files, undefined, (file) => {
      const key = file.footerKey ?? file.path
      if (!first.has(key)) first.set(key, file)
    })
    const asked = [...first.values()]
    for (let at = 0; at < asked.length; at += learnMax)
      await this.#learn(connection, asked.slice(at, at + learnMax))
    await eachInTurns(files, undefined, (file) => this.knows(file))
  }

  async #learn(connection: DuckDBConnection, files: readonly ShapedFile[]): Promise<void> {
    const keys = new Map(files.map(({ path, footerKey }) => [path, footerKey]))
    const reader = await connection.runAndReadAll(
      `SELECT file_name, list(struct_pack(n := name, r := repetition_type, c := num_children, i := field_id, t := duckdb_type, l := converted_type = 'LIST' OR logical_type LIKE 'List%', m := converted_type IN ('MAP', 'MAP_KEY_VALUE') OR logical_type LIKE 'Map%') ORDER BY column_id)::JSON::VARCHAR FROM parquet_schema([${[...keys.keys()].map(quoteText).join(', ')}]) GROUP BY 1`,
    )
    for (const [path, text] of reader.getRows())
      this.#add(String(path), this.#interned(String(text), keys.get(String(path))))
  }

  /** Forgets an evicted file. */
  forget(path: string): void {
    const interned = this.#byPath.get(path)
    if (interned === undefined) return
    this.#byPath.delete(path)
    if (--interned.paths > 0) return
    this.#byText.delete(interned.text)
    for (const key of interned.footerKeys) this.#byFooter.delete(key)
  }

  #interned(text: string, footerKey: string | undefined): Interned {
    const interned = this.#byText.get(text) ?? { text, shape: shapeOf(text), footerKeys: new Set(), paths: 0 }
    this.#byText.set(text, interned)
    if (footerKey !== undefined) {
      interned.footerKeys.add(footerKey)
      this.#byFooter.set(footerKey, interned)
    }
    return interned
  }

  #add(path: string, interned: Interned): void {
    interned.paths++
    this.forget(path)
    this.#byPath.set(path, interned)
  }
}

function shapeOf(text: string): FileShape {
  const { node } = treeAt(JSON.parse(text) as readonly FooterRow[], 0, 0)
  const columns = node.children.map(fileColumn)
  return { columns, hasFieldIds: columns.some(({ fieldId }) => fieldId !== undefined) }
}

interface FooterRow {
  readonly n: string
  readonly r: string | null
  readonly c: number | null
  readonly i: number | null
  readonly t: string | null
  readonly l: boolean | null
  readonly m: boolean | null
}

/** Builds the schema's tree; footers have it as a flat list, parents first. */
function treeAt(rows: readonly FooterRow[], at: number, depth: number): { node: SchemaNode; next: number } {
  const row = rows[at]
  if (row === undefined || depth > 32) throw new ReadFailure('a data file has a malformed schema')
  const children: SchemaNode[] = []
  let next = at + 1
  for (let child = 0; child < Number(row.c ?? 0); child++) {
    const below = treeAt(rows, next, depth + 1)
    children.push(below.node)
    next = below.next
  }
  const node = {
    name: row.n,
    repetition: row.r ?? '',
    fieldId: row.i ?? undefined,
    type: row.t ?? undefined,
    isList: row.l === true,
    isMap: row.m === true,
    children,
  }
  return { node, next }
}

function fileColumn(node: SchemaNode): FileColumn {
  const { name, fieldId, repetition, type, children } = node
  if (!isQuotable(name)) throw new ReadFailure('a data file has a malformed schema')
  if (repetition === 'REPEATED') return { name, fieldId, type: undefined, isList: false, node }
  if (children.length === 0) return { name, fieldId, type, isList: false, node }
  const element = elementOf(node)
  const isStandard = element?.children.length === 0
  return { name, fieldId, type: isStandard ? element?.type : undefined, isList: isStandard, node }
}

/**
 * The element of a list; undefined for another node. Only the three-level form is a list here: list group, repeated
 * group, element.
 */
export function elementOf({ isList, repetition, children }: SchemaNode): SchemaNode | undefined {
  const [repeated, ...others] = children
  const [element, ...more] = repeated?.children ?? []
  const isStandard =
    isList &&
    repetition !== 'REPEATED' &&
    others.length === 0 &&
    repeated?.repetition === 'REPEATED' &&
    !repeated.isList &&
    more.length === 0 &&
    element?.repetition !== 'REPEATED'
  return isStandard ? element : undefined
}

/**
 * Asserts that a table's field of a type that is not nested may be read from a file's column.
 * @throws EngineError 0A000 where the specification does not promote the column's type to the field's
 */
export function assertReads(field: TableField, column: FileColumn): void {
  if (!fits(field, column, readsFrom))
    throw engineCannotRead('A data file with a column of another type than the table has')
}

/** Whether a file's column already has the type as which the table's field is read. */
export function hasTypeOf(field: TableField, column: FileColumn): boolean {
  return fits(field, column, needsNoCast)
}

function fits(
  field: TableField,
  { type: fileType, isList }: FileColumn,
  rule: (type: string, fileType: string) => boolean,
): boolean {
  const type = typeof field.type === 'string' ? field.type : elementType(field)
  if (type === undefined || fileType === undefined) return false
  return isList === (typeof field.type !== 'string') && rule(type, fileType)
}

function elementType({ type }: TableField): string | undefined {
  return typeof type !== 'string' && type.type === 'list' && typeof type.element === 'string'
    ? type.element
    : undefined
}
