/**
 * Writes what a version of a contract says of a table's columns as policies of commits, in CEL. A pure function over the
 * model; when they decide, and where they are stored, is not its concern.
 */

import type { PolicyKind } from '../../core/policy.ts'
import type { GoverningSchema } from '../../store/contract/put-in-force.ts'
import type { CommitMode, ModelProperty, ModelSchema } from '../../wire/odcs/model.ts'
import { admittedTypes } from './admitted-types.ts'
import { columnPaths } from './column-paths.ts'

/** One policy that follows from an object of a contract. */
export interface DerivedRule {
  /** Unique among the rules of a table. */
  readonly clause: string
  readonly kind: PolicyKind
  /** What it does at most; the contract's mode may do less. */
  readonly mode: CommitMode
  /** What the writer reads of a denial, after the contract's name and version. */
  readonly message: string
  readonly definitionCel: string
  /** Set for a policy that the document itself holds: its name, and whether it says its mode, which then stands. */
  readonly written?: { readonly name: string; readonly hasMode: boolean }
}

/** A policy's text is kept below this, with room to the limit of texts. */
const chunkBytesMax = 6_000

const text = (value: string) => JSON.stringify(value)

/**
 * The rules of an object.
 * @param before the object in the version in force, which a commit would be judged by otherwise. A property that has
 * another id there may be another column of the same name
 */
export function deriveRules(schema: GoverningSchema, before?: ModelSchema): readonly DerivedRule[] {
  const paths = columnPaths(schema.properties)
  const columns: string[] = []
  const kept: string[] = []
  for (const property of schema.properties) {
    const column = paths.get(property) ?? property.name
    columns.push(columnText(property, column, maySubstitute(property, before)))
    if (property.required) kept.push(keptText('is_required', column))
    if (property.primaryKey) kept.push(keptText('is_identifier', column))
  }
  const named = [...paths].filter(([{ name }]) => !name.includes('.')).map(([, column]) => column)
  const { additionalColumns = 'allow' } = schema
  return [
    ...chunked('columns', columns, 'a column of the contract is missing, or has another type'),
    ...chunked('keys', kept, 'a required column became optional, or a key is no identifier field any more'),
    ...(additionalColumns === 'allow'
      ? []
      : [
          {
            ...{ clause: 'additional-columns', kind: 'schema' as const },
            mode: additionalColumns === 'deny' ? ('enforce' as const) : ('warn' as const),
            message: 'a column is not in the contract',
            definitionCel: `commit.result.schema.fields.all(f, f.name in [${named.map(text).join(', ')}])`,
          },
        ]),
  ]
}

/** Whether another column may take a property's name: it has another id than before, or was not there. */
function maySubstitute(property: ModelProperty, before: ModelSchema | undefined): boolean {
  if (before === undefined) return false
  const former = before.properties.find(({ name }) => name === property.name)
  return former === undefined || (property.id !== undefined && property.id !== former.id)
}

function columnText(property: ModelProperty, column: string, substitute: boolean): string {
  const type = `manifest.column_type(commit.result, ${text(column)})`
  const admitted = admittedTypes(property)
  const exact = admitted && `${type} in [${admitted.exact.map(text).join(', ')}]`
  const typed =
    admitted === undefined
      ? `${type} != ""`
      : admitted.prefix === undefined
        ? exact
        : `(${exact} || ${type}.startsWith(${text(admitted.prefix)}))`
  return substitute
    ? `${typed}`
    : `${typed} && manifest.is_same_column(table, commit.result, ${text(column)})`
}

/** What held before the commit holds after it. */
function keptText(name: 'is_required' | 'is_identifier', column: string): string {
  const asked = (of: string) => `manifest.${name}(${of}, ${text(column)})`
  return `(!${asked('table')} || ${asked('commit.result')})`
}

function chunked(clause: string, conditions: readonly string[], message: string): readonly DerivedRule[] {
  const chunks: string[][] = []
  let bytes = chunkBytesMax
  for (const condition of conditions) {
    const length = Buffer.byteLength(condition) + 5
    if (bytes + length > chunkBytesMax) {
      chunks.push([])
      bytes = 0
    }
    chunks.at(-1)?.push(condition)
    bytes += length
  }
  return chunks.map((chunk, index) => ({
    clause: chunks.length === 1 ? clause : `${clause}-${String(index + 1).padStart(3, '0')}`,
    ...{ kind: 'schema', mode: 'enforce', message, definitionCel: chunk.join(' &&\n  ') },
  }))
}
