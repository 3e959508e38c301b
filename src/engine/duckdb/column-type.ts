/**
 * Maps Iceberg's types to DuckDB's, and says which column types of Parquet files may be read as each: the same type
 * or one that the specification promotes. DuckDB would cast any other type, perhaps with loss.
 */

interface TypeRule {
  readonly sql: string
  /** The first is the type itself. */
  readonly readsFrom: readonly string[]
}

const rules: Readonly<Record<string, TypeRule>> = {
  boolean: { sql: 'BOOLEAN', readsFrom: ['BOOLEAN'] },
  int: { sql: 'INTEGER', readsFrom: ['INTEGER', 'SMALLINT', 'TINYINT'] },
  long: { sql: 'BIGINT', readsFrom: ['BIGINT', 'INTEGER', 'SMALLINT', 'TINYINT'] },
  float: { sql: 'FLOAT', readsFrom: ['FLOAT'] },
  double: { sql: 'DOUBLE', readsFrom: ['DOUBLE', 'FLOAT'] },
  string: { sql: 'VARCHAR', readsFrom: ['VARCHAR'] },
  date: { sql: 'DATE', readsFrom: ['DATE'] },
  time: { sql: 'TIME', readsFrom: ['TIME'] },
  // Both count microseconds; older writers do not mark UTC.
  timestamp: { sql: 'TIMESTAMP', readsFrom: ['TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', 'DATE'] },
  timestamptz: { sql: 'TIMESTAMPTZ', readsFrom: ['TIMESTAMP WITH TIME ZONE', 'TIMESTAMP'] },
  timestamp_ns: { sql: 'TIMESTAMP_NS', readsFrom: ['TIMESTAMP_NS', 'DATE'] },
  // DuckDB truncates these to microseconds.
  timestamptz_ns: { sql: 'TIMESTAMPTZ', readsFrom: ['TIMESTAMP WITH TIME ZONE'] },
  uuid: { sql: 'UUID', readsFrom: ['UUID'] },
  binary: { sql: 'BLOB', readsFrom: ['BLOB'] },
}

/** The DuckDB type as which a value that is not nested is read; undefined for types that the engine cannot read. */
export function scalarType(type: string): string | undefined {
  const decimal = decimalOf(type)
  if (decimal !== undefined) return `DECIMAL(${decimal.precision},${decimal.scale})`
  if (/^fixed\[\d+\]$/.test(type)) return 'BLOB'
  return Object.hasOwn(rules, type) ? rules[type]?.sql : undefined
}

/**
 * Whether a file's column may be read as an Iceberg type.
 * @param type for a list, its element's type; then `fileType` is the file's element type, too
 * @param fileType the DuckDB type, as `parquet_schema` names it
 */
export function readsFrom(type: string, fileType: string): boolean {
  const decimal = decimalOf(type)
  if (decimal !== undefined) {
    const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(fileType) ?? []
    return Number(precision) <= decimal.precision && Number(scale) === decimal.scale
  }
  if (/^fixed\[\d+\]$/.test(type)) return fileType === 'BLOB'
  return Object.hasOwn(rules, type) && rules[type]?.readsFrom.includes(fileType) === true
}

/**
 * Whether a file's column already has the DuckDB type as which it is read. Parameters as in {@link readsFrom}.
 */
export function needsNoCast(type: string, fileType: string): boolean {
  const decimal = decimalOf(type)
  if (decimal !== undefined) return fileType === `DECIMAL(${decimal.precision},${decimal.scale})`
  if (/^fixed\[\d+\]$/.test(type)) return fileType === 'BLOB'
  return Object.hasOwn(rules, type) && rules[type]?.readsFrom[0] === fileType
}

function decimalOf(type: string): { readonly precision: number; readonly scale: number } | undefined {
  const [, precision, scale] = /^decimal\((\d+),\s*(\d+)\)$/.exec(type) ?? []
  const size = { precision: Number(precision), scale: Number(scale) }
  return size.precision >= 1 && size.precision <= 38 && size.scale <= size.precision ? size : undefined
}
