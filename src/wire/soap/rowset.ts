/**
 * Writes rowsets: the inline schema and the rows. Clients read columns by position and trust the schema, so rows are
 * written from the same columns, in the same order; a value that is absent is an element that is absent.
 */

import { analysisNamespace, rootNamespaces } from './write-envelope.ts'
import { encodeXmlName, escapeXml } from './xml.ts'

const rowsetNamespace = `${analysisNamespace}:rowset`

export type RowsetType =
  | 'string'
  | 'unsignedShort'
  | 'short'
  | 'int'
  | 'unsignedInt'
  | 'long'
  | 'unsignedLong'
  | 'double'
  | 'decimal'
  | 'boolean'
  | 'dateTime'
  | 'uuid'
  | 'xml'

export interface RowsetColumn {
  readonly name: string
  readonly type: RowsetType
  /** Whether a row may lack it. */
  readonly optional: boolean
  /** Columns of the rows that it holds, in place of a value. */
  readonly nested?: readonly RowsetColumn[]
}

export type RowsetValue = string | number | bigint | boolean | Date | undefined | readonly RowsetRow[]
/** Values by the columns' positions. */
export type RowsetRow = readonly RowsetValue[]

/** Which parts of a rowset a client asked for, by its property `Content`. */
export type RowsetContent = 'SchemaData' | 'Schema' | 'Data' | 'None'

/** The beginning of a rowset's root, with the schema where it is asked for. */
export function rowsetStart(columns: readonly RowsetColumn[], content: RowsetContent): string {
  const schema = content === 'SchemaData' || content === 'Schema' ? writeSchema(columns) : ''
  return `<root xmlns="${rowsetNamespace}" ${rootNamespaces}>${schema}`
}

/** The end of a rowset's root. */
export const rowsetEnd = '</root>'

const uuidPattern = '[0-9a-zA-Z]{8}-[0-9a-zA-Z]{4}-[0-9a-zA-Z]{4}-[0-9a-zA-Z]{4}-[0-9a-zA-Z]{12}'

function writeSchema(columns: readonly RowsetColumn[]): string {
  return `<xsd:schema targetNamespace="${rowsetNamespace}" xmlns:sql="urn:schemas-microsoft-com:xml-sql" elementFormDefault="qualified"><xsd:element name="root"><xsd:complexType><xsd:sequence minOccurs="0" maxOccurs="unbounded"><xsd:element name="row" type="row"/></xsd:sequence></xsd:complexType></xsd:element><xsd:simpleType name="uuid"><xsd:restriction base="xsd:string"><xsd:pattern value="${uuidPattern}"/></xsd:restriction></xsd:simpleType><xsd:complexType name="xmlDocument"><xsd:sequence><xsd:any/></xsd:sequence></xsd:complexType><xsd:complexType name="row"><xsd:sequence>${columns.map(declare).join('')}</xsd:sequence></xsd:complexType></xsd:schema>`
}

function declare({ name, type, optional, nested }: RowsetColumn): string {
  const names = `sql:field="${escapeXml(name)}" name="${encodeXmlName(name)}"`
  if (nested !== undefined)
    return `<xsd:element ${names} minOccurs="0" maxOccurs="unbounded"><xsd:complexType><xsd:sequence minOccurs="0" maxOccurs="unbounded">${nested.map(declare).join('')}</xsd:sequence></xsd:complexType></xsd:element>`
  const typeName = type === 'uuid' ? 'uuid' : type === 'xml' ? 'xmlDocument' : `xsd:${type}`
  return `<xsd:element ${names} type="${typeName}"${optional ? ' minOccurs="0"' : ''}/>`
}

/**
 * One row.
 * @throws Error where a column that every row has is absent, or a value is of another kind: that is an error of ours
 */
export function writeRow(columns: readonly RowsetColumn[], row: RowsetRow): string {
  return `<row>${writeValues(columns, row)}</row>`
}

function writeValues(columns: readonly RowsetColumn[], row: RowsetRow): string {
  if (row.length !== columns.length) throw new Error(`a row has ${row.length} of ${columns.length} values`)
  return columns.map((column, index) => writeValue(column, row[index])).join('')
}

function writeValue({ name, type, optional, nested }: RowsetColumn, value: RowsetValue): string {
  const element = encodeXmlName(name)
  if (value === undefined) {
    if (!optional) throw new Error(`the column ${name} has no value`)
    return ''
  }
  if (Array.isArray(value)) {
    if (nested === undefined) throw new Error(`the column ${name} holds no rows`)
    return value.map((row: RowsetRow) => `<${element}>${writeValues(nested, row)}</${element}>`).join('')
  }
  if (type === 'xml') return `<${element}>${String(value)}</${element}>`
  return `<${element}>${escapeXml(textOf(value as Exclude<RowsetValue, readonly RowsetRow[]>))}</${element}>`
}

function textOf(value: string | number | bigint | boolean | Date | undefined): string {
  if (value instanceof Date) return value.toISOString().slice(0, 19)
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF'
  return String(value)
}
