/**
 * Proves that a statement reads only the relations opened for it. The compiler writes no other statement, but DuckDB's
 * functions could read files cached for other tenants, so DuckDB's own parser checks it again.
 */

import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { Lru } from '../../base/lru.ts'
import { EngineError } from '../engine-error.ts'

/** Cached bytes of statements that are proved to read only their session's relations. */
const engineProofBytes = 16 * 1024 * 1024

/** Table functions that read only their arguments. */
const functions = new Set(['unnest', 'generate_series', 'range'])
/** Node types of FROM besides tables and functions. */
const transparent = new Set(['JOIN', 'SUBQUERY', 'EMPTY', 'EMPTY_FROM', 'EXPRESSION_LIST'])
/** Node types that occur only in FROM. A type that a later DuckDB adds there is refused by `transparent`. */
const tableNodes = /^(BASE_TABLE|TABLE_FUNCTION|SHOW_REF|PIVOT|COLUMN_DATA|BOUND_TABLE_REF|DELIM_GET|CTE)$/

type Node = Readonly<Record<string, unknown>>

/** Caches proofs. A proof depends only on the statement's text, so it never becomes stale. */
export class Proofs {
  readonly #proven = new Lru<string, true>(engineProofBytes)
  /** The prepared statement that runs DuckDB's parser, by connection. */
  readonly #parsers = new WeakMap<DuckDBConnection, DuckDBPreparedStatement>()

  /**
   * @param relations names of the temporary relations opened for the statement
   * @throws EngineError XX000 where the text is not exactly one SELECT over these
   */
  async assertOwnRelations(
    connection: DuckDBConnection,
    sql: string,
    relations: ReadonlySet<string>,
  ): Promise<void> {
    const key = `${[...relations].join()} ${sql}`
    if (this.#proven.get(key)) return
    assertReadsOnly(await this.#serialized(connection, sql), relations)
    this.#proven.set(key, true, key.length * 2)
  }

  async #serialized(connection: DuckDBConnection, sql: string): Promise<string> {
    const parser =
      this.#parsers.get(connection) ??
      (await connection.prepare('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR'))
    this.#parsers.set(connection, parser)
    parser.bindVarchar(1, sql)
    const result = await parser.run()
    const chunk = await result.fetchChunk()
    return String(chunk?.getRows()[0]?.[0])
  }
}

function assertReadsOnly(serialized: string, relations: ReadonlySet<string>): void {
  const parsed = JSON.parse(serialized) as Node
  const statements = parsed.statements
  if (parsed.error !== false || !Array.isArray(statements) || statements.length !== 1) throw refusal()
  const nodes = nodesOf(statements[0])
  const names = new Set(nodes.flatMap(cteNames))
  for (const node of nodes) {
    for (const place of ['from_table', 'left', 'right']) assertFrom(node, node[place], place)
    if (node.type === 'BASE_TABLE' && !isOwn(node, relations, names)) throw refusal()
    if (node.type === 'TABLE_FUNCTION' && !functions.has(functionName(node))) throw refusal()
  }
}

/** Checks one child of a node. `left` and `right` may also be expressions. */
function assertFrom(parent: Node, node: unknown, place: string): void {
  if (typeof node !== 'object' || node === null) return
  const type = String((node as Node).type)
  const isTable = type === 'BASE_TABLE' || type === 'TABLE_FUNCTION' || transparent.has(type)
  if (place === 'from_table' || parent.type === 'JOIN' ? !isTable : tableNodes.test(type) && !isTable)
    throw refusal()
}

/** Every object of the tree; without recursion, because statements may be deep. */
function nodesOf(root: unknown): readonly Node[] {
  const nodes: Node[] = []
  const open: unknown[] = [root]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) nodes.push(next as Node)
    for (const value of Object.values(next)) open.push(value)
  }
  return nodes
}

function cteNames({ cte_map }: Node): readonly string[] {
  const map = (cte_map as { map?: unknown } | undefined)?.map
  return Array.isArray(map) ? map.map((entry) => String((entry as Node).key)) : []
}

function isOwn(node: Node, relations: ReadonlySet<string>, ctes: ReadonlySet<string>): boolean {
  const name = String(node.table_name)
  if (node.at_clause !== null) return false
  if (node.catalog_name === 'temp' && node.schema_name === 'main') return relations.has(name)
  return node.catalog_name === '' && node.schema_name === '' && ctes.has(name) && /^\w{1,64}$/.test(name)
}

function functionName({ function: call }: Node): string {
  const { schema, catalog, function_name } = (call ?? {}) as Node
  return (schema ?? '') === '' && (catalog ?? '') === '' ? String(function_name) : ''
}

function refusal(): EngineError {
  return new EngineError('XX000', 'The statement reads a relation that was not opened for it.')
}
