/** The rowsets about the server and its catalog: data sources, literals, enumerators, keywords, catalogs, tables. */

import { guidOf, updateTime } from './cube-rowsets.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

const literals: readonly (readonly [
  name: string,
  value: string,
  invalid: string,
  start: string,
  length: number,
  number: number,
])[] = [
  ['DBLITERAL_CATALOG_NAME', '', '.', '0123456789', 128, 2],
  ['DBLITERAL_CATALOG_SEPARATOR', '.', '', '', 0, 3],
  ['DBLITERAL_COLUMN_ALIAS', '', `'"[]`, '0123456789', -1, 5],
  ['DBLITERAL_COLUMN_NAME', '', '.', '0123456789', -1, 6],
  ['DBLITERAL_CORRELATION_NAME', '', `'"[]`, '0123456789', -1, 7],
  ['DBLITERAL_CUBE_NAME', '', '.', '0123456789', -1, 21],
  ['DBLITERAL_DIMENSION_NAME', '', '.', '0123456789', -1, 22],
  ['DBLITERAL_HIERARCHY_NAME', '', '.', '0123456789', -1, 23],
  ['DBLITERAL_LEVEL_NAME', '', '.', '0123456789', -1, 24],
  ['DBLITERAL_MEMBER_NAME', '', '.', '0123456789', -1, 25],
  ['DBLITERAL_PROCEDURE_NAME', '', '.', '0123456789', -1, 14],
  ['DBLITERAL_PROPERTY_NAME', '', '.', '0123456789', -1, 26],
  ['DBLITERAL_QUOTE_PREFIX', '[', '', '', -1, 15],
  ['DBLITERAL_QUOTE_SUFFIX', ']', '', '', -1, 28],
  ['DBLITERAL_TABLE_NAME', '', '.', '0123456789', -1, 17],
  ['DBLITERAL_TEXT_COMMAND', '', '', '', -1, 18],
  ['DBLITERAL_USER_NAME', '', '', '', 0, 19],
]

/** Name, type and elements with their numbers. */
const enumerators: readonly (readonly [string, string, readonly (readonly [string, string])[]])[] = [
  [
    'ProviderType',
    'string',
    [
      ['TDP', '0'],
      ['MDP', '1'],
      ['DMP', '2'],
    ],
  ],
  [
    'AuthenticationMode',
    'string',
    [
      ['Unauthenticated', '0'],
      ['Authenticated', '1'],
      ['Integrated', '2'],
    ],
  ],
  [
    'PropertyAccessType',
    'string',
    [
      ['Read', '1'],
      ['Write', '2'],
      ['ReadWrite', '3'],
    ],
  ],
  [
    'StateSupport',
    'string',
    [
      ['None', '0'],
      ['Sessions', '1'],
    ],
  ],
  [
    'ResultsetFormat',
    'string',
    [
      ['Rowset', '0'],
      ['Multidimensional', '1'],
      ['Tabular', '2'],
      ['Native', '3'],
    ],
  ],
  [
    'ResultsetAxisFormat',
    'string',
    [
      ['TupleFormat', '0'],
      ['ClusterFormat', '1'],
      ['CustomFormat', '2'],
    ],
  ],
  [
    'ResultsetContents',
    'string',
    [
      ['None', '0'],
      ['Schema', '1'],
      ['Data', '2'],
      ['SchemaData', '3'],
    ],
  ],
  [
    'TreeOp',
    'int',
    [
      ['MDTREEOP_CHILDREN', '1'],
      ['MDTREEOP_SIBLINGS', '2'],
      ['MDTREEOP_PARENT', '4'],
      ['MDTREEOP_SELF', '8'],
      ['MDTREEOP_DESCENDANTS', '16'],
      ['MDTREEOP_ANCESTORS', '32'],
    ],
  ],
]

const keywords =
  'ADDCALCULATEDMEMBERS AGGREGATE ALLMEMBERS ANCESTOR AND AS ASCENDANTS AXIS BASC BDESC BOTTOMCOUNT BY CALCULATION CASE CELL CHAPTERS CHILDREN COLUMNS COUNT CREATE CROSSJOIN CUBE CURRENTMEMBER DEFAULTMEMBER DESC DESCENDANTS DESCRIPTION DIMENSION DISTINCT DRILLDOWNLEVEL DRILLDOWNMEMBER DRILLTHROUGH DRILLUPLEVEL DRILLUPMEMBER DROP ELSE EMPTY END EXCEPT FILTER FIRSTCHILD FROM GENERATE HIERARCHIZE HIERARCHY IIF INCLUDE_CALC_MEMBERS INTERSECT IS ISEMPTY LASTCHILD LEVEL LEVELS MAXROWS MEASURE MEMBER MEMBERS NEXTMEMBER NON NONEMPTY NOT NULL ON OR ORDER PAGES PARENT PARALLELPERIOD PREVMEMBER PROPERTIES REFRESH RETURN ROWS SECTIONS SELECT SESSION SET STRTOMEMBER STRTOSET THEN TOPCOUNT TOPPERCENT TOPSUM UNION VISUALTOTALS WHEN WHERE WITH XOR YTD'.split(
    ' ',
  )

function datasourceRows({ catalog }: DiscoverContext): readonly Row[] {
  return [
    {
      DataSourceName: 'Covenant',
      DataSourceDescription: 'Governed metrics',
      URL: `/xmla/${encodeURIComponent(catalog)}`,
      DataSourceInfo: '',
      ProviderName: 'Covenant',
      ProviderType: 'MDP',
      AuthenticationMode: 'Authenticated',
    },
  ]
}

async function catalogRows({ catalog, cubes, dataTimes }: DiscoverContext): Promise<readonly Row[]> {
  const dataTime = await dataTimes()
  const times = (await cubes()).flatMap((cube) => dataTime(cube) ?? [])
  const [latest] = times.toSorted((one, other) => other.getTime() - one.getTime())
  return [
    {
      CATALOG_NAME: catalog,
      DESCRIPTION: '',
      ROLES: '',
      DATE_MODIFIED: latest,
      COMPATIBILITY_LEVEL: 1_100,
      TYPE: 0,
      VERSION: 0,
      DATABASE_ID: catalog,
      CURRENTLY_USED: true,
    },
  ]
}

async function tableRows({ catalog, cubes, dataTimes }: DiscoverContext): Promise<readonly Row[]> {
  const dataTime = await dataTimes()
  return (await cubes()).map((cube) => ({
    TABLE_CATALOG: catalog,
    TABLE_NAME: cube.name,
    TABLE_TYPE: 'TABLE',
    TABLE_GUID: guidOf(catalog, cube.name, 'table'),
    DESCRIPTION: cube.description,
    DATE_CREATED: updateTime(cube),
    DATE_MODIFIED: dataTime(cube),
    TABLE_OLAP_TYPE: 'CUBE',
  }))
}

export const serverRowsets: readonly Rowset[] = [
  {
    name: 'DBSCHEMA_CATALOGS',
    guid: 'c8b52211-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf(
      'CATALOG_NAME:s? DESCRIPTION:s? ROLES:s? DATE_MODIFIED:t? COMPATIBILITY_LEVEL:i? TYPE:i? VERSION:i? DATABASE_ID:s? DATE_QUERIED:t? CURRENTLY_USED:b? POPULARITY:i? WEIGHTEDPOPULARITY:i? CLIENTCACHEREFRESHPOLICY:i?',
    ),
    restrictions: restrictionsOf('CATALOG_NAME:s'),
    rows: catalogRows,
  },
  {
    name: 'DBSCHEMA_SCHEMATA',
    guid: 'c8b52225-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf('CATALOG_NAME:s SCHEMA_NAME:s SCHEMA_OWNER:s'),
    restrictions: restrictionsOf('CATALOG_NAME:s SCHEMA_NAME:s SCHEMA_OWNER:s'),
    rows: ({ catalog }) => [{ CATALOG_NAME: catalog, SCHEMA_NAME: '', SCHEMA_OWNER: '' }],
  },
  {
    name: 'DBSCHEMA_TABLES',
    guid: 'c8b52229-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf(
      'TABLE_CATALOG:s? TABLE_SCHEMA:s? TABLE_NAME:s? TABLE_TYPE:s? TABLE_GUID:g? DESCRIPTION:s? TABLE_PROPID:u? DATE_CREATED:t? DATE_MODIFIED:t? TABLE_OLAP_TYPE:s?',
    ),
    restrictions: restrictionsOf(
      'TABLE_CATALOG:s TABLE_SCHEMA:s TABLE_NAME:s TABLE_TYPE:s TABLE_OLAP_TYPE:s',
    ),
    rows: tableRows,
  },
  {
    name: 'DISCOVER_DATASOURCES',
    guid: '06c03d41-f66d-49f3-b1b8-987f7af4cf18',
    columns: columnsOf(
      'DataSourceName:s DataSourceDescription:s? URL:s? DataSourceInfo:s? ProviderName:s? ProviderType:s AuthenticationMode:s',
    ),
    restrictions: restrictionsOf(
      'DataSourceName:s DataSourceDescription:s URL:s DataSourceInfo:s ProviderName:s ProviderType:s AuthenticationMode:s',
    ),
    rows: datasourceRows,
  },
  {
    name: 'DISCOVER_ENUMERATORS',
    guid: '55a9e78b-accb-45b4-95a6-94c5065617a7',
    columns: columnsOf(
      'EnumName:s EnumDescription:s? EnumType:s ElementName:s ElementDescription:s? ElementValue:s?',
    ),
    restrictions: restrictionsOf('EnumName:s'),
    rows: () =>
      enumerators.flatMap(([name, type, elements]) =>
        elements.map(([element, value]) => ({
          EnumName: name,
          EnumType: type,
          ElementName: element,
          ElementValue: value,
        })),
      ),
  },
  {
    name: 'DISCOVER_KEYWORDS',
    guid: '1426c443-4cdd-4a40-8f45-572fab9bbaa1',
    columns: columnsOf('Keyword:s?'),
    restrictions: restrictionsOf('Keyword:s'),
    rows: () => keywords.map((Keyword) => ({ Keyword })),
  },
  {
    name: 'DISCOVER_LITERALS',
    guid: 'c3ef5ecb-0a07-4665-a140-b075722dbdc2',
    columns: columnsOf(
      'LiteralName:s LiteralValue:s? LiteralInvalidChars:s? LiteralInvalidStartingChars:s? LiteralMaxLength:i? LiteralNameEnumValue:i?',
    ),
    restrictions: restrictionsOf('LiteralName:s'),
    rows: () =>
      literals.map(([name, value, invalid, start, length, number]) => ({
        LiteralName: name,
        LiteralValue: value,
        LiteralInvalidChars: invalid,
        LiteralInvalidStartingChars: start,
        LiteralMaxLength: length,
        LiteralNameEnumValue: number,
      })),
  },
]
