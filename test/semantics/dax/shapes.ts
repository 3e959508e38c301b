/**
 * Queries of the shapes that reports of Power BI write, over the cube of cube-lake.ts, each with SQL by hand for its rows.
 * They were written for this cube, none is a recording: recorded.soak.test.ts has those. The source is where a query of the
 * form can be looked up.
 */

interface DaxShape {
  readonly name: string
  /** A file of a repository, an issue or a page that has a query of this form; else that none was found. */
  readonly source: string
  readonly query: string
  /** Over sales.orders and sales.regions; its columns in the order of the query's. */
  readonly sql: string
}

const rev = 'sum(amount)::float8'

export const daxShapes: readonly DaxShape[] = [
  {
    name: 'a table with a total, under a slicer',
    source: 'sebastien101/Python-for-BI-Semantic-Data-Model-Connector: PowerBIPerformanceData.json',
    query: `DEFINE VAR __DS0FilterTable = TREATAS({"east", "north"}, 'orders'[region])
      VAR __DS0Core = SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL(ROLLUPGROUP('orders'[region], 'orders'[paid]), "IsGrandTotalRowTotal"), __DS0FilterTable, "v", 'orders'[revenue])
      VAR __DS0PrimaryWindowed = TOPN(502, __DS0Core, [IsGrandTotalRowTotal], 0, 'orders'[region], 1, 'orders'[paid], 1)
      EVALUATE __DS0PrimaryWindowed ORDER BY [IsGrandTotalRowTotal] DESC, 'orders'[region], 'orders'[paid]`,
    sql: `SELECT region, paid, grouping(region) = 1, ${rev} FROM sales.orders WHERE region IN ('east', 'north') GROUP BY GROUPING SETS ((region, paid), ())`,
  },
  {
    name: 'a matrix of two levels, with subtotals',
    source: 'jpribeiro-bi4all/demos: PowerBIPerformanceData.json',
    query: `EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal", 'orders'[paid], "IsDM1Total"), "v", [orders])`,
    sql: 'SELECT region, grouping(region) = 1, paid, grouping(paid) = 1, count(*) FROM sales.orders GROUP BY ROLLUP (region, paid)',
  },
  {
    name: 'a matrix with rows and columns, both with totals',
    source: 'Sanjaykanth29803/smart-inventory-demand-forecasting: PowerBIPerformanceData.json',
    query: `EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal"), ROLLUPADDISSUBTOTAL('orders'[paid], "IsGrandTotalColumnTotal"), "v", [revenue])`,
    sql: `SELECT region, grouping(region) = 1, paid, grouping(paid) = 1, ${rev} FROM sales.orders GROUP BY CUBE (region, paid)`,
  },
  {
    name: 'the columns of a matrix, first of two results',
    source: 'Sanjaykanth29803/smart-inventory-demand-forecasting: PowerBIPerformanceData.json',
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
    source: 'jpribeiro-bi4all/demos: PowerBIPerformanceData.json',
    query: `DEFINE VAR __DM3FilterTable = TREATAS({"east"}, 'orders'[region])
      EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[region], "IsGrandTotalRowTotal", 'orders'[paid], "IsDM1Total", NONVISUAL(__DM3FilterTable)), "v", [orders])`,
    sql: `SELECT region, grouping(region) = 1, paid, grouping(paid) = 1, count(*) FROM sales.orders GROUP BY ROLLUP (region, paid) HAVING grouping(paid) = 1 OR region = 'east'`,
  },
  {
    name: 'a range of dates',
    source: 'Sanjaykanth29803/smart-inventory-demand-forecasting: PowerBIPerformanceData.json',
    query: `DEFINE VAR __DS0FilterTable = FILTER(KEEPFILTERS(VALUES('orders'[day])), AND('orders'[day] >= DATE(2024, 2, 10), 'orders'[day] < DATE(2024, 5, 10)))
      EVALUATE SUMMARIZECOLUMNS('orders'[day (Month)], __DS0FilterTable, "v", [revenue])`,
    sql: `SELECT date_trunc('month', day::timestamp)::date, ${rev} FROM sales.orders WHERE day >= '2024-02-10' AND day < '2024-05-10' GROUP BY 1`,
  },
  {
    name: 'a relative date',
    source: 'written for this test; no published query of this form was found',
    query: `DEFINE VAR __DS0FilterTable5 = FILTER(KEEPFILTERS(VALUES('orders'[day])), 'orders'[day] > TODAY() - 21)
      EVALUATE SUMMARIZECOLUMNS('orders'[region], __DS0FilterTable5, "v", [orders])`,
    sql: 'SELECT region, count(*) FROM sales.orders WHERE day > current_date - 21 GROUP BY 1',
  },
  {
    name: 'a filter that leaves out values, and BLANK',
    source: 'BrenoRodBar/Prouni-Dashboard: PowerBIPerformanceData.json',
    query: `DEFINE VAR __A = FILTER(KEEPFILTERS(VALUES('orders'[region])), NOT('orders'[region] IN {"west"}))
      VAR __B = FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT('orders'[note] IN {BLANK()}))
      EVALUATE SUMMARIZECOLUMNS('orders'[region], __A, __B, "v", [orders])`,
    sql: `SELECT region, count(*) FROM sales.orders WHERE region <> 'west' AND note IS NOT NULL GROUP BY 1`,
  },
  {
    name: 'values not blank',
    source: 'djouallah/Fabric_Notebooks_Demo: performance/PowerBIPerformanceData.json',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[paid], FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT(ISBLANK('orders'[note]))), "v", [orders])`,
    sql: 'SELECT paid, count(*) FROM sales.orders WHERE note IS NOT NULL GROUP BY 1',
  },
  {
    name: 'a text that contains another',
    source: 'written for this test; no published query of this form was found',
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
    source:
      'Subramanian-Thiagarajan/PowerBI-Sales-Analysis-and-Forecast-Project: PowerBIPerformanceData.json',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[region], "a", CALCULATE(AVERAGE('orders'[qty])), "b", CALCULATE(MIN('orders'[day])), "c", CALCULATE(MAX('orders'[day])), "d", CALCULATE(COUNTA('orders'[note])), "e", CALCULATE(DISTINCTCOUNT('orders'[note])))`,
    sql: 'SELECT region, avg(qty)::float8, min(day), max(day), count(note), count(DISTINCT note) + CASE WHEN count(*) > count(note) THEN 1 ELSE 0 END FROM sales.orders GROUP BY 1',
  },
  {
    name: 'a table without measures',
    source: 'Kavita-git-hub/Sales-Leads-Power-BI-Dashboard: PowerBIPerformanceData.json',
    query: `DEFINE VAR __DS0Core = SUMMARIZE('orders', 'orders'[region], 'orders'[paid])
      VAR __DS0PrimaryWindowed = TOPN(501, __DS0Core, 'orders'[region], 1, 'orders'[paid], 1)
      EVALUATE __DS0PrimaryWindowed ORDER BY 'orders'[region], 'orders'[paid]`,
    sql: 'SELECT DISTINCT region, paid FROM sales.orders',
  },
  {
    name: 'the values of a slicer',
    source: 'JavierHerreraPadilla/powerbi_sierracol: PowerBIPerformanceData.json',
    query: `DEFINE VAR __DS0Core = VALUES('orders'[note]) VAR __DS0PrimaryWindowed = TOPN(101, __DS0Core, 'orders'[note], 1)
      EVALUATE __DS0PrimaryWindowed ORDER BY 'orders'[note]`,
    sql: `SELECT note FROM sales.orders GROUP BY 1 ORDER BY note COLLATE "C" NULLS FIRST LIMIT 101`,
  },
  {
    name: 'the bounds of a slicer of dates',
    source: 'NasreenKhalid/User_Churn_Retention_Data: PowerBIPerformanceData.json',
    query: `EVALUATE ROW("MinDate", CALCULATE(MIN('orders'[day])), "MaxDate", CALCULATE(MAX('orders'[day])))`,
    sql: 'SELECT min(day), max(day) FROM sales.orders',
  },
  {
    name: 'the top by a measure as a filter',
    source: 'farhan-ahsen/Mobile_Sales_BI: PowerBIPerformanceData.json',
    query: `DEFINE VAR __SQDS0Core = SUMMARIZECOLUMNS('orders'[region], "r", 'orders'[revenue])
      VAR __SQDS0BodyLimited = TOPN(1, __SQDS0Core, [r], 0)
      EVALUATE SUMMARIZECOLUMNS('orders'[paid], __SQDS0BodyLimited, "v", [orders])`,
    sql: 'SELECT paid, count(*) FROM sales.orders WHERE region = (SELECT region FROM sales.orders GROUP BY 1 ORDER BY sum(amount) DESC LIMIT 1) GROUP BY 1',
  },
  {
    name: 'a filter by the value of a measure',
    source: 'rimsha7/global-revenue-leakage-dashboard: PowerBIPerformanceData.json',
    query: `DEFINE VAR __ValueFilterDM1 = FILTER(KEEPFILTERS(SUMMARIZECOLUMNS('orders'[day (Month)], "r", [orders])), [r] > 84)
      EVALUATE SUMMARIZECOLUMNS(ROLLUPADDISSUBTOTAL('orders'[day (Month)], "IsGrandTotalRowTotal"), __ValueFilterDM1, "v", [orders])`,
    sql: `WITH m AS (SELECT date_trunc('month', day::timestamp)::date AS m FROM sales.orders GROUP BY 1 HAVING count(*) > 84)
      SELECT date_trunc('month', day::timestamp)::date AS k, false, count(*) FROM sales.orders WHERE date_trunc('month', day::timestamp)::date IN (SELECT m FROM m) GROUP BY 1
      UNION ALL SELECT NULL, true, count(*) FROM sales.orders WHERE date_trunc('month', day::timestamp)::date IN (SELECT m FROM m) HAVING count(*) > 0`,
  },
  {
    name: 'several columns that filter together',
    source: 'written for this test; no published query of this form was found',
    query: `DEFINE VAR __F = FILTER(KEEPFILTERS(SUMMARIZE(VALUES('orders'), 'orders'[region], 'orders'[paid])), ('orders'[region], 'orders'[paid]) IN {("east", TRUE), ("west", FALSE)})
      EVALUATE SUMMARIZECOLUMNS('orders'[region], __F, "v", [orders])`,
    sql: `SELECT region, count(*) FROM sales.orders WHERE (region = 'east' AND paid) OR (region = 'west' AND NOT paid) GROUP BY 1`,
  },
  {
    name: 'TREATAS of two columns',
    source: 'written for this test; no published query of this form was found',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[initial], TREATAS({("east", TRUE()), ("north", FALSE())}, 'orders'[region], 'orders'[paid]), "v", [buyers])`,
    sql: `SELECT left(region, 1), count(DISTINCT email) FROM sales.orders WHERE (region = 'east' AND paid) OR (region = 'north' AND NOT paid) GROUP BY 1`,
  },
  {
    name: 'points of a chart, sampled',
    source: 'Utopie81/Reporting_Power-Bi: Performance_Data_Power-bi.json',
    query: `DEFINE VAR __DS0Core = SUMMARIZECOLUMNS('orders'[day], "v", [revenue])
      EVALUATE SAMPLE(3502, __DS0Core, 'orders'[day], 1) ORDER BY 'orders'[day]`,
    sql: `SELECT day, ${rev} FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'measures that the query defines',
    source: 'dax.guide, EVALUATE: DEFINE MEASURE',
    query: `DEFINE MEASURE 'orders'[Each] = DIVIDE([revenue], [orders])
      MEASURE 'orders'[Share] = VAR all_of = CALCULATE([orders], ALL('orders'[region])) RETURN DIVIDE([orders], all_of)
      EVALUATE SUMMARIZECOLUMNS('orders'[region], "a", [Each], "b", [Share])`,
    sql: `SELECT region, sum(amount)::float8 / count(*), count(*)::float8 / (SELECT count(*) FROM sales.orders) FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'CALCULATE with conditions, kept and overriding',
    source: 'written for this test; no published query of this form was found',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[region], "a", [orders], "b", CALCULATE([orders], 'orders'[region] = "east"), "c", CALCULATE([orders], KEEPFILTERS('orders'[region] = "east")))`,
    sql: `SELECT region, count(*), (SELECT count(*) FROM sales.orders WHERE region = 'east'), CASE WHEN region = 'east' THEN count(*) END FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'a column of a joined table',
    source: 'jpribeiro-bi4all/demos: PowerBIPerformanceData.json',
    query: `EVALUATE SUMMARIZECOLUMNS('area'[name], TREATAS({"east", "west"}, 'area'[name]), "v", [revenue]) ORDER BY 'area'[name]`,
    sql: `SELECT r.name, ${rev} FROM sales.orders o JOIN sales.regions r ON r.name = o.region WHERE r.name IN ('east', 'west') GROUP BY 1`,
  },
  {
    name: 'a card under CALCULATETABLE',
    source: 'Utopie81/Reporting_Power-Bi: Performance_Data_Power-bi.json',
    query: `EVALUATE CALCULATETABLE(ROW("v", [revenue]), KEEPFILTERS(TREATAS({"east"}, 'orders'[region])))`,
    sql: `SELECT ${rev} FROM sales.orders WHERE region = 'east'`,
  },
  {
    name: 'rows after a place, for the next window',
    source: 'dax.guide, EVALUATE: START AT',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[region], "v", [orders]) ORDER BY 'orders'[region] START AT "east2"`,
    sql: `SELECT region, count(*) FROM sales.orders WHERE region >= 'east2' GROUP BY 1`,
  },
  {
    name: 'a window by ISONORAFTER',
    source: 'written for this test; no published query of this form was found',
    query: `EVALUATE FILTER(KEEPFILTERS(SUMMARIZECOLUMNS('orders'[region], 'orders'[paid], "v", [orders])), ISONORAFTER('orders'[region], "east", ASC, 'orders'[paid], TRUE(), ASC))`,
    sql: `SELECT region, paid, count(*) FROM sales.orders WHERE region > 'east' OR (region = 'east' AND paid) GROUP BY 1, 2`,
  },
  {
    name: 'values with measures added, where there are some',
    source: 'written for this test; no published query of this form was found',
    query: `EVALUATE ADDCOLUMNS(KEEPFILTERS(SAMPLE(3502, FILTER(KEEPFILTERS(VALUES('orders'[region])), OR(NOT(ISBLANK('orders'[revenue])), NOT(ISBLANK('orders'[buyers])))), 'orders'[region], 1)), "a", 'orders'[revenue], "b", 'orders'[buyers])`,
    sql: `SELECT region, ${rev}, count(DISTINCT email) FROM sales.orders GROUP BY 1`,
  },
  {
    name: 'a count of rows and of groups',
    source: 'Utopie81/Reporting_Power-Bi: Performance_Data_Power-bi.json',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[paid], "a", COUNTROWS('orders'), "b", COUNTROWS(VALUES('orders'[region])))`,
    sql: 'SELECT paid, count(*), count(DISTINCT region) FROM sales.orders GROUP BY 1',
  },
  {
    name: 'a sum over groups that were limited',
    source: 'JavierHerreraPadilla/powerbi_sierracol: PowerBIPerformanceData.json',
    query: `EVALUATE GROUPBY(SUMMARIZECOLUMNS('orders'[region], 'orders'[paid], "x", [orders]), 'orders'[region], "v", SUMX(CURRENTGROUP(), [x]), "most", MAXX(CURRENTGROUP(), [x]))`,
    sql: 'SELECT region, sum(c), max(c) FROM (SELECT region, paid, count(*) AS c FROM sales.orders GROUP BY 1, 2) g GROUP BY 1',
  },
  {
    name: 'rows of several cards in one table',
    source: 'written for this test; no published query of this form was found',
    query: `EVALUATE UNION(ROW("k", "a", "v", [orders]), ROW("k", "b", "v", CALCULATE([orders], 'orders'[paid] = TRUE())))`,
    sql: `SELECT 'a', count(*) FROM sales.orders UNION ALL SELECT 'b', count(*) FROM sales.orders WHERE paid`,
  },
  {
    name: 'columns renamed by the report',
    source: 'Utopie81/Reporting_Power-Bi: Performance_Data_Power-bi.json',
    query: `EVALUATE SELECTCOLUMNS(KEEPFILTERS(SUMMARIZECOLUMNS('orders'[region], "x", [orders])), "'orders'[region]", 'orders'[region], "twice", [x] * 2) ORDER BY 'orders'[region]`,
    sql: 'SELECT region, count(*) * 2 FROM sales.orders GROUP BY 1',
  },
  {
    name: 'a level of a calendar filtered by one above',
    source: 'written for this test; no published query of this form was found',
    query: `EVALUATE SUMMARIZECOLUMNS('orders'[day (Quarter)], 'orders'[day (Month)], TREATAS({DATE(2024, 4, 1)}, 'orders'[day (Quarter)]), "v", [orders])`,
    sql: `SELECT date_trunc('quarter', day::timestamp)::date, date_trunc('month', day::timestamp)::date, count(*) FROM sales.orders WHERE day >= '2024-04-01' AND day < '2024-07-01' GROUP BY 1, 2`,
  },
]
