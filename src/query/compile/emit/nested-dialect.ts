/** What differs between engines in reading nested values and writing them as JSON. DuckDB has a map as its entries. */

import { quoteIdentifier } from '../../../base/sql-text.ts'
import type { NestedField } from '../../../core/iceberg-type.ts'

export interface NestedDialect {
  /** A field of a struct; NULL of a NULL struct. */
  readonly field: (sql: string, field: NestedField) => string
  /**
   * A field that is read without the rest of its column, where the engine has a column of its own for it.
   * @param alias of the table
   */
  readonly alone: ((alias: string, field: NestedField) => string) | undefined
  /** The entries of a map as a list. */
  readonly entries: (sql: string) => string
  readonly key: (entry: string, key: NestedField) => string
  readonly value: (entry: string, value: NestedField) => string
  /** Each element of a list by an expression of a variable. */
  readonly each: (list: string, variable: string, body: string) => string
  /** Texts of a list, ordered by the length and then the bytes of others. @param pair of both, by a variable */
  readonly ordered: (list: string, variable: string, key: string, text: string) => string
  /** Texts of a list, none of them NULL, joined by a comma and a blank. */
  readonly joined: (list: string) => string
  /** A text as a text of JSON. */
  readonly quoted: (sql: string) => string
  readonly isFinite: (sql: string) => string
  /** JSON of its text, which is valid. */
  readonly json: (text: string) => string
}

/** As the embedded engine names it: see its table-columns.ts and nested-value.ts. */
const member = ({ fieldId }: NestedField) => `f${fieldId}`

export const duckdbNested: NestedDialect = {
  field: (sql, field) => `struct_extract(${sql}, '${member(field)}')`,
  alone: (alias, { fieldId }) => `${alias}.${quoteIdentifier(`\u0001${fieldId}`)}`,
  entries: (sql) => sql,
  key: (entry, key) => `struct_extract(${entry}, '${member(key)}')`,
  value: (entry, value) => `struct_extract(${entry}, '${member(value)}')`,
  each: (list, variable, body) => `list_transform(${list}, lambda ${variable}: ${body})`,
  ordered: (list, variable, key, text) =>
    `list_transform(list_sort(list_transform(${list}, lambda ${variable}: struct_pack(l := octet_length(encode(${key})), b := encode(${key}), t := ${text}))), lambda ${variable}: struct_extract(${variable}, 't'))`,
  joined: (list) => `array_to_string(${list}, ', ')`,
  quoted: (sql) => `CAST(to_json(${sql}) AS VARCHAR)`,
  isFinite: (sql) => `isfinite(${sql})`,
  json: (text) => `CAST(${text} AS JSON)`,
}

export const trinoNested: NestedDialect = {
  field: (sql, { name }) => `${sql}.${quoteIdentifier(name)}`,
  alone: undefined,
  entries: (sql) => `map_entries(${sql})`,
  key: (entry) => `${entry}[1]`,
  value: (entry) => `${entry}[2]`,
  each: (list, variable, body) => `transform(${list}, ${variable} -> ${body})`,
  ordered: (list, variable, key, text) =>
    `transform(array_sort(transform(${list}, ${variable} -> ROW(length(to_utf8(${key})), to_utf8(${key}), ${text}))), ${variable} -> ${variable}[3])`,
  joined: (list) => `array_join(${list}, ', ')`,
  quoted: (sql) => `json_format(CAST(${sql} AS JSON))`,
  isFinite: (sql) => `is_finite(CAST(${sql} AS DOUBLE))`,
  json: (text) => `json_parse(${text})`,
}
