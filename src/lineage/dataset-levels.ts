/**
 * Splits the names that producers give to tables into levels, by the naming conventions of OpenLineage for Trino,
 * Spark, dbt, Flink and Glue. Datasets that are named by the location of their files have no levels.
 */

import type { LineageName } from '../core/lineage.ts'
import { isPathIdentifier } from '../core/table-ref.ts'

/** `path` names in storage, topics and local files: no names of tables. */
const locations = new Set([
  ...['s3', 's3a', 's3n', 'gs', 'abfs', 'abfss', 'wasb', 'wasbs', 'adl', 'hdfs', 'dbfs', 'oss', 'file'],
  'kafka',
])

/** Systems whose names begin with a catalog or database of their own: `catalog.schema.table`. */
const catalogFirst = new Set([
  ...['trino', 'presto', 'postgres', 'redshift', 'snowflake', 'mssql', 'sqlserver', 'databricks', 'duckdb'],
  ...['unitycatalog', 'awsathena', 'bigquery', 'flink'],
])

/** Schemes that name the same storage: with another client, or without TLS. */
const sameScheme: Readonly<Record<string, string>> = { s3a: 's3', s3n: 's3', abfs: 'abfss', wasb: 'wasbs' }

/** The one name of a location, however it is written; a name that is no location's is left as it is. */
export function canonicalName({ namespace, name }: LineageName): LineageName {
  const scheme = schemeOf(namespace)
  if (!namesLocations(namespace) || scheme === 'kafka') return { namespace, name }
  const rest = namespace.slice(scheme.length)
  // A path that is all slashes is the root.
  const path = name.replace(/\/+$/, '') || name
  return { namespace: `${sameScheme[scheme] ?? scheme}${rest}`.replace(/(?<=[^:/])\/+$/, ''), name: path }
}

interface DatasetLevels {
  /** The last one is the table. */
  readonly levels: readonly string[]
  /** Whether the first level names a catalog of the producer. */
  readonly isCatalogFirst: boolean
}

/** Whether datasets of this namespace are named by where their files lie. */
export function namesLocations(namespace: string): boolean {
  return locations.has(schemeOf(namespace))
}

/** The levels of a dataset's name; undefined for a name that is no table's. */
export function datasetLevels({ namespace, name }: LineageName): DatasetLevels | undefined {
  if (namesLocations(namespace)) return undefined
  const levels = (isGlue(namespace) ? glueLevels(name) : name.split('.')).map(unquoted)
  if (levels.length < 2 || !levels.every(isPathIdentifier)) return undefined
  return { levels, isCatalogFirst: levels.length > 2 && catalogFirst.has(schemeOf(namespace)) }
}

/** `arn:aws:glue:{region}:{account}`, whose tables are named `table/{database}/{table}`. */
const isGlue = (namespace: string) => /^arn:aws[a-z-]*:glue:/.test(namespace)

function glueLevels(name: string): readonly string[] {
  const [kind, ...levels] = name.split('/')
  return kind === 'table' ? levels : []
}

/** dbt keeps the quotes of some databases. */
function unquoted(level: string): string {
  return /^(["'`])(.+)\1$/.exec(level)?.[2] ?? level
}

function schemeOf(namespace: string): string {
  return (/^([a-z][a-z0-9+.-]*):/i.exec(namespace)?.[1] ?? namespace).toLowerCase()
}
