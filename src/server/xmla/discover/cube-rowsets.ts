/** The rowsets of a catalog's model: cubes, dimensions, hierarchies, levels and measure groups. */

import { createHash } from 'node:crypto'
import {
  type Cube,
  type CubeDimension,
  type Hierarchy,
  type Level,
  measuresLevelUniqueName,
  measuresName,
  measuresUniqueName,
} from '../../../semantics/cube/model.ts'
import { dbTypeOf } from './db-types.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

/** How many members there are is not told: counting them would be a query for each row. */
const cardinality = 1_000
const measuresType = 2
const timeType = 1
const otherType = 3

/** A GUID that is the same as long as the name is. */
export function guidOf(...names: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(names)).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

/**
 * A time of the schema that changes when the cube does for this reader, and only then. Clients compare it, so it is made
 * from the cube's version: another one lets them read all metadata again.
 */
export function updateTime({ version }: Cube): Date {
  return new Date(Date.UTC(2000, 0, 1) + Number.parseInt(version.slice(0, 7), 16) * 1_000)
}

async function cubeRow({ catalog, cubes, dataTimes }: DiscoverContext): Promise<readonly Row[]> {
  const dataTime = await dataTimes()
  return (await cubes()).map((cube) => ({
    CATALOG_NAME: catalog,
    CUBE_NAME: cube.name,
    CUBE_TYPE: 'CUBE',
    CUBE_GUID: guidOf(catalog, cube.name),
    CREATED_ON: updateTime(cube),
    LAST_SCHEMA_UPDATE: updateTime(cube),
    LAST_DATA_UPDATE: dataTime(cube),
    DESCRIPTION: cube.description,
    IS_DRILLTHROUGH_ENABLED: true,
    IS_LINKABLE: false,
    IS_WRITE_ENABLED: false,
    IS_SQL_ENABLED: false,
    CUBE_CAPTION: cube.caption,
    CUBE_SOURCE: 1,
    PREFERRED_QUERY_PATTERNS: 3,
  }))
}

/** Columns and restrictions that every rowset of a cube begins with. */
export const cubeColumns = 'CATALOG_NAME:s? SCHEMA_NAME:s? CUBE_NAME:s?'
export const cubeRestrictions = 'CATALOG_NAME:s SCHEMA_NAME:s CUBE_NAME:s'

/** A row for each thing in each cube, with the cube's names. */
export function inCubes<T>(
  things: (cube: Cube) => readonly T[],
  row: (thing: T, cube: Cube) => Row,
): (context: DiscoverContext) => Promise<readonly Row[]> {
  return async ({ catalog, cubes }) =>
    (await cubes()).flatMap((cube) =>
      things(cube).map((thing) => ({ CATALOG_NAME: catalog, CUBE_NAME: cube.name, ...row(thing, cube) })),
    )
}

/** The measures are a dimension, too. */
const measuresDimension: Pick<CubeDimension, 'name' | 'uniqueName' | 'caption' | 'ordinal'> = {
  ...{ name: measuresName, uniqueName: measuresUniqueName, caption: measuresName, ordinal: 0 },
}

const dimensionRows = inCubes(
  ({ dimensions }) => [{ ...measuresDimension, hierarchies: undefined }, ...dimensions],
  ({ name, uniqueName, caption, ordinal, hierarchies }, cube) => ({
    DIMENSION_NAME: name,
    DIMENSION_UNIQUE_NAME: uniqueName,
    DIMENSION_GUID: guidOf(cube.catalog, cube.name, uniqueName),
    DIMENSION_CAPTION: caption,
    DIMENSION_ORDINAL: ordinal,
    DIMENSION_TYPE: dimensionType({ hierarchies }),
    DIMENSION_CARDINALITY: hierarchies === undefined ? cube.measures.length : cardinality,
    DEFAULT_HIERARCHY: hierarchies?.[0]?.uniqueName ?? measuresUniqueName,
    DESCRIPTION: '',
    IS_VIRTUAL: false,
    IS_READWRITE: false,
    DIMENSION_UNIQUE_SETTINGS: 1,
    DIMENSION_MASTER_UNIQUE_NAME: name,
    DIMENSION_IS_VISIBLE: true,
  }),
)

function dimensionType({ hierarchies }: { readonly hierarchies: readonly Hierarchy[] | undefined }): number {
  return hierarchies === undefined ? measuresType : otherType
}

/** A hierarchy of dates is shown as time, so that clients offer filters by date. */
function hierarchyType(hierarchy: Hierarchy): number {
  return hierarchy.kind === 'calendar' ||
    hierarchy.levels.some((level) => level.kind === 'key' && level.key.type === 'date')
    ? timeType
    : otherType
}

interface PlacedHierarchy {
  readonly ordinal: number
  /** Undefined for the measures. */
  readonly hierarchy: Hierarchy | undefined
}

function hierarchiesOf({ dimensions }: Cube): readonly PlacedHierarchy[] {
  const all = [undefined, ...dimensions.flatMap(({ hierarchies }) => hierarchies)]
  return all.map((hierarchy, ordinal) => ({ hierarchy, ordinal }))
}

const hierarchyRows = inCubes(hierarchiesOf, ({ hierarchy, ordinal }, cube) => {
  const uniqueName = hierarchy?.uniqueName ?? measuresUniqueName
  const measure = cube.measures[0]?.uniqueName
  return {
    DIMENSION_UNIQUE_NAME: hierarchy?.dimension.uniqueName ?? measuresUniqueName,
    HIERARCHY_NAME: hierarchy?.name ?? measuresName,
    HIERARCHY_UNIQUE_NAME: uniqueName,
    HIERARCHY_GUID: guidOf(cube.catalog, cube.name, uniqueName, 'hierarchy'),
    HIERARCHY_CAPTION: hierarchy?.caption ?? measuresName,
    DIMENSION_TYPE: hierarchy === undefined ? measuresType : hierarchyType(hierarchy),
    HIERARCHY_CARDINALITY: hierarchy === undefined ? cube.measures.length : cardinality,
    DEFAULT_MEMBER: hierarchy?.allMember.uniqueName ?? measure,
    ALL_MEMBER: hierarchy?.allMember.uniqueName,
    DESCRIPTION: hierarchy?.description ?? '',
    STRUCTURE: 0,
    IS_VIRTUAL: false,
    IS_READWRITE: false,
    DIMENSION_UNIQUE_SETTINGS: 1,
    DIMENSION_MASTER_UNIQUE_NAME: hierarchy?.dimension.name ?? measuresName,
    DIMENSION_IS_VISIBLE: true,
    HIERARCHY_ORDINAL: ordinal,
    DIMENSION_IS_SHARED: true,
    HIERARCHY_IS_VISIBLE: true,
    HIERARCHY_ORIGIN: hierarchy === undefined || hierarchy.kind === 'attribute' ? 2 : 1,
    HIERARCHY_DISPLAY_FOLDER: hierarchy?.folder ?? '',
    INSTANCE_SELECTION: 0,
    GROUPING_BEHAVIOR: 1,
    STRUCTURE_TYPE: hierarchy?.kind === 'calendar' ? 'Natural' : 'Unknown',
  }
})

interface PlacedLevel {
  /** Undefined for the measures. */
  readonly hierarchy: Hierarchy | undefined
  readonly level: Level | undefined
}

function levelsOf({ dimensions }: Cube): readonly PlacedLevel[] {
  return [
    { hierarchy: undefined, level: undefined },
    ...dimensions.flatMap(({ hierarchies }) =>
      hierarchies.flatMap((hierarchy) => hierarchy.levels.map((level) => ({ hierarchy, level }))),
    ),
  ]
}

const regular = 0
const allType = 1
const levelTypes: Readonly<Record<string, number>> = { year: 20, quarter: 68, month: 132, day: 516 }

function levelType(level: Level | undefined): number {
  if (level?.kind === 'all') return allType
  if (level === undefined) return regular
  const { grain, type } = level.key
  return (grain && levelTypes[grain]) ?? (type === 'date' ? (levelTypes.day ?? regular) : regular)
}

const levelRows = inCubes(levelsOf, ({ hierarchy, level }, cube) => {
  const uniqueName = level?.uniqueName ?? measuresLevelUniqueName
  const isAll = level?.kind === 'all'
  return {
    DIMENSION_UNIQUE_NAME: hierarchy?.dimension.uniqueName ?? measuresUniqueName,
    HIERARCHY_UNIQUE_NAME: hierarchy?.uniqueName ?? measuresUniqueName,
    LEVEL_NAME: level?.name ?? 'MeasuresLevel',
    LEVEL_UNIQUE_NAME: uniqueName,
    LEVEL_GUID: guidOf(cube.catalog, cube.name, uniqueName, 'level'),
    LEVEL_CAPTION: level?.caption ?? 'MeasuresLevel',
    LEVEL_NUMBER: level?.number ?? 0,
    LEVEL_CARDINALITY: isAll ? 1 : level === undefined ? cube.measures.length : cardinality,
    LEVEL_TYPE: levelType(level),
    DESCRIPTION: '',
    CUSTOM_ROLLUP_SETTINGS: 0,
    LEVEL_UNIQUE_SETTINGS: 0,
    LEVEL_IS_VISIBLE: true,
    LEVEL_ORDERING_PROPERTY: level?.name ?? 'MeasuresLevel',
    LEVEL_DBTYPE: level?.kind === 'key' ? dbTypeOf(level.key.type) : 3,
    LEVEL_NAME_SQL_COLUMN_NAME: level === undefined ? undefined : `NAME(${uniqueName})`,
    LEVEL_KEY_SQL_COLUMN_NAME: level === undefined ? undefined : `KEY(${uniqueName})`,
    LEVEL_UNIQUE_NAME_SQL_COLUMN_NAME: level === undefined ? undefined : `UNIQUENAME(${uniqueName})`,
    LEVEL_ATTRIBUTE_HIERARCHY_NAME: isAll ? '' : (level?.name ?? measuresName),
    LEVEL_KEY_CARDINALITY: 1,
    LEVEL_ORIGIN: hierarchy?.kind === 'calendar' ? 1 : 2,
  }
})

/** All measures of a cube are over one table. */
export function groupOf({ table }: Cube): string {
  return table.name
}

const groupRows = inCubes(
  (cube) => [cube],
  (cube) => ({
    MEASUREGROUP_NAME: groupOf(cube),
    DESCRIPTION: '',
    IS_WRITE_ENABLED: false,
    MEASUREGROUP_CAPTION: groupOf(cube),
  }),
)

const groupDimensionRows = inCubes(
  ({ dimensions }) => dimensions,
  ({ uniqueName, hierarchies, table }, cube) => ({
    MEASUREGROUP_NAME: groupOf(cube),
    MEASUREGROUP_CARDINALITY: 'ONE',
    DIMENSION_UNIQUE_NAME: uniqueName,
    DIMENSION_CARDINALITY: 'MANY',
    DIMENSION_IS_VISIBLE: true,
    DIMENSION_IS_FACT_DIMENSION: table === cube.table,
    DIMENSION_PATH: [],
    DIMENSION_GRANULARITY: hierarchies[0]?.uniqueName,
  }),
)

const none = () => []

/** In alphabetical order of their names. */
export const cubeRowsets: readonly Rowset[] = [
  {
    name: 'MDSCHEMA_ACTIONS',
    guid: 'a07ccd08-8148-11d0-87bb-00c04fc33942',
    columns: columnsOf(
      `${cubeColumns} ACTION_NAME:s? ACTION_TYPE:i? COORDINATE:s? COORDINATE_TYPE:i? ACTION_CAPTION:s? DESCRIPTION:s? CONTENT:s? APPLICATION:s? INVOCATION:i?`,
    ),
    restrictions: restrictionsOf(
      `${cubeRestrictions} ACTION_NAME:s ACTION_TYPE:i COORDINATE:s COORDINATE_TYPE:i INVOCATION:i CUBE_SOURCE:us:visible`,
    ),
    rows: none,
  },
  {
    name: 'MDSCHEMA_CUBES',
    guid: 'c8b522d8-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf(
      `${cubeColumns} CUBE_TYPE:s? CUBE_GUID:g? CREATED_ON:t? LAST_SCHEMA_UPDATE:t? SCHEMA_UPDATED_BY:s? LAST_DATA_UPDATE:t? DATA_UPDATED_BY:s? DESCRIPTION:s? IS_DRILLTHROUGH_ENABLED:b? IS_LINKABLE:b? IS_WRITE_ENABLED:b? IS_SQL_ENABLED:b? CUBE_CAPTION:s? BASE_CUBE_NAME:s? CUBE_SOURCE:us? PREFERRED_QUERY_PATTERNS:us?`,
    ),
    restrictions: restrictionsOf(`${cubeRestrictions} BASE_CUBE_NAME:s CUBE_SOURCE:us:bits`),
    rows: cubeRow,
  },
  {
    name: 'MDSCHEMA_DIMENSIONS',
    guid: 'c8b522d9-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf(
      `${cubeColumns} DIMENSION_NAME:s? DIMENSION_UNIQUE_NAME:s? DIMENSION_GUID:g? DIMENSION_CAPTION:s? DIMENSION_ORDINAL:u? DIMENSION_TYPE:h? DIMENSION_CARDINALITY:u? DEFAULT_HIERARCHY:s? DESCRIPTION:s? IS_VIRTUAL:b? IS_READWRITE:b? DIMENSION_UNIQUE_SETTINGS:i? DIMENSION_MASTER_UNIQUE_NAME:s? DIMENSION_IS_VISIBLE:b?`,
    ),
    restrictions: restrictionsOf(
      `${cubeRestrictions} DIMENSION_NAME:s DIMENSION_UNIQUE_NAME:s CUBE_SOURCE:us:visible DIMENSION_VISIBILITY:us:visible`,
    ),
    rows: dimensionRows,
  },
  {
    name: 'MDSCHEMA_HIERARCHIES',
    guid: 'c8b522da-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf(
      `${cubeColumns} DIMENSION_UNIQUE_NAME:s? HIERARCHY_NAME:s? HIERARCHY_UNIQUE_NAME:s? HIERARCHY_GUID:g? HIERARCHY_CAPTION:s? DIMENSION_TYPE:h? HIERARCHY_CARDINALITY:u? DEFAULT_MEMBER:s? ALL_MEMBER:s? DESCRIPTION:s? STRUCTURE:h? IS_VIRTUAL:b? IS_READWRITE:b? DIMENSION_UNIQUE_SETTINGS:i? DIMENSION_MASTER_UNIQUE_NAME:s? DIMENSION_IS_VISIBLE:b? HIERARCHY_ORDINAL:u? DIMENSION_IS_SHARED:b? HIERARCHY_IS_VISIBLE:b? HIERARCHY_ORIGIN:us? HIERARCHY_DISPLAY_FOLDER:s? INSTANCE_SELECTION:us? GROUPING_BEHAVIOR:h? STRUCTURE_TYPE:s?`,
    ),
    restrictions: restrictionsOf(
      `${cubeRestrictions} DIMENSION_UNIQUE_NAME:s HIERARCHY_NAME:s HIERARCHY_UNIQUE_NAME:s HIERARCHY_ORIGIN:us:bits CUBE_SOURCE:us:visible HIERARCHY_VISIBILITY:us:visible`,
    ),
    rows: hierarchyRows,
  },
  {
    name: 'MDSCHEMA_LEVELS',
    guid: 'c8b522db-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf(
      `${cubeColumns} DIMENSION_UNIQUE_NAME:s? HIERARCHY_UNIQUE_NAME:s? LEVEL_NAME:s? LEVEL_UNIQUE_NAME:s? LEVEL_GUID:g? LEVEL_CAPTION:s? LEVEL_NUMBER:u? LEVEL_CARDINALITY:u? LEVEL_TYPE:i? DESCRIPTION:s? CUSTOM_ROLLUP_SETTINGS:i? LEVEL_UNIQUE_SETTINGS:i? LEVEL_IS_VISIBLE:b? LEVEL_ORDERING_PROPERTY:s? LEVEL_DBTYPE:i? LEVEL_MASTER_UNIQUE_NAME:s? LEVEL_NAME_SQL_COLUMN_NAME:s? LEVEL_KEY_SQL_COLUMN_NAME:s? LEVEL_UNIQUE_NAME_SQL_COLUMN_NAME:s? LEVEL_ATTRIBUTE_HIERARCHY_NAME:s? LEVEL_KEY_CARDINALITY:us? LEVEL_ORIGIN:us?`,
    ),
    restrictions: restrictionsOf(
      `${cubeRestrictions} DIMENSION_UNIQUE_NAME:s HIERARCHY_UNIQUE_NAME:s LEVEL_NAME:s LEVEL_UNIQUE_NAME:s LEVEL_ORIGIN:us:bits CUBE_SOURCE:us:visible LEVEL_VISIBILITY:us:visible`,
    ),
    rows: levelRows,
  },
  {
    name: 'MDSCHEMA_MEASUREGROUPS',
    guid: 'e1625ebf-fa96-42fd-bea6-db90adafd96b',
    columns: columnsOf(
      `${cubeColumns} MEASUREGROUP_NAME:s? DESCRIPTION:s? IS_WRITE_ENABLED:b? MEASUREGROUP_CAPTION:s?`,
    ),
    restrictions: restrictionsOf(`${cubeRestrictions} MEASUREGROUP_NAME:s`),
    rows: groupRows,
  },
  {
    name: 'MDSCHEMA_MEASUREGROUP_DIMENSIONS',
    guid: 'a07ccd33-8148-11d0-87bb-00c04fc33942',
    columns: [
      ...columnsOf(
        `${cubeColumns} MEASUREGROUP_NAME:s? MEASUREGROUP_CARDINALITY:s? DIMENSION_UNIQUE_NAME:s? DIMENSION_CARDINALITY:s? DIMENSION_IS_VISIBLE:b? DIMENSION_IS_FACT_DIMENSION:b?`,
      ),
      {
        ...{ name: 'DIMENSION_PATH', type: 'string', optional: true },
        nested: columnsOf('MeasureGroupDimension:s?'),
      },
      ...columnsOf('DIMENSION_GRANULARITY:s?'),
    ],
    restrictions: restrictionsOf(
      `${cubeRestrictions} MEASUREGROUP_NAME:s DIMENSION_UNIQUE_NAME:s DIMENSION_VISIBILITY:us:visible`,
    ),
    rows: groupDimensionRows,
  },
]
