/**
 * The nouns of the semantic layer: what a table's rows can be grouped by, what is computed over them, and what a steward
 * attested of it. Expressions are in the PostgreSQL dialect, and the columns that they name are bound to field ids.
 */

import type { BoundNames } from './governed-table.ts'
import type { TableRef } from './table-ref.ts'

/** A relation of this suffix shows a table's dimensions and metrics to SQL clients. */
export const metricsSuffix = '__metrics'

/** The name of a table's metric relation. */
export function relationName({ namespace, name }: TableRef): TableRef {
  return { namespace, name: `${name}${metricsSuffix}` }
}

/** The name under which every relation shows its table's own time. */
export const metricTime = 'metric_time'

export const grains = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export type Grain = (typeof grains)[number]

export const metricKinds = ['simple', 'ratio', 'derived', 'cumulative', 'offset', 'conversion'] as const

/** - `draft`: nobody can ask for it. - `active` and `deprecated`: in force. - `retired`: no longer. */
export const metricStates = ['draft', 'active', 'deprecated', 'retired'] as const
export type MetricState = (typeof metricStates)[number]

/** Names of metrics, dimensions, relationships and terms. They are SQL identifiers that need no quotes. */
export const metricNamePattern = '^[a-z_][a-z0-9_]{0,54}$'

/** Names of the columns of a table's key in its metric relation, for statements that the service writes itself. */
export const rowKeyName = (index: number) => `__key${index}`

/** An expression over columns of one table. */
export interface BoundExpression {
  readonly text: string
  /** Field ids of the columns that it names. */
  readonly names: BoundNames
  /** Types of the columns when it was saved, by field id. */
  readonly types?: Readonly<Record<string, string>> | undefined
  /** Of a filter: the dimensions of joined tables that it names, such as `customer__city`. */
  readonly dimensions?: readonly string[] | undefined
}

export interface Dimension {
  readonly name: string
  readonly label?: string | undefined
  readonly description?: string | undefined
  readonly kind: 'categorical' | 'time'
  readonly expression: BoundExpression
  /** Where clients of cubes list it, as `Sales\\Margins`. */
  readonly folder?: string | undefined
  /** The glossary term that it means. Dimensions of two tables that mean the same term are shared. */
  readonly term?: string | undefined
}

/** Many rows of the table belong to one row of another. */
export interface Relationship {
  readonly name: string
  readonly to: TableRef
  /** Field ids of the table's own columns. */
  readonly columns: readonly number[]
  /** Field ids of the other table's key, one for each of `columns`. */
  readonly key: readonly number[]
}

/** What the rows of a table can be grouped by, and which tables they lead to. */
export interface TableModel {
  readonly table: TableRef
  /** Rises by one with each change. */
  readonly number: number
  /** Field ids of the columns that name one row, if declared. */
  readonly key: readonly number[]
  readonly dimensions: readonly Dimension[]
  readonly relationships: readonly Relationship[]
  /** The name of its key, by which rows are grouped as by a dimension. The key is one column then. */
  readonly entity?: string | undefined
  /** The dimension of kind time that metrics are told by. */
  readonly timeDimension?: string | undefined
  /** What clients of its cube find besides metrics. */
  readonly kpis?: readonly Kpi[] | undefined
  readonly sets?: readonly NamedSet[] | undefined
}

interface Listed {
  readonly name: string
  readonly label?: string | undefined
  readonly description?: string | undefined
  readonly folder?: string | undefined
}

export const kpiParts = ['value', 'goal', 'status', 'trend', 'weight'] as const
export type KpiPart = (typeof kpiParts)[number]

/** A key performance indicator of a cube. Each part is the name of a metric, or an MDX expression of metrics. */
export interface Kpi extends Listed {
  readonly value: string
  readonly goal?: string | undefined
  /** From -1, bad, to 1, good. */
  readonly status?: string | undefined
  /** From -1, falling, to 1, rising. */
  readonly trend?: string | undefined
  readonly weight?: string | undefined
  /** How clients draw it. */
  readonly graphics?:
    | { readonly status?: string | undefined; readonly trend?: string | undefined }
    | undefined
  /** The KPI below which clients list it. */
  readonly parent?: string | undefined
}

/** A set of members of a cube that statements name. */
export interface NamedSet extends Listed {
  /** MDX. */
  readonly expression: string
  /** Whether it is made within the slicer and the subselects of each statement. Default: of all rows that the reader sees. */
  readonly dynamic?: boolean | undefined
}

/** Sums over groups but not over this dimension, of which the first or last value counts. */
export interface SemiAdditivity {
  readonly dimension: string
  readonly take: 'first' | 'last'
  /** The value is taken apart for each of these dimensions, such as an account. */
  readonly over: readonly string[]
}

/** Turns the amounts of a metric's rows into one currency, by rates that a joined table holds. */
export interface CurrencyRates {
  /** The column of the metric's own table that holds the currency of each amount. */
  readonly column: BoundExpression
  /** ISO 4217, as `EUR`. */
  readonly to: string
  /** A dimension of a joined table, such as `fx__rate`: what one unit of the row's currency is in `to`. */
  readonly rate: string
}

export type MetricComputation =
  | {
      readonly kind: 'simple'
      readonly table: TableRef
      /** Every column is inside an aggregate. */
      readonly expression: BoundExpression
      /** Rows that count. */
      readonly filter?: BoundExpression | undefined
      readonly semiAdditive?: SemiAdditivity | undefined
      readonly currency?: CurrencyRates | undefined
    }
  | { readonly kind: 'ratio'; readonly numerator: string; readonly denominator: string }
  /** An expression over other metrics. */
  | { readonly kind: 'derived'; readonly expression: string; readonly metrics: readonly string[] }
  | {
      readonly kind: 'cumulative'
      /** A metric that is made of simple ones. */
      readonly metric: string
      /** The last so many grains, the one asked for included. */
      readonly window?: { readonly count: number; readonly grain: Grain } | undefined
      /** Since the beginning of this grain. */
      readonly toDate?: Grain | undefined
    }
  | {
      readonly kind: 'offset'
      /** A metric that is made of simple and cumulative ones. */
      readonly metric: string
      /** Its value so many grains before. */
      readonly offsetWindow?: { readonly count: number; readonly grain: Grain } | undefined
      /** Its value in the first period of this grain. */
      readonly offsetToGrain?: Grain | undefined
      /** Of a part that accumulates: as in `cumulative`. Only what plans a request sets it. */
      readonly accumulated?:
        | { readonly window?: { readonly count: number; readonly grain: Grain }; readonly toDate?: Grain }
        | undefined
    }
  | Conversion

/** The dimensions of joined tables that a metric reads in each row: by its filter, and by its rates. */
export function joinedDimensions(computation: MetricComputation | undefined): readonly string[] {
  if (computation?.kind !== 'simple') return []
  const { filter, currency } = computation
  return [...(filter?.dimensions ?? []), ...(currency === undefined ? [] : [currency.rate])]
}

/** How many rows of one metric lead to rows of another one. */
export interface Conversion {
  readonly kind: 'conversion'
  /** Simple metrics that count rows: of what may lead to something, and of what it leads to. */
  readonly base: string
  readonly conversion: string
  /** What rows of both belong to: a dimension or an entity of both tables. */
  readonly entity: string
  /** How long after the row of `base`; undefined: at any time after it. */
  readonly window?: { readonly count: number; readonly grain: Grain } | undefined
  /** Dimensions or entities that have the same value in both rows. */
  readonly constant?: readonly { readonly base: string; readonly conversion: string }[] | undefined
  /** - `rate`: the part of the rows of `base`. */
  readonly calculation: 'rate' | 'count'
}

/** What is computed from the rows of other periods than those that are asked for. */
export type OverPeriods = Extract<MetricComputation, { kind: 'cumulative' | 'offset' }>

/** Whether a computation is one over periods. */
export function isOverPeriods(computation: MetricComputation): computation is OverPeriods {
  return computation.kind === 'cumulative' || computation.kind === 'offset'
}

export interface MetricDefinition {
  readonly label?: string | undefined
  readonly description?: string | undefined
  /** The glossary term that it means. */
  readonly term?: string | undefined
  /** Set where another metric means the same term: by what this one differs. */
  readonly variant?: 'grain' | 'unit' | undefined
  readonly unit?: string | undefined
  readonly format?: string | undefined
  readonly owner?: string | undefined
  /** Where clients of cubes list it, as `Sales\\Margins`. */
  readonly folder?: string | undefined
  readonly defaultGrain?: Grain | undefined
  readonly computation: MetricComputation
}

export interface MetricVersion {
  readonly name: string
  readonly number: number
  readonly state: MetricState
  /** Hex SHA-256 of its computation; attestations are bound to it. */
  readonly sha256: string
  readonly definition: MetricDefinition
}

/** A dimension by which an attested metric may be asked for: by its values, or by its periods of a grain. */
export interface AttestedDimension {
  readonly name: string
  readonly grain?: Grain | undefined
}

/** A bound of an attestation: how many queries of a principal it lets through in a day. */
export interface QueryBudget {
  readonly attestation: string
  readonly perDay: number
}

/** What a steward declared harmless of a metric, and under which conditions. */
export interface Attestation {
  readonly id: string
  readonly metric: string
  /** Of the metric's version. */
  readonly sha256: string
  /** The tags that the metric no longer has. */
  readonly tags: readonly string[]
  /** The masks that are lifted inside the metric's aggregates; see {@link CoveredMask}. */
  readonly masks: readonly CoveredMask[]
  /** Groups of fewer values give NULL. */
  readonly minGroupSize: number
  /** A group with fewer different values of this column gives NULL as well. */
  readonly anonymity?: { readonly k: number; readonly fieldId: number } | undefined
  /**
   * By which the metric reads without masks. Undefined, as in older attestations: by the categorical dimensions of the
   * table itself that name no row.
   */
  readonly dimensions?: readonly AttestedDimension[] | undefined
  /** Of a cumulative metric: the definition of what it adds up at that time. */
  readonly of?: { readonly metric: string; readonly sha256: string } | undefined
  /** How many queries a principal may run by it on one day. */
  readonly queriesPerDay?: number | undefined
  readonly untilMs: number
}

/** A mask at the time of an attestation. Where the mask has changed since, it applies. */
export interface CoveredMask {
  readonly fieldId: number
  readonly policyId: string
  readonly action: string
  readonly expression?: string | undefined
}

/** One concept, in one definition. */
export interface GlossaryTerm {
  readonly name: string
  /** Rises by one with each change. */
  readonly number: number
  readonly definition: string
  readonly synonyms: readonly string[]
  readonly owner?: string | undefined
  /** The term of the wider concept. */
  readonly broader?: string | undefined
  readonly links: readonly string[]
}
