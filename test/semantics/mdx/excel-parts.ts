/** Names of the cube of cube-lake.ts as Excel writes them, the rows and counts that they stand for in SQL, and sources. */

export const region = '[orders].[region]'
export const paid = '[orders].[paid]'
export const initial = '[orders].[initial]'
export const calendar = '[orders].[day.Calendar]'
export const revenue = '[Measures].[revenue]'
export const orders = '[Measures].[orders]'
export const buyers = '[Measures].[buyers]'
export const cube = '[sales.orders]'
export const props = 'DIMENSION PROPERTIES PARENT_UNIQUE_NAME'
export const both = `${props},HIERARCHY_UNIQUE_NAME`
export const cell = 'CELL PROPERTIES VALUE, FORMAT_STRING, LANGUAGE, BACK_COLOR, FORE_COLOR, FONT_FLAGS'
export const year = `${calendar}.[Year].&[2024-01-01]`
export const quarter = `${calendar}.[Quarter].&[2024-01-01]`
export const level = (hierarchy: string) => `{DrilldownLevel({${hierarchy}.[All]},,,INCLUDE_CALC_MEMBERS)}`
export const older = (hierarchy: string) => `AddCalculatedMembers({DrilldownLevel({${hierarchy}.[All]})})`
export const twoLevels = `AddCalculatedMembers({DrilldownLevel({DrilldownLevel({${calendar}.[All]})},${calendar}.[Year])})`
export const top = (from: string, count = 2) =>
  `Generate(Hierarchize(${from}) AS [XL_Filter_Set_0], TopCount(Filter(Except(DrilldownLevel([XL_Filter_Set_0].Current AS [XL_Filter_HelperSet_0], , 0), [XL_Filter_HelperSet_0]), Not IsEmpty(${orders})), ${count}, ${orders}))`

export const kylin = (path: string) => `github.com/Kyligence/mdx-kylin semantic-mdx/mdx/src/test/${path}`
export const mondrian = (path: string) => `github.com/pentaho/mondrian mondrian/src/it/java/mondrian/${path}`
export const mallard = (path: string) => `github.com/felixyman/MallardCube ${path}`
export const webb = (page: string) => `ssas-info.com ${page} (Chris Webb)`

export const is2024 = "date_trunc('year', day::timestamp) = DATE '2024-01-01'"
export const isCoast = "region IN ('east', 'west')"
export const inQuarter = "date_trunc('quarter', day::timestamp) = DATE '2024-01-01'"
export const regions = 'count(DISTINCT region)'
export const paids = 'count(DISTINCT paid)'
export const years = "count(DISTINCT date_trunc('year', day::timestamp))"
export const quarters = "count(DISTINCT date_trunc('quarter', day::timestamp))"
export const months = "count(DISTINCT date_trunc('month', day::timestamp))"
export const quartersOf2024 = `count(DISTINCT date_trunc('quarter', day::timestamp)) FILTER (WHERE ${is2024})`
export const monthsOfQuarter = `count(DISTINCT date_trunc('month', day::timestamp)) FILTER (WHERE ${inQuarter})`
export const pairs = `count(DISTINCT (region, paid))`

export interface ExcelStatement {
  readonly source: string
  readonly text: string
  /** The rows that subselects leave, in SQL over `sales.orders`. */
  readonly within?: string
  /** Tuples of each axis, as aggregates in SQL over these rows. */
  readonly sizes: readonly string[]
  /** What the session defined before. */
  readonly session?: readonly string[]
}
