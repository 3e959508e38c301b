/**
 * Shapes of pivot tables of Excel 2010 and later, and of older ones over other servers, as public sources have recorded
 * them: page fields, nested fields on both axes, properties of members. As in excel-statements.ts, they are facts of a
 * protocol, over the names of the cube of cube-lake.ts. A source whose repository is not on record is named by its words.
 */

import {
  both,
  buyers,
  calendar,
  cell,
  cube,
  type ExcelStatement,
  initial,
  inQuarter,
  is2024,
  level,
  mallard,
  orders,
  paid,
  paids,
  pairs,
  quarter,
  quarters,
  quartersOf2024,
  region,
  regions,
  revenue,
  year,
  years,
} from './excel-parts.ts'

const area = '[area].[name]'
const trace = mallard('src/test_support/fixtures.rs (EXCEL_TRACE)')
const daxDrill = (place: string) => `DG2NTT.DaxDrill.Tests ParseMdxTests.cs (${place})`
const adventure = 'TestOlap.java over AS_BIDWStar_auto_cube and AdventureWorks'
const fuels = 'a script that fills tblPreRunMDXQueries of Fuels Manager DW'
const olapy = (path: string) => `github.com/abilian/olapy ${path}`
const live = (place: string) => `tests of an XMLA server in Python over [account_type], bug 6698 (${place})`
const cellOfTrace = 'CELL PROPERTIES VALUE, FORMAT_STRING, BACK_COLOR, FORE_COLOR'
const initials = 'count(DISTINCT left(region, 1))'
const second = `${calendar}.[Quarter].&[2024-04-01]`
const months = "date_trunc('month', day::timestamp)"
const inHalf = "date_trunc('quarter', day::timestamp) IN (DATE '2024-01-01', DATE '2024-04-01')"
const members = 'MEMBER_KEY, MEMBER_VALUE, MEMBER_NAME, MEMBER_UNIQUE_NAME, MEMBER_CAPTION'
const listed = `${members}, LEVEL_UNIQUE_NAME, LEVEL_NUMBER`
const qualified = members
  .split(', ')
  .map((name) => `${region}.[region].[${name}]`)
  .join(', ')
const expanded = (deeper: string, these: string) =>
  `DrilldownMember({{${deeper}}}, {${these}},,,INCLUDE_CALC_MEMBERS)`
const levelOf = (hierarchy: string) => `DrilldownLevel({${hierarchy}.[All]},,,INCLUDE_CALC_MEMBERS)`
/** Two fields below each other, each parent with its total. */
const nested = (outer: string, name: string, inner: string) =>
  `Hierarchize(DrilldownMember(CrossJoin({${outer}.[All],${outer}.[${name}].AllMembers}, {(${inner}.[All])}), ${outer}.[${name}].AllMembers, ${inner}))`
const nestedRegions = nested(region, 'region', paid)

export const excelPivots: Readonly<Record<string, ExcelStatement>> = {
  'a page field that shows all': {
    source: trace,
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM ${cube} WHERE (${paid}.[All],${revenue}) ${cellOfTrace}`,
    sizes: [`1 + ${regions}`],
  },
  'a page field of which one member is chosen': {
    source: trace,
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM ${cube} WHERE (${paid}.&[t],${revenue}) ${cellOfTrace}`,
    within: 'paid',
    sizes: [`1 + ${regions}`],
  },
  'the same, with one member chosen of the field shown': {
    source: trace,
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM (SELECT ({${region}.&[east]}) ON COLUMNS FROM ${cube}) WHERE (${paid}.&[t],${revenue}) ${cellOfTrace}`,
    within: "region = 'east' AND paid",
    sizes: ['2'],
  },
  'two page fields, one of which shows all': {
    source: trace,
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM ${cube} WHERE (${paid}.&[t],${area}.[All],${revenue}) ${cellOfTrace}`,
    within: 'paid',
    sizes: [`1 + ${regions}`],
  },
  'two page fields with a member each': {
    source: trace,
    text: `SELECT NON EMPTY Hierarchize(${level(initial)}) ${both} ON COLUMNS FROM ${cube} WHERE (${paid}.&[t],${area}.&[east],${revenue}) ${cellOfTrace}`,
    within: "region = 'east' AND paid",
    sizes: ['2'],
  },
  'the same without a value': {
    source: trace,
    text: `SELECT NON EMPTY Hierarchize(${level(initial)}) ${both} ON COLUMNS FROM ${cube} WHERE (${paid}.&[t],${area}.&[east]) ${cellOfTrace}`,
    within: "region = 'east' AND paid",
    sizes: ['2'],
  },
  'two fields on one axis below a page field': {
    source: trace,
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(${level(region)}), Hierarchize(${level(initial)})) ${both} ON COLUMNS FROM ${cube} WHERE (${paid}.&[t],${orders}) ${cellOfTrace}`,
    within: 'paid',
    sizes: [`1 + ${regions} + ${initials} + count(DISTINCT (region, left(region, 1)))`],
  },
  'two fields on one axis without a value': {
    source: trace,
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(${level(region)}), Hierarchize(${level(paid)})) ${both} ON COLUMNS FROM ${cube} ${cellOfTrace}`,
    sizes: [`1 + ${regions} + ${paids} + ${pairs}`],
  },
  'a filter of the field shown, within one of another field': {
    source: mallard('src/execute/dispatch.rs (both filters)'),
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM (SELECT ({${region}.&[east]}) ON COLUMNS FROM (SELECT ({${paid}.&[t],${paid}.&[f]}) ON COLUMNS FROM ${cube})) WHERE (${revenue}) ${cellOfTrace}`,
    within: "region = 'east'",
    sizes: ['2'],
  },
  'a total below a filter, with a page field that shows all': {
    source: mallard('src/execute/dispatch.rs (subquery filter)'),
    text: `SELECT FROM (SELECT ({${region}.&[east]}) ON COLUMNS FROM ${cube}) WHERE (${paid}.[All],${revenue}) ${cellOfTrace}`,
    within: "region = 'east'",
    sizes: [],
  },
  'nested rows beside a field, below filters of two others': {
    source: daxDrill('ParseTableMdx1'),
    text: `SELECT NON EMPTY Hierarchize(${level(calendar)}) ${both} ON COLUMNS , NON EMPTY ${nestedRegions} ${both} ON ROWS FROM (SELECT ({${quarter},${second}},{${area}.&[east],${area}.&[west]}) ON COLUMNS FROM ${cube}) WHERE (${revenue}) ${cell}`,
    within: `${inHalf} AND region IN ('east', 'west')`,
    sizes: [`1 + ${years}`, `1 + ${regions} + ${pairs}`],
  },
  'nested fields on both axes, a filter of the inner one and a page field': {
    source: daxDrill('ParseTableMdx2'),
    text: `SELECT NON EMPTY ${nested(area, 'name', region)} ${both} ON COLUMNS , NON EMPTY ${nested(initial, 'initial', paid)} ${both} ON ROWS FROM (SELECT ({${paid}.&[t], ${paid}.&[f]}) ON COLUMNS FROM ${cube}) WHERE (${calendar}.[All],${revenue}) ${cell}`,
    sizes: [`1 + 2 * ${regions}`, `1 + ${initials} + count(DISTINCT (left(region, 1), paid))`],
  },
  'nested columns without a total, nested rows of which one is expanded, three page fields': {
    source: daxDrill('ParseTableMdx3'),
    text: `SELECT NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${region}.[region].AllMembers}, {(${paid}.[All])}), ${region}.[region].AllMembers, ${paid})) ${both} ON COLUMNS , NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${initial}.[All],${initial}.[initial].AllMembers}, {(${area}.[All])}), {${initial}.&[e]}, ${area})) ${both} ON ROWS FROM (SELECT ({${area}.&[east]}) ON COLUMNS FROM ${cube}) WHERE ([orders].[qty].[All],${year},${revenue}) ${cell}`,
    within: "region = 'east'",
    sizes: [`${regions} + ${pairs}`, `2 + ${initials}`],
  },
  'filters on two axes of one subselect': {
    source: daxDrill('ParseTableMdx4'),
    text: `SELECT NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${region}.[region].AllMembers}, {(${paid}.[All])}), ${region}.[region].AllMembers, ${paid})) ${both} ON COLUMNS , NON EMPTY Hierarchize(${level(calendar)}) ${both} ON ROWS FROM (SELECT ({${paid}.&[t]}) ON COLUMNS , ({${area}.&[east]}) ON ROWS FROM ${cube}) WHERE ([orders].[qty].[All],${initial}.&[e],${revenue}) ${cell}`,
    within: "region = 'east' AND paid",
    sizes: [`${regions} + ${pairs}`, `1 + ${years}`],
  },
  'three nested fields, the last below one member, with filters on two axes': {
    source: daxDrill('ParseTableMdx5'),
    text: `SELECT NON EMPTY Hierarchize(${level(calendar)}) ${both} ON COLUMNS , NON EMPTY Hierarchize(DrilldownMember(DrilldownMember(CrossJoin({${initial}.[All],${initial}.[initial].AllMembers}, {(${region}.[All],${paid}.[All])}), ${initial}.[initial].AllMembers, ${region}), {${region}.&[east]}, ${paid})) ${both} ON ROWS FROM (SELECT ({${quarter}}) ON COLUMNS , ({${region}.&[east]},{${paid}.&[t]}) ON ROWS FROM ${cube}) WHERE ([orders].[qty].[All],${area}.&[east],${revenue}) ${cell}`,
    within: `${inQuarter} AND region = 'east' AND paid`,
    sizes: [`1 + ${years}`, `1 + ${initials} + ${regions} + ${paids}`],
  },
  'a filter of periods of two levels within one of the fields shown': {
    source: daxDrill('ParseHierTableMdx'),
    text: `SELECT NON EMPTY ${nestedRegions} ${both} ON COLUMNS , NON EMPTY Hierarchize(${level(initial)}) ${both} ON ROWS FROM (SELECT ({${region}.&[east]},{${paid}.&[t], ${paid}.&[f]}) ON COLUMNS FROM (SELECT ({${calendar}.[Month].&[2024-01-01],${calendar}.[Month].&[2024-03-01],${second}}) ON COLUMNS FROM ${cube})) WHERE (${revenue}) ${cell}`,
    within: `(${months} IN (DATE '2024-01-01', DATE '2024-03-01') OR date_trunc('quarter', day::timestamp) = DATE '2024-04-01') AND region = 'east'`,
    sizes: [`1 + ${regions} + ${pairs}`, `1 + ${initials}`],
  },
  'a field without its total crossed with an expanded one, two values on columns': {
    source: `${adventure} (AllMembers)`,
    text: `SELECT {${orders},${revenue}} ${both} ON COLUMNS , NON EMPTY CrossJoin(Hierarchize({${region}.[region].AllMembers}), Hierarchize(${expanded(levelOf(calendar), year)})) ${both} ON ROWS FROM ${cube} ${cell}`,
    sizes: [
      '2',
      `${regions} + count(DISTINCT (region, date_trunc('year', day::timestamp))) + count(DISTINCT (region, date_trunc('quarter', day::timestamp)))`,
    ],
  },
  'a field crossed with two values beside a field expanded twice': {
    source: `${adventure} (Fiscal Date)`,
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(${level(region)}), {${orders},${revenue}}) ${both} ON COLUMNS , NON EMPTY Hierarchize(${expanded(expanded(levelOf(calendar), year), `${quarter},${second}`)}) ${both} ON ROWS FROM ${cube} ${cell}`,
    sizes: [
      `2 * (1 + ${regions})`,
      `1 + ${years} + ${quartersOf2024} + count(DISTINCT ${months}) FILTER (WHERE ${inHalf})`,
    ],
  },
  'three fields and two values on columns beside a field': {
    source: `${adventure} (seven fields)`,
    text: `SELECT NON EMPTY CrossJoin(CrossJoin(CrossJoin(Hierarchize(${level(region)}), Hierarchize(${level(paid)})), Hierarchize(${level(initial)})), {${orders},${revenue}}) ${both} ON COLUMNS , NON EMPTY Hierarchize(${level(calendar)}) ${both} ON ROWS FROM ${cube} ${cell}`,
    sizes: [
      `2 * (1 + ${regions} + ${paids} + ${initials} + ${pairs} + count(DISTINCT (region, left(region, 1))) + count(DISTINCT (paid, left(region, 1))) + count(DISTINCT (region, paid, left(region, 1))))`,
      `1 + ${years}`,
    ],
  },
  'one field on each axis and one value': {
    source: `${adventure} (Due Date)`,
    text: `SELECT NON EMPTY Hierarchize(${level(paid)}) ${both} ON COLUMNS , NON EMPTY Hierarchize(${level(region)}) ${both} ON ROWS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: [`1 + ${paids}`, `1 + ${regions}`],
  },
  'three values beside one field': {
    source: `${adventure} (alarms)`,
    text: `SELECT {${orders},${revenue},${buyers}} ${both} ON COLUMNS , NON EMPTY Hierarchize(${level(region)}) ${both} ON ROWS FROM ${cube} ${cell}`,
    sizes: ['3', `1 + ${regions}`],
  },
  'one field on each axis below a page field': {
    source: `${fuels} (General Query)`,
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS , NON EMPTY Hierarchize(${level(calendar)}) ${both} ON ROWS FROM ${cube} WHERE (${initial}.[All],${revenue}) ${cell}`,
    sizes: [`1 + ${regions}`, `1 + ${years}`],
  },
  'values beside an expanded field, two page fields': {
    source: `${fuels} (Ledger Query)`,
    text: `SELECT {${orders},${revenue},${buyers}} ${both} ON COLUMNS , NON EMPTY Hierarchize(${expanded(levelOf(calendar), year)}) ${both} ON ROWS FROM ${cube} WHERE (${region}.&[east],${paid}.[All]) ${cell}`,
    within: "region = 'east'",
    sizes: ['3', `1 + ${years} + ${quarters}`],
  },
  'a field without its total, with the values of members': {
    source: 'a macro that reads [co_d_PL_toTCodeFilter].[PL_Name] of a data model in Excel',
    text: `SELECT NON EMPTY Hierarchize({${region}.[region].AllMembers}) DIMENSION PROPERTIES PARENT_UNIQUE_NAME,MEMBER_VALUE,HIERARCHY_UNIQUE_NAME ON COLUMNS FROM ${cube} WHERE (${paid}.&[t],${year},${revenue}) ${cell}`,
    within: `paid AND ${is2024}`,
    sizes: [regions],
  },
  'two fields in the form of a table, without totals': {
    source: 'a script that reads [OARS Franchise] by the MDX of a pivot table',
    text: `SELECT {${orders},${revenue}} ${both} ON COLUMNS, NON EMPTY CrossJoin(Hierarchize({${region}.[region].AllMembers}), Hierarchize({${calendar}.[Quarter].AllMembers})) ${both} ON ROWS FROM ${cube} WHERE (${paid}.&[t]) ${cell}`,
    within: 'paid',
    sizes: ['2', "count(DISTINCT (region, date_trunc('quarter', day::timestamp)))"],
  },
  'properties of members by their names alone': {
    source: live('bare list'),
    text: `SELECT NON EMPTY {${revenue}} DIMENSION PROPERTIES PARENT_UNIQUE_NAME, ${listed} ON COLUMNS, NON EMPTY {${region}.[region].Members} DIMENSION PROPERTIES ${listed} ON ROWS FROM ${cube} ${cell}`,
    sizes: ['1', regions],
  },
  'properties of members by their level': {
    source: live('level-qualified'),
    text: `SELECT NON EMPTY {${revenue}} ON COLUMNS, NON EMPTY Hierarchize({${region}.[region].Members}) DIMENSION PROPERTIES PARENT_UNIQUE_NAME, HIERARCHY_UNIQUE_NAME, ${qualified} ON ROWS FROM ${cube} CELL PROPERTIES VALUE, FORMAT_STRING, LANGUAGE`,
    sizes: ['1', regions],
  },
  'properties on an axis of a subselect': {
    source: live('subselect'),
    text: `SELECT NON EMPTY {${revenue}} ON COLUMNS, NON EMPTY {${region}.[region].Members} ON ROWS FROM (SELECT {${region}.[region].[east]} DIMENSION PROPERTIES PARENT_UNIQUE_NAME, ${qualified} ON COLUMNS FROM ${cube}) CELL PROPERTIES VALUE, FORMAT_STRING`,
    within: "region = 'east'",
    sizes: ['1', '1'],
  },
  'members by their captions, with properties': {
    source: live('enumerated members'),
    text: `SELECT NON EMPTY {${revenue}} ON COLUMNS, NON EMPTY {${region}.[east], ${region}.[west]} DIMENSION PROPERTIES MEMBER_KEY, MEMBER_CAPTION, LEVEL_NUMBER ON ROWS FROM ${cube} CELL PROPERTIES VALUE, FORMAT_STRING`,
    within: "region IN ('east', 'west')",
    sizes: ['1', regions],
  },
  'properties of members by their level, without a dot before their names': {
    source: `${trace}, of a server whose levels list them`,
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both},${[
      ...['MEMBER_CAPTION', 'MEMBER_NAME', 'MEMBER_UNIQUE_NAME', 'MEMBER_KEY', 'MEMBER_TYPE', 'MEMBER_VALUE'],
      ...['LEVEL_NUMBER', 'LEVEL_UNIQUE_NAME', 'PARENT_LEVEL', 'PARENT_UNIQUE_NAME', 'CHILDREN_CARDINALITY'],
    ]
      .map((name) => `${region}.[region]${name}`)
      .join(',')} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cellOfTrace}`,
    sizes: [`1 + ${regions}`],
  },
  'members of a level expanded three times by their captions': {
    source: olapy('micro_bench/queries_4_db.py (query6)'),
    text: `SELECT NON EMPTY Hierarchize(AddCalculatedMembers(DrilldownMember({{DrilldownMember({{DrilldownMember({{ ${calendar}.[Year].Members}}, { ${calendar}.[Year].[2024]})}}, { ${calendar}.[Year].[2024].[Q2 2024]})}}, { ${calendar}.[Year].[2024].[Q2 2024].[May 2024]}))) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: [
      `${years} + ${quartersOf2024} + count(DISTINCT ${months}) FILTER (WHERE date_trunc('quarter', day::timestamp) = DATE '2024-04-01') + count(DISTINCT day) FILTER (WHERE ${months} = DATE '2024-05-01')`,
    ],
  },
  'members of a level, one of them expanded': {
    source: olapy('micro_bench/olapy_pandas_VS_olapy_pyspark/mdx_queries.py (query2)'),
    text: `SELECT NON EMPTY Hierarchize(AddCalculatedMembers(DrilldownMember({{{ ${calendar}.[Quarter].Members}}}, { ${quarter}}))) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: [`${quarters} + count(DISTINCT ${months}) FILTER (WHERE ${inQuarter})`],
  },
  'members of two levels crossed': {
    source: olapy('micro_bench/olapy_pandas_VS_olapy_pyspark/mdx_queries.py (query3)'),
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(AddCalculatedMembers({ ${region}.[region].Members})), Hierarchize(AddCalculatedMembers({ ${paid}.[paid].Members}))) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: [pairs],
  },
  'members of three levels crossed': {
    source: olapy('tests/test_xmla_lib.py'),
    text: `SELECT NON EMPTY CrossJoin(CrossJoin(Hierarchize(AddCalculatedMembers({${area}.[name].Members})), Hierarchize(AddCalculatedMembers({${paid}.[paid].Members}))), Hierarchize(AddCalculatedMembers({${calendar}.[Year].Members}))) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: ["count(DISTINCT (region, paid, date_trunc('year', day::timestamp)))"],
  },
  'cells of a sheet, several members each': {
    source: olapy('micro_bench/queries_4_db.py (query7)'),
    text: `SELECT {${[1, 2, 3, 4]
      .map((month) => `(${paid}.&[t], ${calendar}.[Month].&[2024-0${month}-01], ${area}.&[east], ${revenue})`)
      .join(', ')}} ON 0 FROM ${cube} ${cell}`,
    sizes: ['4'],
  },
  'one value, in order': {
    source: olapy('micro_bench/queries_4_db.py (query1)'),
    text: `SELECT Hierarchize({${revenue}}) ON COLUMNS FROM ${cube}`,
    sizes: ['1'],
  },
}

/** What Excel sends that changes the cube. Nothing here does, so each is refused as a whole, by its words. */
export const excelRefused: Readonly<
  Record<string, { readonly source: string; readonly text: string; readonly fault: string }>
> = {
  'groups of members that a person makes': {
    source: 'learn.microsoft.com CREATE SESSION CUBE, in its simplified statement of Excel',
    text: `CREATE SESSION CUBE [sales.orders_XL_GROUPING1] FROM ${cube} (MEASURE ${cube}.[revenue], DIMENSION ${cube}.[orders].[region] HIDDEN AS _XL_GROUPING81)`,
    fault: 'of CREATE, only CREATE MEMBER and SET of a session are supported',
  },
  'a value that a person types, for what-if analysis': {
    source: 'msdn.microsoft.com Enabling Write-back to an OLAP Cube at Cell Level in Excel 2010',
    text: `UPDATE CUBE ${cube} SET (${revenue},${region}.&[east]) = 100 USE_EQUAL_ALLOCATION`,
    fault: 'the statement UPDATE is not supported',
  },
}
