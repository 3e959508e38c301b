/**
 * Queries of the shapes that reports of Power BI write, over the cube of cube-lake.ts, each with SQL by hand for its rows.
 * They were written for this cube, in forms that public documents and reports have; none is a recording of Power BI. Only
 * the two of an issue of a repository can be looked up: the others say what kind of text the form was read in.
 */

interface DaxShape {
  readonly name: string
  /** In what kind of text a query of this form was read. */
  readonly source: string
  readonly query: string
  /** Over sales.orders and sales.regions; its columns in the order of the query's. */
  readonly sql: string
}

const rev = 'sum(amount)::float8'

export const daxShapes: readonly DaxShape[] = [
  {
    name: 'a table with a total, under a slicer',
    source: 'microsoft: Power BI DirectQuery labs, table visual; SQLBI, articles on query plans',
    query: `DEFINE VAR __DS0FilterTable = TREATAS({"east", "north"}, 'orders'[region])
      VAR __DS0Core = SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL(ROLLUPGROUP('orders'[region], 'orders'[paid]), "IsGrandTotalRowTotal"), __DS0FilterTable, "v", 'orders'[revenue])
      VAR __DS0PrimaryWindowed = TOPN(502, __DS0Core, [IsGrandTotalRowTotal], 0, 'orders'[region], 1, 'orders'[paid], 1)
      EVALUATE __DS0PrimaryWindowed ORDER BY [IsGrandTotalRowTotal] DESC, 'orders'[region], 'orders'[paid]`,
    sql: `SELECT region, paid, grouping(region) = 1, ${rev} FROM sales.orders WHERE region IN ('east', 'north') GROUP BY GROUPING SETS ((region, paid), ())`,
  },
  {
    name: 'a matrix of two levels, with subtotals',
    source: 'SQLBI, "Understanding visual calculations": the query of a matrix',
    query: `EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal", 'orders'[paid], "IsDM1Total"), "v", [orders])`,
    sql: 'SELECT region, grouping(region) = 1, paid, grouping(paid) = 1, count(*) FROM sales.orders GROUP BY ROLLUP (region, paid)',
  },
  {
    name: 'a matrix with rows and columns, both with totals',
    source: 'SQLBI, "Understanding visual calculations": the query of a matrix',
    query: `EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal"), ROLLUPADDISSUBTOTAL('orders'[paid], "IsGrandTotalColumnTotal"), "v", [revenue])`,
    sql: `SELECT region, grouping(region) = 1, paid, grouping(paid) = 1, ${rev} FROM sales.orders GROUP BY CUBE (region, paid)`,
  },
  {
    name: 'the columns of a matrix, first of two results',
    source: 'a test of a public provider with the query of a matrix over WideWorldImporters',
    query: `DEFINE
      VAR __DS0Core = SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal"), ROLLUPADDISSUBTOTAL('orders'[paid], "IsGrandTotalColumnTotal"), "v", [orders])
      VAR __DS0PrimaryWindowed = TOPN(102, SUMMARIZE(__DS0Core, 'orders'[region], [IsGrandTotalRowTotal]), [IsGrandTotalRowTotal], 0, 'orders'[region], 1)
      VAR __DS0SecondaryBase = SUMMARIZE(__DS0Core, 'orders'[paid], [IsGrandTotalColumnTotal])
      VAR __DS0Secondary = TOPN(102, __DS0SecondaryBase, [IsGrandTotalColumnTotal], 1, 'orders'[paid], 1)
      VAR __DS0BodyLimited = NATURALLEFTOUTERJOIN(__DS0PrimaryWindowed, SUBSTITUTEWITHINDEX(__DS0Core, "ColumnIndex", __DS0Secondary, [IsGrandTotalColumnTotal], ASC, 'orders'[paid], ASC))
      EVALUATE __DS0Secondary ORDER BY [IsGrandTotalColumnTotal], 'orders'[paid]
      EVALUATE __DS0BodyLimited ORDER BY [IsGrandTotalRowTotal] DESC, 'orders'[region], [ColumnIndex]`,
    sql: `SELECT region, grouping(region) = 1, count(*), CASE WHEN grouping(paid) = 1 THEN 2 WHEN paid THEN 1 ELSE 0 END FROM sales.orders GROUP BY CUBE (region, paid)`,
  },
  {
    name: 'a matrix of which one row is expanded',
    source: 'SQLBI, an article on inventory measures: a matrix of year, month and day',
    query: `DEFINE VAR __DM3FilterTable = TREATAS({"east"}, 'orders'[region])
      EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal", 'orders'[paid], "IsDM1Total", NONVISUAL(__DM3FilterTable)), "v", [orders])`,
    sql: `SELECT region, grouping(region) = 1, paid, grouping(paid) = 1, count(*) FROM sales.orders GROUP BY ROLLUP (region, paid) HAVING grouping(paid) = 1 OR region = 'east'`,
  },
  {
    name: 'a range of dates',
    source: 'a published script that exports a report: a filter by month, with DATE literals',
    query: `DEFINE VAR __DS0FilterTable = FILTER(KEEPFILTERS(VALUES('orders'[day])), AND('orders'[day] >= DATE(2024, 2, 10), 'orders'[day] < DATE(2024, 5, 10)))
      EVALUATE SUMMARIZECOLUMNS('orders'[day (Month)], __DS0FilterTable, "v", [revenue])`,
    sql: `SELECT date_trunc('month', day::timestamp)::date, ${rev} FROM sales.orders WHERE day >= '2024-02-10' AND day < '2024-05-10' GROUP BY 1`,
  },
  {
    name: 'a relative date',
    source: 'a published collector of scores: days after TODAY()-21',
    query: `DEFINE VAR __DS0FilterTable5 = FILTER(KEEPFILTERS(VALUES('orders'[day])), 'orders'[day] > TODAY() - 21)
      EVALUATE SUMMARIZECOLUMNS('orders'[region], __DS0FilterTable5, "v", [orders])`,
    sql: 'SELECT region, count(*) FROM sales.orders WHERE day > current_date - 21 GROUP BY 1',
  },
  {
    name: 'a filter that leaves out values, and BLANK',
    source: 'a published report on accounts: NOT(… IN {BLANK()})',
    query: `DEFINE VAR __A = FILTER(KEEPFILTERS(VALUES('orders'[region])), NOT('orders'[region] IN {"west"}))
      VAR __B = FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT('orders'[note] IN {BLANK()}))
      EVALUATE SUMMARIZECOLUMNS('orders'[region], __A, __B, "v", [orders])`,
    sql: `SELECT region, count(*) FROM sales.orders WHERE region <> 'west' AND note IS NOT NULL GROUP BY 1`,
  },
  {
    name: 'values not blank',
    source: 'a published report on ledgers: NOT(ISBLANK(…))',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[paid], FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT(ISBLANK('orders'[note]))), "v", [orders])`,
    sql: 'SELECT paid, count(*) FROM sales.orders WHERE note IS NOT NULL GROUP BY 1',
  },
  {
    name: 'a text that contains another',
    source: 'Microsoft Learn, advanced filters of Power BI: contains, starts with',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[region], FILTER(KEEPFILTERS(VALUES('orders'[region])), OR(SEARCH("AS", 'orders'[region], 1, 0) >= 1, LEFT('orders'[region], 2) = "no")), "v", [orders])`,
    sql: `SELECT region, count(*) FROM sales.orders WHERE region LIKE '%as%' OR region LIKE 'no%' GROUP BY 1`,
  },
  {
    name: 'a card of a measure under two filters',
    source: 'douglassimonsen/powerbi-decompressor, issue 90: a card with IGNORE',
    query: `DEFINE VAR __DS0FilterTable = TREATAS({"east"}, 'orders'[region])
      VAR __DS0FilterTable2 = FILTER(KEEPFILTERS(VALUES('orders'[qty])), AND('orders'[qty] >= 2, 'orders'[qty] <= 5))
      EVALUATE SUMMARIZECOLUMNS(__DS0FilterTable, __DS0FilterTable2, "v", IGNORE([revenue]))`,
    sql: `SELECT ${rev} FROM sales.orders WHERE region = 'east' AND qty BETWEEN 2 AND 5 HAVING count(*) > 0`,
  },
  {
    name: 'a card of a sum that the report makes',
    source: 'douglassimonsen/powerbi-decompressor, issue 90: CALCULATE(SUM(…))',
    query: `EVALUATE SUMMARIZECOLUMNS(TREATAS({"east"}, 'orders'[region]), "v", IGNORE(CALCULATE(SUM('orders'[qty]))))`,
    sql: `SELECT sum(qty) FROM sales.orders WHERE region = 'east'`,
  },
  {
    name: 'aggregates that the report makes',
    source: 'Microsoft Learn, aggregates in visuals: average, least, greatest, counts',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[region], "a", CALCULATE(AVERAGE('orders'[qty])), "b", CALCULATE(MIN('orders'[day])), "c", CALCULATE(MAX('orders'[day])), "d", CALCULATE(COUNTA('orders'[note])), "e", CALCULATE(DISTINCTCOUNT('orders'[note])))`,
    sql: 'SELECT region, avg(qty)::float8, min(day), max(day), count(note), count(DISTINCT note) + CASE WHEN count(*) > count(note) THEN 1 ELSE 0 END FROM sales.orders GROUP BY 1',
  },
  {
    name: 'a table without measures',
    source: 'microsoft/DirectQuery labs: SUMMARIZE of two columns',
    query: `DEFINE VAR __DS0Core = SUMMARIZE('orders', 'orders'[region], 'orders'[paid])
      VAR __DS0PrimaryWindowed = TOPN(501, __DS0Core, 'orders'[region], 1, 'orders'[paid], 1)
      EVALUATE __DS0PrimaryWindowed ORDER BY 'orders'[region], 'orders'[paid]`,
    sql: 'SELECT DISTINCT region, paid FROM sales.orders',
  },
  {
    name: 'the values of a slicer',
    source: 'Microsoft Learn, slicers; DAX Studio',
    query: `DEFINE VAR __DS0Core = VALUES('orders'[note]) VAR __DS0PrimaryWindowed = TOPN(101, __DS0Core, 'orders'[note], 1)
      EVALUATE __DS0PrimaryWindowed ORDER BY 'orders'[note]`,
    sql: `SELECT note FROM sales.orders GROUP BY 1 ORDER BY note COLLATE "C" NULLS FIRST LIMIT 101`,
  },
  {
    name: 'the bounds of a slicer of dates',
    source: 'Microsoft Learn, range slicers',
    query: `EVALUATE ROW("MinDate", CALCULATE(MIN('orders'[day])), "MaxDate", CALCULATE(MAX('orders'[day])))`,
    sql: 'SELECT min(day), max(day) FROM sales.orders',
  },
  {
    name: 'the top by a measure as a filter',
    source: 'a published report on payables: top 15 of a subquery filter the visual',
    query: `DEFINE VAR __SQDS0Core = SUMMARIZECOLUMNS('orders'[region], "r", 'orders'[revenue])
      VAR __SQDS0BodyLimited = TOPN(1, __SQDS0Core, [r], 0)
      EVALUATE SUMMARIZECOLUMNS('orders'[paid], __SQDS0BodyLimited, "v", [orders])`,
    sql: 'SELECT paid, count(*) FROM sales.orders WHERE region = (SELECT region FROM sales.orders GROUP BY 1 ORDER BY sum(amount) DESC LIMIT 1) GROUP BY 1',
  },
  {
    name: 'a filter by the value of a measure',
    source: 'microsoft/semantic-link-labs, rules on queries: __ValueFilterDM',
    query: `DEFINE VAR __ValueFilterDM1 = FILTER(KEEPFILTERS(SUMMARIZECOLUMNS('orders'[day (Month)], "r", [orders])), [r] > 84)
      EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[day (Month)], "IsGrandTotalRowTotal"), __ValueFilterDM1, "v", [orders])`,
    sql: `WITH m AS (SELECT date_trunc('month', day::timestamp)::date AS m FROM sales.orders GROUP BY 1 HAVING count(*) > 84)
      SELECT date_trunc('month', day::timestamp)::date AS k, false, count(*) FROM sales.orders WHERE date_trunc('month', day::timestamp)::date IN (SELECT m FROM m) GROUP BY 1
      UNION ALL SELECT NULL, true, count(*) FROM sales.orders WHERE date_trunc('month', day::timestamp)::date IN (SELECT m FROM m) HAVING count(*) > 0`,
  },
  {
    name: 'several columns that filter together',
    source: 'a published report on pipelines: (year, quarter) IN {…}',
    query: `DEFINE VAR __F = FILTER(KEEPFILTERS(SUMMARIZE(VALUES('orders'), 'orders'[region], 'orders'[paid])), ('orders'[region], 'orders'[paid]) IN {("east", TRUE), ("west", FALSE)})
      EVALUATE SUMMARIZECOLUMNS('orders'[region], __F, "v", [orders])`,
    sql: `SELECT region, count(*) FROM sales.orders WHERE (region = 'east' AND paid) OR (region = 'west' AND NOT paid) GROUP BY 1`,
  },
  {
    name: 'TREATAS of two columns',
    source: 'SQLBI, an article on inventory measures: expanded nodes',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[initial], TREATAS({("east", TRUE()), ("north", FALSE())}, 'orders'[region], 'orders'[paid]), "v", [buyers])`,
    sql: `SELECT left(region, 1), count(DISTINCT email) FROM sales.orders WHERE (region = 'east' AND paid) OR (region = 'north' AND NOT paid) GROUP BY 1`,
  },
  {
    name: 'points of a chart, sampled',
    source: 'a published article on hybrid tables: SAMPLE(3502, …)',
    query: `DEFINE VAR __DS0Core = SUMMARIZECOLUMNS('orders'[day], "v", [revenue])
      EVALUATE SAMPLE(3502, __DS0Core, 'orders'[day], 1) ORDER BY 'orders'[day]`,
    sql: `SELECT day, ${rev} FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'measures that the query defines',
    source: 'DAX Studio: query builder; Microsoft Learn, DEFINE MEASURE',
    query: `DEFINE MEASURE 'orders'[Each] = DIVIDE([revenue], [orders])
      MEASURE 'orders'[Share] = VAR all_of = CALCULATE([orders], ALL('orders'[region])) RETURN DIVIDE([orders], all_of)
      EVALUATE SUMMARIZECOLUMNS('orders'[region], "a", [Each], "b", [Share])`,
    sql: `SELECT region, sum(amount)::float8 / count(*), count(*)::float8 / (SELECT count(*) FROM sales.orders) FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'CALCULATE with conditions, kept and overriding',
    source: 'SQLBI, articles on KEEPFILTERS',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[region], "a", [orders], "b", CALCULATE([orders], 'orders'[region] = "east"), "c", CALCULATE([orders], KEEPFILTERS('orders'[region] = "east")))`,
    sql: `SELECT region, count(*), (SELECT count(*) FROM sales.orders WHERE region = 'east'), CASE WHEN region = 'east' THEN count(*) END FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'a column of a joined table',
    source: 'published captures of star schemas',
    query: `EVALUATE SUMMARIZECOLUMNS('area'[name], TREATAS({"east", "west"}, 'area'[name]), "v", [revenue]) ORDER BY 'area'[name]`,
    sql: `SELECT r.name, ${rev} FROM sales.orders o JOIN sales.regions r ON r.name = o.region WHERE r.name IN ('east', 'west') GROUP BY 1`,
  },
  {
    name: 'a card under CALCULATETABLE',
    source: 'older captures of cards: CALCULATETABLE(ROW(…))',
    query: `EVALUATE CALCULATETABLE(ROW("v", [revenue]), KEEPFILTERS(TREATAS({"east"}, 'orders'[region])))`,
    sql: `SELECT ${rev} FROM sales.orders WHERE region = 'east'`,
  },
  {
    name: 'rows after a place, for the next window',
    source: 'Microsoft Learn, START AT; ISONORAFTER',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[region], "v", [orders]) ORDER BY 'orders'[region] START AT "east2"`,
    sql: `SELECT region, count(*) FROM sales.orders WHERE region >= 'east2' GROUP BY 1`,
  },
  {
    name: 'a window by ISONORAFTER',
    source: 'Microsoft Learn, ISONORAFTER',
    query: `EVALUATE FILTER(KEEPFILTERS(SUMMARIZECOLUMNS('orders'[region], 'orders'[paid], "v", [orders])), ISONORAFTER('orders'[region], "east", ASC, 'orders'[paid], TRUE(), ASC))`,
    sql: `SELECT region, paid, count(*) FROM sales.orders WHERE region > 'east' OR (region = 'east' AND paid) GROUP BY 1, 2`,
  },
  {
    name: 'values with measures added, where there are some',
    source: 'a test of a public DAX server: ADDCOLUMNS over SAMPLE of VALUES',
    query: `EVALUATE ADDCOLUMNS(KEEPFILTERS(SAMPLE(3502, FILTER(KEEPFILTERS(VALUES('orders'[region])), OR(NOT(ISBLANK('orders'[revenue])), NOT(ISBLANK('orders'[buyers])))), 'orders'[region], 1)), "a", 'orders'[revenue], "b", 'orders'[buyers])`,
    sql: `SELECT region, ${rev}, count(DISTINCT email) FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'a count of rows and of groups',
    source: 'Microsoft Learn, COUNTROWS in implicit measures',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[paid], "a", COUNTROWS('orders'), "b", COUNTROWS(VALUES('orders'[region])))`,
    sql: 'SELECT paid, count(*), count(DISTINCT region) FROM sales.orders GROUP BY 1',
  },
  {
    name: 'a sum over groups that were limited',
    source: 'Microsoft Learn, GROUPBY with CURRENTGROUP',
    query: `EVALUATE GROUPBY(SUMMARIZECOLUMNS('orders'[region], 'orders'[paid], "x", [orders]), 'orders'[region], "v", SUMX(CURRENTGROUP(), [x]), "most", MAXX(CURRENTGROUP(), [x]))`,
    sql: 'SELECT region, sum(c), max(c) FROM (SELECT region, paid, count(*) AS c FROM sales.orders GROUP BY 1, 2) g GROUP BY 1',
  },
  {
    name: 'rows of several cards in one table',
    source: 'a published workbook of indicators: UNION(ROW(…), …)',
    query: `EVALUATE UNION(ROW("k", "a", "v", [orders]), ROW("k", "b", "v", CALCULATE([orders], 'orders'[paid] = TRUE())))`,
    sql: `SELECT 'a', count(*) FROM sales.orders UNION ALL SELECT 'b', count(*) FROM sales.orders WHERE paid`,
  },
  {
    name: 'columns renamed by the report',
    source: 'a published report on partners: SELECTCOLUMNS with names of columns',
    query: `EVALUATE SELECTCOLUMNS(KEEPFILTERS(SUMMARIZECOLUMNS('orders'[region], "x", [orders])), "'orders'[region]", 'orders'[region], "twice", [x] * 2) ORDER BY 'orders'[region]`,
    sql: 'SELECT region, count(*) * 2 FROM sales.orders GROUP BY 1',
  },
  {
    name: 'a level of a calendar filtered by one above',
    source: 'published captures of automatic date tables',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[day (Quarter)], 'orders'[day (Month)], TREATAS({DATE(2024, 4, 1)}, 'orders'[day (Quarter)]), "v", [orders])`,
    sql: `SELECT date_trunc('quarter', day::timestamp)::date, date_trunc('month', day::timestamp)::date, count(*) FROM sales.orders WHERE day >= '2024-04-01' AND day < '2024-07-01' GROUP BY 1, 2`,
  },
]
