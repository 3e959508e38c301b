/**
 * The cubes of a catalog as one principal sees them: a cube for each table with a model and metrics, its measures, and
 * the hierarchies by which they can be broken down. Readonly data, without members: those are rows, which the read path
 * filters and masks. build-cubes.ts makes it, Discover shows it, and MDX is resolved against it.
 */

import type { Grain, KpiPart } from '../../core/metric.ts'
import type { SqlType } from '../../core/sql-type.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { MdxFormula } from '../../wire/mdx/ast.ts'

export interface Cube {
  /** Nickname of the catalog credential. */
  readonly catalog: string
  /** The table's name with its namespace, joined by dots. */
  readonly name: string
  readonly caption: string
  readonly description: string
  readonly table: TableRef
  /** What a statement names: `"schema"."name"`, with a column for each level and `MEASURE(…)` for each measure. */
  readonly relation: { readonly schema: string; readonly name: string }
  /** Hex SHA-256 of what is shown and of the contract's version: clients take another one for a changed cube. */
  readonly version: string
  /** Id of the snapshot to which the table is pinned. */
  readonly pinned?: bigint
  /** Columns of the relation that tell rows of the table apart; none where its key is not declared. */
  readonly rowKeys: readonly string[]
  /** Without `[Measures]`. */
  readonly dimensions: readonly CubeDimension[]
  /** At least one; the first is the default member of `[Measures]`. */
  readonly measures: readonly Measure[]
  readonly kpis: readonly CubeKpi[]
  readonly sets: readonly CubeSet[]
  /** What every statement may name: the sets, and the parts of KPIs that are expressions. */
  readonly formulas: readonly MdxFormula[]
}

interface ListedCalculation {
  readonly name: string
  readonly caption: string
  readonly description: string
  readonly folder: string
}

export interface CubeKpi extends ListedCalculation {
  /** Unique names of measures; of one that is an expression, of a member that is not listed. */
  readonly parts: { readonly value: string } & { readonly [Part in KpiPart]?: string | undefined }
  readonly statusGraphic: string
  readonly trendGraphic: string
  /** The KPI below which it is listed; empty for none. */
  readonly parent: string
}

export interface CubeSet extends ListedCalculation {
  readonly formula: MdxFormula
}

/** The hierarchies over one table: the cube's own, or one to which a relationship leads. */
export interface CubeDimension {
  readonly name: string
  /** `[name]`. */
  readonly uniqueName: string
  readonly caption: string
  /** `[Measures]` is 0. */
  readonly ordinal: number
  readonly table: TableRef
  /** At least one; the first is the default hierarchy. */
  readonly hierarchies: readonly Hierarchy[]
}

export interface Hierarchy {
  readonly name: string
  /** `[dimension].[name]`. */
  readonly uniqueName: string
  readonly dimension: { readonly name: string; readonly uniqueName: string }
  readonly caption: string
  readonly description: string
  readonly folder: string
  /** Within its dimension. */
  readonly ordinal: number
  /** - `attribute`: `(All)` and the values of one column. - `calendar`: `(All)`, years, quarters, months and days. */
  readonly kind: 'attribute' | 'calendar'
  /** The default member; nothing else has this name. */
  readonly allMember: { readonly uniqueName: string; readonly caption: string }
  /** Outermost first; the first is always `(All)`. */
  readonly levels: readonly [AllLevel, ...KeyLevel[]]
}

interface LevelNames {
  readonly name: string
  /** `[dimension].[hierarchy].[name]`. */
  readonly uniqueName: string
  readonly caption: string
  /** `(All)` is 0. */
  readonly number: number
}

interface AllLevel extends LevelNames {
  readonly kind: 'all'
}

/** A level whose members are the different values of a key. */
export interface KeyLevel extends LevelNames {
  readonly kind: 'key'
  readonly key: LevelKey
}

export type Level = AllLevel | KeyLevel

/** From what the members of a level are computed. One value is one member: a day's key holds its month and year. */
export interface LevelKey {
  /** A column of the cube's relation. */
  readonly column: string
  /** Set where the column holds times: the key is the first day of its period, or the hour. */
  readonly grain?: Grain
  /** Of the key: `date` for a grain of a day or more. */
  readonly type: SqlType
}

export interface Measure {
  /** Of the metric, as in `MEASURE(name)`. */
  readonly name: string
  /** `[Measures].[name]`. */
  readonly uniqueName: string
  readonly caption: string
  readonly description: string
  readonly type: SqlType
  /** Such as `#,##0.00`; empty where the metric declares none. */
  readonly format: string
  readonly unit: string
  readonly folder: string
  /** Whether the sum over groups is the whole's value. Clients add up themselves where it is. */
  readonly isSum: boolean
}

export const measuresName = 'Measures'
export const measuresUniqueName = '[Measures]'
export const measuresLevelUniqueName = '[Measures].[MeasuresLevel]'
export const allLevelName = '(All)'
export const allMemberName = 'All'
