/** MDSCHEMA_PROPERTIES: the properties of cells, and those that every member has. */

import type { Cube, Hierarchy, Level } from '../../../semantics/cube/model.ts'
import { dbTypeOf } from './db-types.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

const cellProperties: readonly (readonly [name: string, type: number])[] = [
  ['VALUE', 12],
  ['FORMATTED_VALUE', 130],
  ['CELL_ORDINAL', 19],
  ['FORMAT_STRING', 130],
  ['LANGUAGE', 19],
  ['BACK_COLOR', 19],
  ['FORE_COLOR', 19],
  ['FONT_FLAGS', 3],
]

const text = 130
const count = 19

/** Properties that the service knows of every member, by what MDX calls them. */
const memberProperties: readonly (readonly [name: string, type: number])[] = [
  ['CATALOG_NAME', text],
  ['CHILDREN_CARDINALITY', count],
  ['CUBE_NAME', text],
  ['DIMENSION_UNIQUE_NAME', text],
  ['HIERARCHY_UNIQUE_NAME', text],
  ['IS_DATAMEMBER', 11],
  ['KEY0', text],
  ['LCID', 3],
  ['LEVEL_NUMBER', count],
  ['LEVEL_UNIQUE_NAME', text],
  ['MEMBER_CAPTION', text],
  ['MEMBER_KEY', text],
  ['MEMBER_NAME', text],
  ['MEMBER_TYPE', 3],
  ['MEMBER_UNIQUE_NAME', text],
  ['MEMBER_VALUE', text],
  ['PARENT_COUNT', count],
  ['PARENT_LEVEL', count],
  ['PARENT_UNIQUE_NAME', text],
]

const cell = 2
/** Of a member, and known to the service itself. */
const system = 5

async function rows({ catalog, cubes }: DiscoverContext): Promise<readonly Row[]> {
  return [
    ...cellProperties.map(([name, type]) => ({
      CATALOG_NAME: catalog,
      ...aboutProperty(name, type, cell),
    })),
    ...(await cubes()).flatMap((cube) =>
      cube.dimensions.flatMap(({ hierarchies }) =>
        hierarchies.flatMap((hierarchy) =>
          hierarchy.levels.flatMap((level) => levelRows(cube, hierarchy, level)),
        ),
      ),
    ),
  ]
}

function levelRows(cube: Cube, { dimension, uniqueName }: Hierarchy, level: Level): readonly Row[] {
  return memberProperties.map(([name, type]) => ({
    CATALOG_NAME: cube.catalog,
    CUBE_NAME: cube.name,
    DIMENSION_UNIQUE_NAME: dimension.uniqueName,
    HIERARCHY_UNIQUE_NAME: uniqueName,
    LEVEL_UNIQUE_NAME: level.uniqueName,
    // Clients offer filters by date where a value is one.
    ...aboutProperty(name, name === 'MEMBER_VALUE' ? valueType(level, type) : type, system),
  }))
}

function valueType(level: Level, otherwise: number): number {
  return level.kind === 'key' ? dbTypeOf(level.key.type) : otherwise
}

function aboutProperty(name: string, type: number, kind: number): Row {
  return {
    PROPERTY_TYPE: kind,
    PROPERTY_NAME: name,
    PROPERTY_CAPTION: name,
    DATA_TYPE: type,
    ...(type === text && { CHARACTER_MAXIMUM_LENGTH: 0, CHARACTER_OCTET_LENGTH: 0 }),
    PROPERTY_CONTENT_TYPE: 0,
    PROPERTY_ORIGIN: 1,
    PROPERTY_CARDINALITY: 'MANY',
    PROPERTY_IS_VISIBLE: true,
  }
}

export const memberPropertiesRowset: Rowset = {
  name: 'MDSCHEMA_PROPERTIES',
  guid: 'c8b522dd-5cf3-11ce-ade5-00aa0044773d',
  columns: columnsOf(
    'CATALOG_NAME:s? SCHEMA_NAME:s? CUBE_NAME:s? DIMENSION_UNIQUE_NAME:s? HIERARCHY_UNIQUE_NAME:s? LEVEL_UNIQUE_NAME:s? MEMBER_UNIQUE_NAME:s? PROPERTY_TYPE:h? PROPERTY_NAME:s? PROPERTY_CAPTION:s? DATA_TYPE:us? CHARACTER_MAXIMUM_LENGTH:u? CHARACTER_OCTET_LENGTH:u? NUMERIC_PRECISION:us? NUMERIC_SCALE:h? DESCRIPTION:s? PROPERTY_CONTENT_TYPE:h? SQL_COLUMN_NAME:s? LANGUAGE:us? PROPERTY_ORIGIN:us? PROPERTY_ATTRIBUTE_HIERARCHY_NAME:s? PROPERTY_CARDINALITY:s? MIME_TYPE:s? PROPERTY_IS_VISIBLE:b?',
  ),
  restrictions: restrictionsOf(
    'CATALOG_NAME:s SCHEMA_NAME:s CUBE_NAME:s DIMENSION_UNIQUE_NAME:s HIERARCHY_UNIQUE_NAME:s LEVEL_UNIQUE_NAME:s MEMBER_UNIQUE_NAME:s PROPERTY_NAME:s PROPERTY_TYPE:h PROPERTY_CONTENT_TYPE:h PROPERTY_ORIGIN:us:bits CUBE_SOURCE:us:visible PROPERTY_VISIBILITY:us:visible',
  ),
  rows,
}
