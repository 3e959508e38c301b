/** Iceberg tables that Trino writes: the read path's fixture, and what an engine must know about them. */

import { isJsonObject, type JsonObject, parseJson } from '../../src/base/json.ts'
import type { GovernedTable } from '../../src/core/governed-table.ts'
import type { IcebergType } from '../../src/core/iceberg-type.ts'
import type { ComputeEngine, TableSnapshot } from '../../src/engine/engine.ts'
import { openTrino } from '../../src/engine/trino/trino-engine.ts'
import { type CompileInput, compileQuery } from '../../src/query/compile/compile.ts'
import { renderSql } from '../../src/query/compile/emit/render.ts'
import type { Expansion } from '../../src/query/compile/metrics/expand.ts'
import { parameterValues } from '../query/corpus/query.ts'
import type { Answer, Subject } from '../query/support/duckdb.ts'
import { fixtures, principal } from '../query/support/fixture.ts'
import { allowing } from '../support/address-rules.ts'
import { tenant } from '../support/engine.ts'
import { batchText } from '../support/vector-text.ts'
import { trinoSql } from './trino-server.ts'

/** The Trino type of a column of the fixture. */
function trinoType(type: IcebergType): string {
  if (typeof type !== 'string') return 'ARRAY(VARCHAR)'
  const names: Readonly<Record<string, string>> = {
    string: 'VARCHAR',
    int: 'INTEGER',
    long: 'BIGINT',
    float: 'REAL',
    timestamp: 'TIMESTAMP(6)',
    timestamptz: 'TIMESTAMP(6) WITH TIME ZONE',
  }
  return names[type] ?? type.toUpperCase()
}

function trinoValue(text: string | null, type: IcebergType): string {
  if (text === null) return 'NULL'
  const quoted = `'${text.replaceAll("'", "''")}'`
  if (typeof type !== 'string') return `CAST(json_parse(${quoted}) AS ${trinoType(type)})`
  if (type === 'timestamptz') return `CAST('${text.replace('+00', ' UTC')}' AS ${trinoType(type)})`
  return `CAST(${quoted} AS ${trinoType(type)})`
}

/** Writes the fixture's tables, the values as DuckDB holds them, into the catalog `lake`. */
export async function writeFixture(url: string, subject: Subject): Promise<void> {
  for (const schema of new Set(fixtures.map(({ governed }) => governed.schemaName)))
    await trinoSql(url, `CREATE SCHEMA lake.${schema}`)
  for (const { governed } of fixtures) {
    const { schemaName, tableName, columns } = governed
    const name = `lake.${schemaName}.${tableName}`
    const types = columns.map((column) => `"${column.name}" ${trinoType(column.type)}`)
    await trinoSql(url, `CREATE TABLE ${name} (${types.join(', ')})`)
    const texts = columns.map((column) =>
      typeof column.type === 'string'
        ? `CAST("${column.name}" AS VARCHAR)`
        : `CAST(to_json("${column.name}") AS VARCHAR)`,
    )
    const rows = await subject.runSql(`SELECT ${texts.join(', ')} FROM base_${tableName}`)
    const values = rows.map(
      (row) =>
        `(${row.map((cell, at) => trinoValue(cell as string | null, columns[at]?.type ?? 'string')).join(', ')})`,
    )
    await trinoSql(url, `INSERT INTO ${name} VALUES ${values.join(', ')}`)
  }
}

/** A table's metadata and where it lies, from the REST catalog. */
export async function loadTable(
  catalogUrl: string,
  { ref }: Pick<GovernedTable, 'ref'>,
): Promise<{ readonly metadata: JsonObject; readonly metadataLocation: string }> {
  const namespace = encodeURIComponent(ref.namespace.join('\u001f'))
  const response = await fetch(`${catalogUrl}/v1/namespaces/${namespace}/tables/${ref.name}`)
  const result = parseJson(await response.bytes())
  const metadata = isJsonObject(result) ? result.get('metadata') : undefined
  if (!isJsonObject(result) || !isJsonObject(metadata))
    throw new Error(`the catalog does not have ${ref.name}: ${response.status}`)
  return { metadata, metadataLocation: String(result.get('metadata-location')) }
}

/** The engine under test, at a Trino whose catalog `lake` is the one at `catalogUrl`. */
export function trinoEngine(
  url: string,
  catalogUrl: string,
  segmentOrigins: readonly URL[] = [],
): ComputeEngine {
  return openTrino(
    { endpoint: new URL(url), catalog: 'lake', auth: { kind: 'none' }, segmentOrigins },
    {
      addressRules: allowing('127.0.0.0/8'),
      loadMetadata: async ({ table }) => (await loadTable(catalogUrl, table)).metadata,
      checkFiles: async () => {},
    },
  )
}

export interface GovernedReader {
  /** Runs a statement as a client would have it run: compiled, each table at its snapshot, on the engine. */
  run(
    text: string,
    parameters?: readonly (string | null)[],
    expansion?: Expansion,
    parameterTypes?: CompileInput['parameterTypes'],
  ): Promise<Answer>
}

/** @param snapshots the tables that there are, at the snapshots to read */
export function governedReader(
  engine: ComputeEngine,
  snapshots: readonly TableSnapshot[],
  searchPath: readonly string[],
  reader = principal,
): GovernedReader {
  const tables = snapshots.map(({ table }) => table)
  return {
    async run(text, parameters = [], expansion, parameterTypes) {
      const compiled = compileQuery({
        text,
        principal: reader,
        tables,
        searchPath,
        parameterValues: parameterValues(parameters),
        ...(parameterTypes && { parameterTypes }),
        expansion,
      })
      const session = await engine.open(
        snapshots
          .filter(({ table }) => compiled.reads.some((read) => read.table === table))
          .map((snapshot) => ({ ...snapshot, nested: compiled.nested.get(snapshot.table) })),
        {
          queryId: crypto.randomUUID(),
          tenant,
          principal: reader.sub,
          signal: AbortSignal.timeout(120_000),
        },
      )
      try {
        const sql = renderSql(compiled.emit(engine.dialect), engine.dialect, {
          salt: new Uint8Array(16),
          parameters,
          relation: (table) => session.relation(table),
        })
        const rows: (string | null)[][] = []
        const columns = compiled.columns.map(({ type, size }, index) => ({
          name: `c${index + 1}`,
          type,
          size,
        }))
        for await (const batch of session.run({ sql, columns })) rows.push(...batchText(batch))
        return { columns: compiled.columns, rows }
      } finally {
        await session.close()
      }
    },
  }
}

/** A table at its current snapshot. */
export async function currentSnapshot(catalogUrl: string, table: GovernedTable): Promise<TableSnapshot> {
  const { metadata, metadataLocation } = await loadTable(catalogUrl, table)
  const id = metadata.get('current-snapshot-id')
  return {
    table,
    metadataLocation,
    snapshotId: typeof id === 'bigint' && id >= 0n ? id : undefined,
  }
}
