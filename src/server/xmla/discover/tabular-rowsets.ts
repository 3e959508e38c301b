/** The rowsets of the tabular face of all cubes: tables, columns, measures, hierarchies, and what depends on what. */

import type { Cube } from '../../../semantics/cube/model.ts'
import { type TabularKpi, tabularKpis } from '../../../semantics/dax/kpis.ts'
import { type TabularModel, tabularOf } from '../../../semantics/dax/tabular.ts'
import { type DaxType, daxTypeOf } from '../../../semantics/dax/values.ts'
import { guidOf, updateTime } from './cube-rowsets.ts'
import { dbTypeOf } from './db-types.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

type Table = TabularModel['tables'][number]
type Column = Table['columns'][number]
type Measure = Table['measures'][number]
type Hierarchy = Table['hierarchies'][number]

/** Things with the numbers by which rowsets refer to each other. They hold within one answer. */
interface Numbered {
  readonly models: readonly { readonly id: number; readonly cube: Cube }[]
  readonly tables: readonly {
    readonly id: number
    readonly model: number
    readonly cube: Cube
    readonly table: Table
  }[]
  readonly columns: readonly {
    readonly id: number
    readonly table: number
    readonly cube: Cube
    readonly column: Column
  }[]
  readonly measures: readonly {
    readonly id: number
    readonly table: number
    readonly cube: Cube
    readonly measure: Measure
  }[]
  readonly hierarchies: readonly {
    readonly id: number
    readonly table: number
    readonly cube: Cube
    readonly hierarchy: Hierarchy
  }[]
  readonly kpis: readonly { readonly id: number; readonly cube: Cube; readonly kpi: TabularKpi }[]
}

function numbered(cubes: readonly Cube[]): Numbered {
  let last = 0
  const next = () => ++last
  const models = cubes.map((cube) => ({ id: next(), cube }))
  const tables = models.flatMap(({ id: model, cube }) =>
    tabularOf(cube).tables.map((table) => ({ id: next(), model, cube, table })),
  )
  const inTables = <T>(of: (table: Table) => readonly T[]) =>
    tables.flatMap(({ id: table, cube, table: own }) => of(own).map((thing) => ({ table, cube, thing })))
  return {
    ...{ models, tables },
    columns: inTables(({ columns }) => columns).map(({ thing: column, ...each }) => ({
      id: next(),
      ...each,
      column,
    })),
    measures: inTables(({ measures }) => measures).map(({ thing: measure, ...each }) => ({
      id: next(),
      ...each,
      measure,
    })),
    hierarchies: inTables(({ hierarchies }) => hierarchies).map(({ thing: hierarchy, ...each }) => ({
      id: next(),
      ...each,
      hierarchy,
    })),
    kpis: cubes.flatMap((cube) => tabularKpis(cube).map((kpi) => ({ id: next(), cube, kpi }))),
  }
}

/** The numbers of [MS-SSAS-T] for types. */
const dataTypes: Readonly<Record<DaxType, number>> = {
  ...{ text: 2, integer: 6, number: 8, date: 9, boolean: 11, variant: 2 },
}
const none = 1
const ready = 1
const byDefault = 1

/** A rowset of [MS-SSAS-T]. Every column restricts. */
function schemaRowset(name: string, columns: string, rows: (things: Numbered) => readonly Row[]): Rowset {
  return {
    ...{ name: `TMSCHEMA_${name}`, guid: guidOf('rowset', name), columns: columnsOf(columns) },
    restrictions: restrictionsOf(columns.replaceAll('?', '')),
    rows: async ({ cubes }: DiscoverContext) => rows(numbered(await cubes())),
  }
}

/** A measure as an expression of DAX. */
const referenceTo = (measure: Measure | undefined) =>
  measure === undefined ? undefined : `[${measure.name.replaceAll(']', ']]')}]`

const times = (cube: Cube) => ({ ModifiedTime: updateTime(cube), StructureModifiedTime: updateTime(cube) })

const schemaRowsets: readonly Rowset[] = [
  schemaRowset(
    'COLUMNS',
    'ID:l TableID:l ExplicitName:s? InferredName:s? ExplicitDataType:l InferredDataType:l DataCategory:s? Description:s? IsHidden:b State:l IsUnique:b IsKey:b IsNullable:b SummarizeBy:l Type:l SourceColumn:s? FormatString:s? IsAvailableInMDX:b ModifiedTime:t StructureModifiedTime:t DisplayOrdinal:l DisplayFolder:s?',
    ({ columns }) =>
      columns.map(({ id, table, cube, column }, ordinal) => ({
        ...{ ID: id, TableID: table, ExplicitName: column.name, SourceColumn: column.name },
        ...{ ExplicitDataType: dataTypes[column.type], InferredDataType: dataTypes[column.type] },
        ...{ Description: column.description, IsHidden: false, State: ready, IsUnique: false, IsKey: false },
        ...{ IsNullable: true, SummarizeBy: none, Type: byDefault, IsAvailableInMDX: true },
        ...{ ...times(cube), DisplayOrdinal: ordinal, DisplayFolder: column.folder },
      })),
  ),
  schemaRowset(
    'HIERARCHIES',
    'ID:l TableID:l Name:s Description:s? IsHidden:b State:l ModifiedTime:t StructureModifiedTime:t DisplayFolder:s?',
    ({ hierarchies }) =>
      hierarchies.map(({ id, table, cube, hierarchy }) => ({
        ...{ ID: id, TableID: table, Name: hierarchy.name, IsHidden: false, State: ready, ...times(cube) },
        DisplayFolder: hierarchy.folder,
      })),
  ),
  schemaRowset(
    'KPIS',
    'ID:l MeasureID:l Description:s? TargetDescription:s? TargetExpression:s? TargetFormatString:s? StatusGraphic:s? StatusDescription:s? StatusExpression:s? TrendGraphic:s? TrendDescription:s? TrendExpression:s? ModifiedTime:t',
    ({ kpis, measures }) =>
      kpis.map(({ id, cube, kpi: { kpi, measure, parts } }) => ({
        ID: id,
        MeasureID: measures.find((each) => each.cube === cube && each.measure === measure)?.id ?? 0,
        ...{ Description: [kpi.caption, kpi.description].filter((each) => each !== '').join(': ') },
        ...{ TargetExpression: referenceTo(parts.goal), TargetFormatString: parts.goal?.format },
        ...{ StatusGraphic: kpi.statusGraphic, StatusExpression: referenceTo(parts.status) },
        ...{ TrendGraphic: kpi.trendGraphic, TrendExpression: referenceTo(parts.trend) },
        ModifiedTime: updateTime(cube),
      })),
  ),
  schemaRowset(
    'LEVELS',
    'ID:l HierarchyID:l Ordinal:l Name:s Description:s? ColumnID:l ModifiedTime:t',
    ({ hierarchies, columns }) =>
      hierarchies.flatMap(({ id, cube, hierarchy }) =>
        hierarchy.levels.map((level, ordinal) => ({
          ...{ ID: id * 100 + ordinal, HierarchyID: id, Ordinal: ordinal, Name: level.name },
          ColumnID:
            columns.find((each) => each.cube === cube && isColumn(each.column, level.column))?.id ?? 0,
          ModifiedTime: updateTime(cube),
        })),
      ),
  ),
  schemaRowset(
    'MEASURES',
    'ID:l TableID:l Name:s Description:s? DataType:l Expression:s? FormatString:s? IsHidden:b State:l ModifiedTime:t StructureModifiedTime:t KPIID:l? IsSimpleMeasure:b DisplayFolder:s?',
    ({ measures, kpis }) =>
      measures.map(({ id, table, cube, measure }) => ({
        ...{ ID: id, TableID: table, Name: measure.name, Description: measure.description },
        ...{ DataType: dataTypes[daxTypeOf(measure.type)], FormatString: measure.format },
        ...{ IsHidden: false, State: ready, ...times(cube), IsSimpleMeasure: false },
        KPIID: kpis.find((each) => each.cube === cube && each.kpi.measure === measure)?.id,
        DisplayFolder: measure.folder,
      })),
  ),
  schemaRowset(
    'MODEL',
    'ID:l Name:s Description:s? DefaultMode:l DefaultDataView:l Culture:s Collation:s? ModifiedTime:t StructureModifiedTime:t Version:l',
    ({ models }) =>
      models.map(({ id, cube }) => ({
        ...{ ID: id, Name: cube.name, Description: cube.description, DefaultMode: 0, DefaultDataView: 0 },
        ...{ Culture: 'en-US', ...times(cube), Version: 1 },
      })),
  ),
  schemaRowset(
    'RELATIONSHIPS',
    'ID:l ModelID:l Name:s IsActive:b Type:l CrossFilteringBehavior:l FromTableID:l FromColumnID:l FromCardinality:l ToTableID:l ToColumnID:l ToCardinality:l State:l ModifiedTime:t',
    // Relationships join by keys, which are no columns of the model.
    () => [],
  ),
  schemaRowset(
    'TABLES',
    'ID:l ModelID:l Name:s DataCategory:s? Description:s? IsHidden:b ModifiedTime:t StructureModifiedTime:t SystemFlags:l ShowAsVariationsOnly:b IsPrivate:b',
    ({ tables }) =>
      tables.map(({ id, model, cube, table }) => ({
        ...{ ID: id, ModelID: model, Name: table.name, IsHidden: false, ...times(cube) },
        ...{ SystemFlags: 0, ShowAsVariationsOnly: false, IsPrivate: false },
      })),
  ),
]

const isColumn = (one: Column, other: Column) => one.table === other.table && one.name === other.name

const columnRowset: Rowset = {
  name: 'DBSCHEMA_COLUMNS',
  guid: 'c8b52214-5cf3-11ce-ade5-00aa0044773d',
  columns: columnsOf(
    'TABLE_CATALOG:s? TABLE_SCHEMA:s? TABLE_NAME:s? COLUMN_NAME:s? COLUMN_GUID:g? COLUMN_PROPID:u? ORDINAL_POSITION:u? COLUMN_HAS_DEFAULT:b? COLUMN_DEFAULT:s? COLUMN_FLAGS:u? IS_NULLABLE:b? DATA_TYPE:us? TYPE_GUID:g? CHARACTER_MAXIMUM_LENGTH:u? CHARACTER_OCTET_LENGTH:u? NUMERIC_PRECISION:us? NUMERIC_SCALE:h? DATETIME_PRECISION:u? CHARACTER_SET_CATALOG:s? CHARACTER_SET_SCHEMA:s? CHARACTER_SET_NAME:s? COLLATION_CATALOG:s? COLLATION_SCHEMA:s? COLLATION_NAME:s? DOMAIN_CATALOG:s? DOMAIN_SCHEMA:s? DOMAIN_NAME:s? DESCRIPTION:s? COLUMN_OLAP_TYPE:s?',
  ),
  restrictions: restrictionsOf(
    'TABLE_CATALOG:s TABLE_SCHEMA:s TABLE_NAME:s COLUMN_NAME:s COLUMN_OLAP_TYPE:s',
  ),
  rows: async ({ catalog, cubes }) =>
    (await cubes()).flatMap((cube) => {
      const tables = tabularOf(cube).tables
      const columns = tables.flatMap((table) => [
        ...table.columns.map(({ name, key, description }) => ({
          name,
          type: key.type,
          description,
          olap: 'ATTRIBUTE',
        })),
        ...table.measures.map(({ name, type, description }) => ({
          name,
          type,
          description,
          olap: 'MEASURE',
        })),
      ])
      return columns.map(({ name, type, description, olap }, place) => ({
        ...{ TABLE_CATALOG: catalog, TABLE_NAME: cube.name, COLUMN_NAME: name, ORDINAL_POSITION: place + 1 },
        ...{ COLUMN_HAS_DEFAULT: false, IS_NULLABLE: true, DATA_TYPE: dbTypeOf(type) },
        ...{ DESCRIPTION: description, COLUMN_OLAP_TYPE: olap },
      }))
    }),
}

/** Definitions of metrics are not shown here, so a measure depends on its table. */
const dependencyRowset: Rowset = {
  name: 'DISCOVER_CALC_DEPENDENCY',
  guid: 'a07ccd46-8148-11d0-87bb-00c04fc33942',
  columns: columnsOf(
    'DATABASE_NAME:s? OBJECT_TYPE:s? TABLE:s? OBJECT:s? EXPRESSION:s? REFERENCED_OBJECT_TYPE:s? REFERENCED_TABLE:s? REFERENCED_OBJECT:s? REFERENCED_EXPRESSION:s? QUERY:s?',
  ),
  restrictions: restrictionsOf(
    'DATABASE_NAME:s OBJECT_TYPE:s TABLE:s OBJECT:s REFERENCED_OBJECT_TYPE:s REFERENCED_TABLE:s REFERENCED_OBJECT:s QUERY:s:own',
  ),
  rows: async ({ catalog, cubes }) => {
    const { tables, measures } = numbered(await cubes())
    return measures.flatMap(({ table, measure }) => {
      const found = tables.find(({ id }) => id === table)?.table.name
      return {
        ...{ DATABASE_NAME: catalog, OBJECT_TYPE: 'MEASURE', TABLE: found, OBJECT: measure.name },
        ...{ REFERENCED_OBJECT_TYPE: 'TABLE', REFERENCED_TABLE: found, REFERENCED_OBJECT: found },
      }
    })
  },
}

/** All of them. */
export const tabularRowsets: readonly Rowset[] = [columnRowset, dependencyRowset, ...schemaRowsets]
