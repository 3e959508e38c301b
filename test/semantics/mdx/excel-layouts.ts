/**
 * Further shapes of statements that Excel sends, as public sources have recorded them: nested layouts, and filters by rank
 * and label. As in excel-statements.ts, they are facts of a protocol, over the names of the cube of cube-lake.ts.
 */

import {
  both,
  calendar,
  cell,
  cube,
  type ExcelStatement,
  kylin,
  level,
  mallard,
  orders,
  paid,
  pairs,
  props,
  quarters,
  region,
  regions,
  revenue,
  twoLevels,
  years,
} from './excel-parts.ts'

export const excelLayouts: Readonly<Record<string, ExcelStatement>> = {
  'a field crossed with two values on one axis': {
    source: mallard('plan 049 (finding 1)'),
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(${level(calendar)}), {${revenue},${orders}}) ${both} ON COLUMNS FROM ${cube} ${cell}`,
    sizes: [`2 * (1 + ${years})`],
  },
  'a field crossed with one value, by its members alone': {
    source: mallard('plan 049 (finding 1, least form)'),
    text: `SELECT NON EMPTY CrossJoin(Hierarchize({DrilldownLevel({${calendar}.[All]})}), {${revenue}}) ON COLUMNS FROM ${cube}`,
    sizes: [`1 + ${years}`],
  },
  'two fields below each other, each parent with its total': {
    source: mallard('plan 049 (finding 2)'),
    text: `SELECT NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${region}.[All],${region}.[region].AllMembers}, {(${paid}.[All])}), ${region}.[region].AllMembers, ${paid})) ${both} ON COLUMNS FROM ${cube}`,
    sizes: [`1 + ${regions} + ${pairs}`],
  },
  'the same on rows, one value on columns': {
    source: mallard('plan 049 (fixed, second layout)'),
    text: `SELECT {${revenue}} ${both} ON COLUMNS, NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${region}.[All],${region}.[region].AllMembers}, {(${paid}.[All])}), ${region}.[region].AllMembers, ${paid})) ${both} ON ROWS FROM ${cube} ${cell}`,
    sizes: ['1', `1 + ${regions} + ${pairs}`],
  },
  'the same with one parent collapsed': {
    source: mallard('plan 049 (fixed, collapse)'),
    text: `SELECT NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${region}.[All],${region}.[region].AllMembers}, {(${paid}.[All])}), {-{${region}.&[east]}}, ${paid})) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: ['0 * count(*) - 1'],
  },
  'one field on each axis, the value crossed with the columns': {
    source: mallard('plan 049 (fixed, third layout)'),
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(${level(calendar)}), {${revenue}}) ${both} ON COLUMNS, NON EMPTY Hierarchize(${level(region)}) ${both} ON ROWS FROM ${cube} ${cell}`,
    sizes: [`1 + ${years}`, `1 + ${regions}`],
  },
  'the least members up to a sum': {
    source: mallard('review of 2026-09-25 (Top-5 pivot filter)'),
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM (SELECT Generate(Hierarchize({${region}.[All]}) AS [XL_Filter_Set_0], BottomSum(Except(DrilldownLevel([XL_Filter_Set_0].Current AS [XL_Filter_HelperSet_0], , 0, INCLUDE_CALC_MEMBERS), [XL_Filter_HelperSet_0]), 5, ${revenue})) ON COLUMNS FROM ${cube} WHERE (${revenue})) WHERE (${revenue}) ${cell}`,
    within: 'region = (SELECT region FROM sales.orders GROUP BY region ORDER BY sum(amount), region LIMIT 1)',
    sizes: ['2'],
  },
  'a value filter whose condition is in parentheses': {
    source: mallard('plan 049 (value filters)'),
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM (SELECT Filter(${region}.[region].Members, (${revenue}>11800)) ON COLUMNS FROM ${cube}) WHERE (${revenue}) ${cell}`,
    within: 'region IN (SELECT region FROM sales.orders GROUP BY region HAVING sum(amount) > 11800)',
    sizes: [`1 + ${regions}`],
  },
  'a value beside a ratio of sums': {
    source: mallard('src (the (All) ratio cell)'),
    text: `SELECT {${revenue},[Measures].[basket]} ON 0, NON EMPTY Hierarchize(${level(calendar)}) ON 1 FROM ${cube} CELL PROPERTIES VALUE`,
    sizes: ['2', `1 + ${years}`],
  },
  'members of an axis by a part of their label': {
    source: mallard('src (label filters)'),
    text: `SELECT NON EMPTY Hierarchize({Filter(${level(region)}, InStr(${region}.CurrentMember.MEMBER_CAPTION, "o") > 0)}) ON COLUMNS FROM ${cube} WHERE (${revenue})`,
    sizes: [`count(DISTINCT region) FILTER (WHERE region LIKE '%o%')`],
  },
  'the two greatest quarters of all, below two levels': {
    source: kylin('resources/query/top_n/learn_kylin (drilled one level)'),
    text: `SELECT NON EMPTY Hierarchize(${twoLevels}) ${props} ON COLUMNS FROM (SELECT Generate(Hierarchize({${calendar}.[All]}) AS [XL_Filter_Set_0], TopCount(Filter(Except(DrilldownLevel(DrilldownLevel([XL_Filter_Set_0].Current, , 0) AS [XL_Filter_HelperSet_0], , 0), [XL_Filter_HelperSet_0]), Not IsEmpty(${orders})), 2, ${orders})) ON COLUMNS FROM ${cube} WHERE (${orders})) WHERE (${orders}) ${cell}`,
    within:
      "date_trunc('quarter', day::timestamp) IN (SELECT date_trunc('quarter', day::timestamp) FROM sales.orders GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 2)",
    sizes: [`1 + ${years} + ${quarters}`],
  },
  'a total with the cell properties of newer releases': {
    source: 'github.com/abilian/olapy tests of get_response (Amount)',
    text: `SELECT FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: [],
  },
}
