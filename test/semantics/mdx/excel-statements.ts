/**
 * Shapes of statements that Excel sends, as public sources have recorded them: each over the names of the cube of
 * cube-lake.ts, with where it is from, the rows that its subselects leave, and how many tuples its axes have, in SQL. They
 * are facts of a protocol; no text of a source is here. Statements of one shape are here once.
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
  isCoast,
  kylin,
  level,
  mallard,
  mondrian,
  months,
  monthsOfQuarter,
  older,
  orders,
  paid,
  paids,
  pairs,
  props,
  quarter,
  quarters,
  quartersOf2024,
  region,
  regions,
  revenue,
  top,
  twoLevels,
  webb,
  year,
  years,
} from './excel-parts.ts'

export const excelStatements: Readonly<Record<string, ExcelStatement>> = {
  'a label filter below two page filters, with two values': {
    source: kylin('resources/query/filter/query_1.sql'),
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(${older(paid)}), {${orders},${revenue}}) ${props} ON COLUMNS, NON EMPTY Hierarchize(${twoLevels}) ${props} ON ROWS FROM (SELECT Filter(${calendar}.[Quarter].Members, (Right(${calendar}.CurrentMember.member_caption,4)="2024")) ON COLUMNS FROM (SELECT ({${paid}.&[t],${paid}.&[f]}) ON COLUMNS FROM (SELECT ({${region}.&[east],${region}.&[west]}) ON COLUMNS FROM ${cube}))) ${cell}`,
    within: `${is2024} AND paid IS NOT NULL AND ${isCoast}`,
    sizes: [`2 * (1 + ${paids})`, `1 + ${years} + ${quarters}`],
  },
  'the same with one value in the slicer': {
    source: kylin('resources/query/filter/query_2.sql'),
    text: `SELECT NON EMPTY Hierarchize(${older(paid)}) ${props} ON COLUMNS, NON EMPTY Hierarchize(${twoLevels}) ${props} ON ROWS FROM (SELECT Filter(${calendar}.[Quarter].Members, (Right(${calendar}.CurrentMember.member_caption,4)="2024")) ON COLUMNS FROM (SELECT ({${region}.&[east],${region}.&[west]}) ON COLUMNS FROM ${cube})) WHERE (${orders}) ${cell}`,
    within: `${is2024} AND ${isCoast}`,
    sizes: [`1 + ${paids}`, `1 + ${years} + ${quarters}`],
  },
  'a value filter, with a slicer within the subselect': {
    source: kylin('resources/query/filter/query_3.sql'),
    text: `SELECT NON EMPTY Hierarchize(${older(paid)}) ${props} ON COLUMNS, NON EMPTY Hierarchize(${twoLevels}) ${props} ON ROWS FROM (SELECT Filter(Hierarchize(${calendar}.[Quarter].Members), (${orders}>40)) ON COLUMNS FROM ${cube} WHERE (${region}.[All],${orders})) WHERE (${region}.[All],${orders}) ${cell}`,
    within:
      "date_trunc('quarter', day::timestamp) IN (SELECT date_trunc('quarter', day::timestamp) FROM sales.orders GROUP BY 1 HAVING count(*) > 40)",
    sizes: [`1 + ${paids}`, `1 + ${years} + ${quarters}`],
  },
  'a value filter of two fields below a period that is named by its path': {
    source: kylin('resources/query/filter/query_4.sql'),
    text: `SELECT {${orders},${revenue}} ${props} ON COLUMNS, NON EMPTY CrossJoin(Hierarchize(AddCalculatedMembers({DrilldownLevel({DrilldownLevel({DrilldownLevel({${calendar}.[All]})},${calendar}.[Year])},${calendar}.[Quarter])})), Hierarchize(${older(paid)})) ${props} ON ROWS FROM (SELECT Filter(CrossJoin(Hierarchize(${calendar}.[Month].Members), Hierarchize(${paid}.[paid].Members)), (${orders}>2)) ON COLUMNS FROM (SELECT ({${year}.&[2024-01-01]}) ON COLUMNS FROM (SELECT ({${region}.&[east],${region}.&[west]}) ON COLUMNS FROM ${cube}))) ${cell}`,
    within: `${inQuarter} AND ${isCoast} AND (date_trunc('month', day::timestamp), coalesce(paid::text, '-')) IN (SELECT date_trunc('month', day::timestamp), coalesce(paid::text, '-') FROM sales.orders WHERE ${inQuarter} AND ${isCoast} GROUP BY 1, 2 HAVING count(*) > 2)`,
    sizes: ['2', '0 * count(*) - 1'],
  },
  'a slicer outside of the subselect': {
    source: kylin('resources/query/mock/query_1.sql'),
    text: `WITH MEMBER ${paid}.[Slicer_0] AS 'Aggregate({${paid}.&[t], ${paid}.&[f]})' SELECT NON EMPTY Hierarchize(${twoLevels}) ${props} ON COLUMNS FROM (SELECT ({${region}.&[west]}) ON COLUMNS FROM ${cube} WHERE (${revenue})) WHERE (${revenue},${region}.&[east]) ${cell}`,
    within: "region = 'west'",
    sizes: ['0 * count(*)'],
  },
  'some periods hidden below years that are shown': {
    source: kylin('resources/query/sence/query_1.sql'),
    text: `SELECT NON EMPTY Hierarchize(AddCalculatedMembers(DrilldownMember({{DrilldownLevel({${calendar}.[All]})}}, {${year}}))) ${props} ON COLUMNS FROM (SELECT ({${year}.&[2024-01-01], ${year}.&[2024-04-01]}) ON COLUMNS FROM ${cube}) WHERE (${orders}) ${cell}`,
    within: "date_trunc('quarter', day::timestamp) IN (DATE '2024-01-01', DATE '2024-04-01')",
    sizes: [`1 + ${years} + ${quarters}`],
  },
  'months of one quarter, with a value filter on months': {
    source: kylin('resources/query/sence/query_2.sql'),
    text: `SELECT NON EMPTY Hierarchize(AddCalculatedMembers(DrilldownMember({{DrilldownLevel({DrilldownLevel({${calendar}.[All]})},${calendar}.[Year])}}, {${year}.&[2024-01-01]}))) ${props} ON COLUMNS FROM (SELECT Filter(Hierarchize(${calendar}.[Month].Members), (${orders}>10)) ON COLUMNS FROM ${cube} WHERE (${orders})) WHERE (${orders}) ${cell}`,
    within:
      "date_trunc('month', day::timestamp) IN (SELECT date_trunc('month', day::timestamp) FROM sales.orders GROUP BY 1 HAVING count(*) > 10)",
    sizes: [`1 + ${years} + ${quarters} + ${monthsOfQuarter}`],
  },
  'totals after their items, and two filters crossed in parentheses': {
    source: kylin('resources/query/slicer/query_1.sql'),
    text: `SELECT {${orders},${revenue}} ${both} ON COLUMNS, NON EMPTY CrossJoin(Hierarchize(${level(region)}, POST), Hierarchize(${level(paid)})) ${both} ON ROWS FROM (SELECT ({${region}.&[east], ${region}.&[west]}, {${paid}.&[t], ${paid}, ${paid}.&[f]}) ON COLUMNS FROM (SELECT ({${year}}) ON COLUMNS FROM ${cube})) ${cell}`,
    within: `${is2024} AND ${isCoast}`,
    sizes: ['2', `1 + ${regions} + ${paids} + ${pairs}`],
  },
  'three fields on rows': {
    source: kylin('resources/query/slicer/query_2.sql'),
    text: `SELECT {${orders},${revenue},${buyers}} ${props} ON COLUMNS, NON EMPTY CrossJoin(CrossJoin(Hierarchize(AddCalculatedMembers(DrilldownMember({{DrilldownLevel({${calendar}.[All]})}}, {${year}}))), Hierarchize(${older(region)})), Hierarchize(${older(paid)})) ${props} ON ROWS FROM (SELECT ({${quarter}},{${region}.&[east]},{${paid}.&[t],${paid}.&[f]}) ON COLUMNS FROM ${cube}) ${cell}`,
    within: `${inQuarter} AND region = 'east' AND paid IS NOT NULL`,
    sizes: ['3', `6 * (1 + ${paids})`],
  },
  'two fields with a filter of their own, and another one': {
    source: kylin('resources/query/slicer/query_3.sql'),
    text: `SELECT {${orders},${revenue}} ${props} ON COLUMNS, NON EMPTY CrossJoin(Hierarchize(${older(region)}), Hierarchize(${older(paid)})) ${props} ON ROWS FROM (SELECT ({${region}.&[east], ${region}.&[west]}, {${paid}.&[t]}) ON COLUMNS FROM (SELECT ({[area].[name].&[east]}) ON COLUMNS FROM ${cube})) ${cell}`,
    within: "region = 'east' AND paid",
    sizes: ['2', `4 * count(DISTINCT region)`],
  },
  'the two greatest': {
    source: kylin('resources/query/top_n/learn_kylin/query_0.sql'),
    text: `SELECT NON EMPTY Hierarchize(${older(initial)}) ${props} ON COLUMNS FROM (SELECT ${top(`{${initial}.[All]}`)} ON COLUMNS FROM ${cube} WHERE (${orders})) WHERE (${orders}) ${cell}`,
    within:
      'left(region, 1) IN (SELECT left(region, 1) FROM sales.orders GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 2)',
    sizes: ['1 + count(DISTINCT left(region, 1))'],
  },
  'the two greatest quarters of each year': {
    source: kylin('resources/query/top_n/learn_kylin/query_2.sql'),
    text: `SELECT NON EMPTY Hierarchize(${older(calendar)}) ${props} ON COLUMNS FROM (SELECT ${top(`${calendar}.[Year].Members`)} ON COLUMNS FROM ${cube} WHERE (${orders})) WHERE (${orders}) ${cell}`,
    within:
      "date_trunc('quarter', day::timestamp) IN (SELECT q FROM (SELECT date_trunc('quarter', day::timestamp) AS q, row_number() OVER (PARTITION BY date_trunc('year', date_trunc('quarter', day::timestamp)) ORDER BY count(*) DESC, date_trunc('quarter', day::timestamp)) AS n FROM sales.orders GROUP BY 1) r WHERE n <= 2)",
    sizes: [`1 + ${years}`],
  },
  'the two greatest years, with the value on columns': {
    source: kylin('resources/query/top_n/kylin_sales/query_2.sql'),
    text: `SELECT {${orders}} ON COLUMNS, NON EMPTY Hierarchize(${older(region)}) ${props} ON ROWS FROM (SELECT ${top(`${calendar}.[Year].Members`, 1)} ON COLUMNS FROM ${cube}) ${cell}`,
    within:
      "date_trunc('quarter', day::timestamp) IN (SELECT q FROM (SELECT date_trunc('quarter', day::timestamp) AS q, row_number() OVER (PARTITION BY date_trunc('year', date_trunc('quarter', day::timestamp)) ORDER BY count(*) DESC, date_trunc('quarter', day::timestamp)) AS n FROM sales.orders GROUP BY 1) r WHERE n = 1)",
    sizes: ['1', `1 + ${regions}`],
  },
  'the ten greatest of a level that is expanded': {
    source: kylin('java/io/kylin/mdx/web/transfer/rule/excel/ExcelQueryPartOptimizeRuleTest.java'),
    text: `SELECT {${orders},${revenue}} ${props} ON COLUMNS, NON EMPTY Hierarchize(AddCalculatedMembers({DrillDownLevelTop({${calendar}.[All]},10,,${orders})})) ${props} ON ROWS FROM ${cube} ${cell}`,
    sizes: ['2', `1 + least(10, ${years})`],
  },
  'totals that are not visual': {
    source: 'github.com/Kyligence/mdx-kylin semantic-mdx/semantic-server SubQueryTest.java (subselect)',
    text: `SELECT {${orders},${revenue}} ${props} ON COLUMNS, NON EMPTY Hierarchize(${twoLevels}) ${props} ON ROWS FROM NON VISUAL (SELECT ({${year}}) ON COLUMNS FROM ${cube}) ${cell}`,
    sizes: ['2', `2 + ${quartersOf2024}`],
  },
  'visual totals of a named set': {
    source: 'github.com/Kyligence/mdx-kylin semantic-mdx/semantic-server SubQueryTest.java (VisualTotals)',
    text: `WITH SET [XL_Row_Dim_0] AS 'VisualTotals(Distinct(Hierarchize({Ascendants(${year}), Descendants(${year})})))' SELECT {${orders},${revenue}} ${props} ON COLUMNS, NON EMPTY Hierarchize(Intersect(${twoLevels}, [XL_Row_Dim_0])) ${props} ON ROWS FROM ${cube} ${cell}`,
    within: is2024,
    sizes: ['2', `1 + ${years} + ${quarters}`],
  },
  'values on columns, one level on rows': {
    source: 'github.com/Kyligence/mdx-kylin semantic-mdx/semantic-server SubQueryTest.java (plain)',
    text: `SELECT {${orders},${revenue}} ${props} ON COLUMNS, NON EMPTY Hierarchize(${older(calendar)}) ${props} ON ROWS FROM ${cube} ${cell}`,
    sizes: ['2', `1 + ${years}`],
  },
  'three axes': {
    source: mondrian('xmla/XmlaExcel2000Test.ref.xml'),
    text: `SELECT HIERARCHIZE({${orders}}) DIMENSION PROPERTIES MEMBER_CAPTION, MEMBER_UNIQUE_NAME ON COLUMNS, HIERARCHIZE({${calendar}.[Year].members}) DIMENSION PROPERTIES MEMBER_CAPTION, MEMBER_UNIQUE_NAME ON ROWS, HIERARCHIZE({DrillDownLevel({${region}.[All]})}) DIMENSION PROPERTIES MEMBER_CAPTION, MEMBER_UNIQUE_NAME ON PAGES FROM ${cube}`,
    sizes: ['1', years, `1 + ${regions}`],
  },
  'visual totals of members at several levels, two of them expanded': {
    source: mondrian('xmla/XmlaExcel2007Test.ref.xml (XL_Row_Dim_0, first)'),
    text: `WITH SET [XL_Row_Dim_0] as 'VisualTotals(Distinct(Hierarchize({Ascendants(${calendar}.[Month].&[2024-01-01]), Descendants(${calendar}.[Month].&[2024-01-01])})))' select NON EMPTY Hierarchize(Intersect(DrilldownMember({{DrilldownMember({{DrilldownLevel({${calendar}.[All]})}}, {${year}})}}, {${quarter}}), [XL_Row_Dim_0])) ${props} ON COLUMNS from ${cube} WHERE (${revenue})`,
    within: "date_trunc('month', day::timestamp) = DATE '2024-01-01'",
    sizes: [`1 + ${years} + ${quarters} + ${months}`],
  },
  'a hierarchy expanded three times': {
    source: mondrian('xmla/XmlaExcel2007Test.ref.xml (Store)'),
    text: `SELECT NON EMPTY Hierarchize(DrilldownMember({{DrilldownMember({{DrilldownLevel({${calendar}.[All]})}}, {${year}})}}, {${quarter}})) ${props} ON COLUMNS FROM ${cube} WHERE (${orders}) ${cell}`,
    sizes: [`1 + ${years} + ${quartersOf2024} + ${monthsOfQuarter}`],
  },
  'a total whose measure is named in another case': {
    source: mondrian('xmla/XmlaExcel2007Test.ref.xml (total)'),
    text: `SELECT FROM ${cube} WHERE [Measures].[Revenue] ${cell}`,
    sizes: [],
  },
  'visual totals of several siblings': {
    source: mondrian('xmla/XmlaExcel2007Test.ref.xml (XL_Row_Dim_0, second)'),
    text: `WITH SET [XL_Row_Dim_0] AS 'VisualTotals(Distinct(Hierarchize({Ascendants(${region}.&[east]), Descendants(${region}.&[east]), Ascendants(${region}.&[west]), Descendants(${region}.&[west])})))' SELECT NON EMPTY Hierarchize(Intersect({DrilldownLevel({${region}.[All]})}, [XL_Row_Dim_0])) ${props} ON COLUMNS FROM ${cube} WHERE (${buyers})`,
    within: isCoast,
    sizes: [`1 + ${regions}`],
  },
  'values beside a hierarchy that is expanded twice': {
    source: mondrian('xmla/XmlaExcelXPTest.ref.xml'),
    text: `SELECT {${orders}, ${revenue}} ${props} ON COLUMNS, NON EMPTY HIERARCHIZE({DrillDownMember({{DrillDownMember({DrillDownLevel({${calendar}.[All]})}, {${year}})}}, {${quarter}})}) ${props} ON ROWS FROM ${cube}`,
    sizes: ['2', `1 + ${years} + ${quartersOf2024} + ${monthsOfQuarter}`],
  },
  'years beside visual totals': {
    source: mondrian('olap/fun/FunctionTest.java testVisualTotalsIntersect'),
    text: `WITH SET [XL_Row_Dim_0] AS 'VisualTotals(Distinct(Hierarchize({Ascendants(${region}.&[east]), Descendants(${region}.&[east])})))' SELECT NON EMPTY Hierarchize({${calendar}.[Year].members}) ON COLUMNS, NON EMPTY Hierarchize(Intersect({DrilldownLevel({${region}.[All]})}, [XL_Row_Dim_0])) ON ROWS FROM ${cube} WHERE (${revenue})`,
    within: "region = 'east'",
    sizes: [years, `1 + ${regions}`],
  },
  'a total of two members': {
    source: mallard('src/test_support/fixtures.rs'),
    text: `SELECT FROM (SELECT ({${region}.&[east],${region}.&[west]}) ON COLUMNS FROM ${cube}) WHERE (${revenue})`,
    within: isCoast,
    sizes: [],
  },
  'a value of one member': {
    source: mallard('src/test_support/fixtures.rs'),
    text: `SELECT FROM ${cube} WHERE (${region}.&[east],${revenue}) CELL PROPERTIES VALUE, FORMAT_STRING, BACK_COLOR, FORE_COLOR`,
    within: "region = 'east'",
    sizes: [],
  },
  'a value of all members': {
    source: mallard('src/test_support/fixtures.rs'),
    text: `SELECT FROM ${cube} WHERE (${region}.[All],${revenue}) CELL PROPERTIES VALUE, FORMAT_STRING, BACK_COLOR, FORE_COLOR`,
    sizes: [],
  },
  'a total': {
    source: mallard('src/test_support/fixtures.rs'),
    text: `SELECT FROM ${cube} WHERE (${orders}) CELL PROPERTIES VALUE, FORMAT_STRING, BACK_COLOR, FORE_COLOR`,
    sizes: [],
  },
  'the member All for a filter’s list': {
    source: mallard('src/test_support/fixtures.rs'),
    text: `SELECT {AddCalculatedMembers({${region}.[(All)].Members})} DIMENSION PROPERTIES MEMBER_TYPE ON COLUMNS FROM ${cube} CELL PROPERTIES CELL_ORDINAL`,
    sizes: ['1'],
  },
  'the children of All for a filter’s list': {
    source: mallard('src/test_support/fixtures.rs'),
    text: `SELECT {AddCalculatedMembers({${region}.[All].Children})} DIMENSION PROPERTIES MEMBER_TYPE ON COLUMNS FROM ${cube} CELL PROPERTIES CELL_ORDINAL`,
    sizes: [regions],
  },
  'the members of a level for a filter’s list': {
    source: mallard('src/test_support/fixtures.rs'),
    text: `SELECT {AddCalculatedMembers({${region}.[region].Members})} DIMENSION PROPERTIES MEMBER_TYPE ON COLUMNS FROM ${cube} CELL PROPERTIES CELL_ORDINAL`,
    sizes: [regions],
  },
  'two fields crossed on rows, two values on columns': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT CrossJoin(${region}.Members, [area].[name].Members) ON ROWS, {${revenue},${orders}} ON COLUMNS FROM ${cube}`,
    sizes: ['2', `(1 + ${regions}) * (1 + (SELECT count(DISTINCT name) FROM sales.regions))`],
  },
  'a slicer that the subselect leaves out': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT FROM (SELECT ({${region}.&[east]}) ON COLUMNS FROM ${cube}) WHERE (${region}.&[west],${revenue})`,
    within: 'false',
    sizes: [],
  },
  'members by their value': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT Filter(${region}.[region].Members, ${revenue} > 11800) ON ROWS, {${revenue}} ON COLUMNS FROM ${cube}`,
    sizes: [
      '1',
      '(SELECT count(*) FROM (SELECT 1 FROM sales.orders GROUP BY region HAVING sum(amount) > 11800) s)',
    ],
  },
  'a calendar expanded by levels, below one quarter': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT NON EMPTY Hierarchize({DrilldownLevel({DrilldownLevel({DrilldownLevel({${calendar}.[All]},,,INCLUDE_CALC_MEMBERS)},${calendar}.[Year],INCLUDE_CALC_MEMBERS)},${calendar}.[Quarter],INCLUDE_CALC_MEMBERS)}) ${both} ON COLUMNS FROM (SELECT ({${quarter}}) ON COLUMNS FROM ${cube}) WHERE (${revenue})`,
    within: inQuarter,
    sizes: [`1 + ${years} + ${quarters} + ${months}`],
  },
  'a field without a value': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ON COLUMNS FROM ${cube}`,
    sizes: [`1 + ${regions}`],
  },
  'members in the order of their values': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT Order(${region}.Members, ${revenue}, DESC) ON ROWS, {${revenue}} ON COLUMNS FROM ${cube}`,
    sizes: ['1', `1 + ${regions}`],
  },
  'the greatest members': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT TopCount(${region}.Members, 3, ${revenue}) ON ROWS, {${revenue}} ON COLUMNS FROM ${cube}`,
    sizes: ['1', `least(3, 1 + ${regions})`],
  },
  'members beside two values': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT ${region}.Members ON ROWS, {${revenue},${orders}} ON COLUMNS FROM ${cube}`,
    sizes: ['2', `1 + ${regions}`],
  },
  'cells of a sheet, a measure each': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT {(${revenue}),(${orders}),(${buyers})} ON 0 FROM ${cube}`,
    sizes: ['3'],
  },
  'a cell of a sheet, with a member': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT {(${revenue},${region}.&[east])} ON 0 FROM ${cube} CELL PROPERTIES VALUE, FORMAT_STRING, BACK_COLOR, FORE_COLOR`,
    sizes: ['1'],
  },
  'cells of a sheet, a period each': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT {(${revenue},${year}),(${revenue},${calendar}.[Month].&[2024-02-01]),(${revenue},${quarter})} ON 0 FROM ${cube}`,
    sizes: ['3'],
  },
  'one value, sliced by a caption': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT {${revenue}} ON COLUMNS FROM ${cube} WHERE (${region}.[east])`,
    within: "region = 'east'",
    sizes: ['1'],
  },
  'one value, sliced by a year': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT {${revenue}} ON COLUMNS FROM ${cube} WHERE (${year})`,
    within: is2024,
    sizes: ['1'],
  },
  'one value': {
    source: mallard('src/execute/dispatch.rs'),
    text: `SELECT {${revenue}} ON COLUMNS FROM ${cube} CELL PROPERTIES VALUE, FORMAT_STRING, BACK_COLOR, FORE_COLOR`,
    sizes: ['1'],
  },
  'an expanded year, and a quarter in it': {
    source: mallard('scripts/bench-workload.jsonl'),
    text: `SELECT NON EMPTY Hierarchize(DrilldownMember({{DrilldownMember({${`{DrilldownLevel({${calendar}.[All]},,,INCLUDE_CALC_MEMBERS)}`}}, {${year}},,,INCLUDE_CALC_MEMBERS)}}, {${quarter}},,,INCLUDE_CALC_MEMBERS)) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue})`,
    sizes: [`1 + ${years} + ${quartersOf2024} + ${monthsOfQuarter}`],
  },
  'an expanded year': {
    source: mallard('scripts/bench-workload.jsonl'),
    text: `SELECT NON EMPTY Hierarchize(DrilldownMember({{DrilldownLevel({${calendar}.[All]},,,INCLUDE_CALC_MEMBERS)}}, {${year}},,,INCLUDE_CALC_MEMBERS)) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue})`,
    sizes: [`1 + ${years} + ${quartersOf2024}`],
  },
  'one field': {
    source: mallard('scripts/bench-workload.jsonl'),
    text: `SELECT NON EMPTY Hierarchize(${level(calendar)}) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) CELL PROPERTIES VALUE, FORMAT_STRING, BACK_COLOR, FORE_COLOR`,
    sizes: [`1 + ${years}`],
  },
  'two fields on one axis': {
    source: webb('3080-excel-subtotals-when-querying-multidimensional-and-tabular-models'),
    text: `SELECT NON EMPTY CrossJoin(Hierarchize(${level(region)}), Hierarchize(${level(paid)})) ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: [`1 + ${regions} + ${paids} + ${pairs}`],
  },
  'a field of which one member is chosen': {
    source: webb('2744-excel-2010-subselects-named-sets-and-the-formula-cache (subselect)'),
    text: `SELECT NON EMPTY Hierarchize(${level(region)}) ${both} ON COLUMNS FROM (SELECT ({${region}.&[east]}) ON COLUMNS FROM ${cube}) WHERE (${revenue}) ${cell}`,
    within: "region = 'east'",
    sizes: ['2'],
  },
  'a named set of the session': {
    source: webb('2744-excel-2010-subselects-named-sets-and-the-formula-cache (named set)'),
    session: [`CREATE SESSION SET ${cube}.[East] AS '{${region}.&[east]}'`],
    text: `SELECT NON EMPTY {[East]} ${both} ON COLUMNS FROM ${cube} WHERE (${revenue}) ${cell}`,
    sizes: ['1'],
  },
  'two values': {
    source: webb('4469-mdx-cell-properties-supported-by-excel'),
    text: `SELECT {${revenue},${orders}} ${both} ON COLUMNS FROM ${cube} ${cell}`,
    sizes: ['2'],
  },
  'a named set within Hierarchize': {
    source: 'github.com/pentaho/mondrian/issues/1239',
    session: [
      `CREATE SESSION SET ${cube}.[Coasts] AS '{(${region}.&[east]),(${region}.&[west]),(${region}.[All])}'`,
    ],
    text: `SELECT NON EMPTY Hierarchize({[Coasts]}) DIMENSION PROPERTIES HIERARCHY_UNIQUE_NAME ON 0 FROM ${cube} ${cell}`,
    sizes: ['3'],
  },
}
