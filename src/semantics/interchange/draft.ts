/** The semantic layer as a document of another format describes it, and the parts that have no place here. Plain data. */

import { type TableRef, tableName } from '../../core/table-ref.ts'

export const interchangeFormats = ['ossie', 'dbt', 'odcs'] as const
export type InterchangeFormat = (typeof interchangeFormats)[number]

/** A part of a document that has no place in the semantic layer. */
export interface NotCarried {
  /** JSON Pointer into the document; on export, the name of a metric, table or dimension. */
  readonly at: string
  /** One sentence without a full stop. */
  readonly why: string
}

/** A model of a table, as the body of the operation that saves it. It is checked when it is saved. */
export interface DraftTable {
  readonly at: string
  readonly table: TableRef
  readonly body: {
    readonly key: readonly string[]
    readonly dimensions: readonly DraftDimension[]
    readonly relationships: readonly DraftRelationship[]
    readonly entity?: string | undefined
    readonly time_dimension?: string | undefined
    /** As the operation takes them; they are checked when they are saved. */
    readonly kpis?: readonly Named[] | undefined
    readonly sets?: readonly Named[] | undefined
  }
}

export interface DraftDimension {
  readonly name: string
  readonly kind?: 'categorical' | 'time'
  readonly expression?: string
  readonly label?: string | undefined
  readonly description?: string | undefined
  readonly term?: string | undefined
  readonly folder?: string | undefined
}

/** A KPI or a set of a table model, of which only the name is read here. */
export interface Named {
  readonly name: string
}

export interface DraftRelationship {
  readonly name: string
  readonly to: TableRef
  readonly columns: readonly string[]
  readonly to_columns: readonly string[]
}

/** A metric, as the body of the operation that saves it. */
export interface DraftMetric {
  readonly at: string
  readonly name: string
  readonly body: Readonly<Record<string, unknown>>
}

export interface SemanticDraft {
  /** Each after those that its relationships lead to, where that is possible. */
  readonly tables: readonly DraftTable[]
  /** Each after those that it is made of. */
  readonly metrics: readonly DraftMetric[]
  readonly notCarried: readonly NotCarried[]
  /** Semantic models of the document as JSON, by name, for what only their own format can say. */
  readonly kept: readonly { readonly name: string; readonly json: string }[]
}

/** How a document's names become names of tables. */
export interface ReadOptions {
  /** Of every table; undefined: the one that the document names. */
  readonly namespace?: readonly string[] | undefined
}

/** The draft with other pointers. @param place the pointer in place of one of the draft */
export function withPointers(draft: SemanticDraft, place: (at: string) => string): SemanticDraft {
  const placed = <T extends { readonly at: string }>(all: readonly T[]) =>
    all.map((each) => ({ ...each, at: place(each.at) }))
  const { tables, metrics, notCarried } = draft
  return { ...draft, tables: placed(tables), metrics: placed(metrics), notCarried: placed(notCarried) }
}

/** The draft with each table and metric once: where a document has several of one name, the first. The others are listed. */
export function withoutRepeated(draft: SemanticDraft): SemanticDraft {
  const notCarried = [...draft.notCarried]
  const once = <T extends { readonly at: string }>(all: readonly T[], nameOf: (one: T) => string) => {
    const names = new Set<string>()
    return all.filter((one) => {
      const isFirst = !names.has(nameOf(one))
      names.add(nameOf(one))
      if (!isFirst) notCarried.push({ at: one.at, why: `The document has ${nameOf(one)} before` })
      return isFirst
    })
  }
  const tables = once(draft.tables, ({ table }) => `the table ${tableName(table)}`)
  const metrics = once(draft.metrics, ({ name }) => `the metric ${name}`)
  return { ...draft, tables, metrics, notCarried }
}

/** The metrics that a metric is made of, as far as its body names them. */
export function needsOf({ body }: DraftMetric): readonly string[] {
  const text = body.kind === 'derived' && typeof body.expression === 'string' ? body.expression : ''
  const { numerator, denominator, of, base, conversion } = body
  const named = [numerator, denominator, of, base, conversion, ...(text.match(/[a-z_][a-z0-9_]*/g) ?? [])]
  return named.filter((one) => typeof one === 'string')
}

/** Tables and metrics, each after what it needs. What is part of a circle keeps its place. */
export function inOrder<T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  needs: (one: T) => readonly string[],
) {
  const byName = new Map(all.map((one) => [nameOf(one), one]))
  const placed = new Set<T>()
  const place = (one: T, above: ReadonlySet<T>) => {
    if (placed.has(one) || above.has(one)) return
    const path = new Set(above).add(one)
    for (const name of needs(one)) {
      const needed = byName.get(name)
      if (needed !== undefined && path.size < depthMax) place(needed, path)
    }
    placed.add(one)
  }
  for (const one of all) place(one, new Set())
  return [...placed]
}

const depthMax = 20
