/**
 * Forms of DAX that public recordings and references of Power BI hold, and that are not served: each over the cube of
 * cube-lake.ts, with what its fault says. docs/power-bi.md lists the functions of all of them. They are facts of a protocol;
 * no text of a source is here.
 */

interface RefusedForm {
  readonly name: string
  readonly source: string
  readonly query: string
  /** The words of the fault, which name the function or the form. */
  readonly fault: string
}

const recording = 'a file of recorded queries over the tables of TPC-DS ("S1 Q3", __SQDS0VisualCalcs)'
const capacity =
  'scripts that ask the model of the Fabric Capacity Metrics report (MPARAMETER CapacitiesList)'
const reference = (name: string) => `learn.microsoft.com/dax/${name}`
const core = `VAR __DS0Core = SUMMARIZECOLUMNS('orders'[region], "v", [revenue])`

export const refusedForms: readonly RefusedForm[] = [
  {
    name: 'a visual calculation',
    source: recording,
    query: `DEFINE COLUMN '__SQDS0VisualCalcs'[Rank] = (RANK(ORDERBY([revenue], DESC))) ${core} EVALUATE __DS0Core`,
    fault: 'DEFINE COLUMN is not supported',
  },
  {
    name: 'the table of a visual calculation',
    source: recording,
    query: `DEFINE ${core} TABLE '__SQDS0VisualCalcs' = __DS0Core WITH VISUAL SHAPE AXIS rows GROUP [region] ORDER BY [region] ASC DENSIFY "IsDensifiedRow" EVALUATE '__SQDS0VisualCalcs'`,
    fault: 'DEFINE TABLE is not supported',
  },
  {
    name: 'a parameter of the source',
    source: capacity,
    query: `DEFINE MPARAMETER 'CapacitiesList' = {"x"} ${core} EVALUATE __DS0Core`,
    fault: 'MPARAMETER binds a parameter of the source',
  },
  {
    name: 'items without data',
    source: reference('addmissingitems-function-dax'),
    query: `EVALUATE ADDMISSINGITEMS('orders'[region], SUMMARIZECOLUMNS('orders'[region], "v", [revenue]), 'orders'[region])`,
    fault: 'the function ADDMISSINGITEMS is not supported',
  },
  {
    name: 'the rows of a table',
    source: reference('evaluate-statement-dax'),
    query: "EVALUATE 'orders'",
    fault: 'rows of a table are not given',
  },
]

/** Functions that measures of reports use, and that are not served, by the kind of place that they stand in. */
export const refusedFunctions = {
  tables: [
    ...[
      'ADDMISSINGITEMS',
      'CALENDAR',
      'CALENDARAUTO',
      'DATATABLE',
      'DATESBETWEEN',
      'DATESINPERIOD',
      'DATESMTD',
    ],
    ...['DATESQTD', 'DATESYTD', 'DETAILROWS', 'EXCEPT', 'GENERATESERIES', 'INDEX', 'INTERSECT', 'NEXTMONTH'],
    ...['OFFSET', 'PARALLELPERIOD', 'PREVIOUSMONTH', 'SAMEPERIODLASTYEAR', 'WINDOW'],
  ],
  values: [
    ...['CONCATENATEX', 'DATEDIFF', 'EARLIER', 'FORMAT', 'HASONEFILTER', 'ISCROSSFILTERED', 'ISFILTERED'],
    ...['ISINSCOPE', 'LASTNONBLANK', 'LOOKUPVALUE', 'MEDIAN', 'MOD', 'POWER', 'RANKX', 'RELATED', 'ROUNDUP'],
    ...['SUBSTITUTE', 'TOTALMTD', 'TOTALQTD', 'TOTALYTD', 'VALUE', 'WEEKDAY', 'WEEKNUM'],
  ],
} as const
