/**
 * The rowsets of what a cube computes: its KPIs, its measures and its sets, with the members and sets of the client's
 * session among them.
 */

import { measuresUniqueName } from '../../../semantics/cube/model.ts'
import { listedFormulas } from '../../../semantics/mdx/session.ts'
import type { MdxFormula } from '../../../wire/mdx/ast.ts'
import { printMdxExpression } from '../../../wire/mdx/print.ts'
import { cubeColumns, cubeRestrictions, groupOf, guidOf, inCubes } from './cube-rowsets.ts'
import { dbTypeOf } from './db-types.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

const metricRows = inCubes(
  ({ measures }) => measures,
  ({ name, uniqueName, caption, type, unit, folder, description, format, isSum }, cube) => ({
    MEASURE_NAME: name,
    MEASURE_UNIQUE_NAME: uniqueName,
    MEASURE_CAPTION: caption,
    MEASURE_GUID: guidOf(cube.catalog, cube.name, uniqueName),
    MEASURE_AGGREGATOR: isSum ? 1 : 127,
    DATA_TYPE: dbTypeOf(type),
    NUMERIC_PRECISION: 16,
    NUMERIC_SCALE: -1,
    MEASURE_UNITS: unit,
    DESCRIPTION: description,
    MEASURE_IS_VISIBLE: true,
    MEASURE_NAME_SQL_COLUMN_NAME: name,
    MEASURE_UNQUALIFIED_CAPTION: caption,
    MEASUREGROUP_NAME: groupOf(cube),
    MEASURE_DISPLAY_FOLDER: folder,
    DEFAULT_FORMAT_STRING: format,
  }),
)

/** Codes of MDMEASURE_AGGR_CALCULATED, of a type that differs from cell to cell, and of what lasts for a session. */
const calculatedAggregator = 127
const variantType = 12
const sessionScope = 2
const globalScope = 1

/** Calculated measures of the session. */
function sessionMeasureRows(context: DiscoverContext): Promise<readonly Row[]> {
  return inCubes(
    (cube) =>
      listedFormulas(cube, context.formulas).flatMap((each) =>
        each.kind === 'member' && each.member.at.uniqueName === measuresUniqueName ? [each.member] : [],
      ),
    ({ uniqueName, caption, formula }, cube) => ({
      MEASURE_NAME: formula.name,
      MEASURE_UNIQUE_NAME: uniqueName,
      MEASURE_CAPTION: caption,
      MEASURE_GUID: guidOf(cube.catalog, cube.name, uniqueName, 'session'),
      MEASURE_AGGREGATOR: calculatedAggregator,
      DATA_TYPE: variantType,
      DESCRIPTION: formula.description ?? '',
      EXPRESSION: printMdxExpression(formula.expression),
      MEASURE_IS_VISIBLE: true,
      MEASURE_UNQUALIFIED_CAPTION: caption,
      MEASUREGROUP_NAME: '',
      MEASURE_DISPLAY_FOLDER: formula.folder ?? '',
      DEFAULT_FORMAT_STRING: formula.format ?? '',
    }),
  )(context)
}

async function measureRows(context: DiscoverContext): Promise<readonly Row[]> {
  return [...(await metricRows(context)), ...(await sessionMeasureRows(context))]
}

/** Codes of SET_EVALUATION_CONTEXT. */
const contexts = { static: 1, dynamic: 2 } as const

const kpiRows = inCubes(
  ({ kpis }) => kpis,
  ({ name, caption, description, folder, parts, statusGraphic, trendGraphic, parent }, cube) => ({
    MEASUREGROUP_NAME: groupOf(cube),
    KPI_NAME: name,
    KPI_CAPTION: caption,
    KPI_DESCRIPTION: description,
    KPI_DISPLAY_FOLDER: folder,
    KPI_VALUE: parts.value,
    KPI_GOAL: parts.goal ?? '',
    KPI_STATUS: parts.status ?? '',
    KPI_TREND: parts.trend ?? '',
    KPI_STATUS_GRAPHIC: statusGraphic,
    KPI_TREND_GRAPHIC: trendGraphic,
    KPI_WEIGHT: parts.weight ?? '',
    KPI_CURRENT_TIME_MEMBER: '',
    KPI_PARENT_KPI_NAME: parent,
    SCOPE: globalScope,
  }),
)

/** Sets of the cube. Those of the session have the names of their properties. */
const cubeSetRows = inCubes(
  (cube) => {
    const formulas = cube.sets.map(({ formula }) => ({ cube: cube.name, formula }))
    const listed = listedFormulas(cube, formulas)
    return cube.sets.map((set, index) => ({ set, listed: listed[index] }))
  },
  ({ set: { name, caption, description, folder, formula }, listed }) => {
    const hierarchies = listed?.kind === 'set' ? listed.hierarchies : []
    return {
      ...{ SET_NAME: name, SCOPE: globalScope, DESCRIPTION: description },
      EXPRESSION: printMdxExpression(formula.expression),
      ...{ SET_CAPTION: caption, SET_DISPLAY_FOLDER: folder },
      ...placeOfSet(formula, hierarchies),
    }
  },
)

function placeOfSet({ isStatic }: MdxFormula, hierarchies: readonly string[]): Row {
  return {
    DIMENSIONS: hierarchies.join(','),
    SET_EVALUATION_CONTEXT: isStatic ? contexts.static : contexts.dynamic,
    // A client that asks for a hierarchy's sets means those of it alone.
    HIERARCHY_UNIQUE_NAME: hierarchies.length === 1 ? hierarchies[0] : undefined,
  }
}

function sessionSetRows(context: DiscoverContext): Promise<readonly Row[]> {
  return inCubes(
    (cube) => listedFormulas(cube, context.formulas).filter((each) => each.kind === 'set'),
    ({ name, formula, hierarchies }) => {
      const text = (wanted: string) => {
        const value = formula.properties.find((property) => property.name === wanted)?.value
        return value?.kind === 'string' ? value.value : undefined
      }
      return {
        SET_NAME: name,
        SCOPE: sessionScope,
        DESCRIPTION: text('DESCRIPTION') ?? '',
        EXPRESSION: printMdxExpression(formula.expression),
        SET_CAPTION: text('CAPTION') ?? name,
        SET_DISPLAY_FOLDER: text('DISPLAY_FOLDER') ?? '',
        ...placeOfSet(formula, hierarchies),
      }
    },
  )(context)
}

async function setRows(context: DiscoverContext): Promise<readonly Row[]> {
  return [...(await cubeSetRows(context)), ...(await sessionSetRows(context))]
}

/** In alphabetical order of their names. */
export const calculationRowsets: readonly Rowset[] = [
  {
    name: 'MDSCHEMA_KPIS',
    guid: '2ae44109-ed3d-4842-b16f-b694d1cb0e3f',
    columns: columnsOf(
      `${cubeColumns} MEASUREGROUP_NAME:s? KPI_NAME:s? KPI_CAPTION:s? KPI_DESCRIPTION:s? KPI_DISPLAY_FOLDER:s? KPI_VALUE:s? KPI_GOAL:s? KPI_STATUS:s? KPI_TREND:s? KPI_STATUS_GRAPHIC:s? KPI_TREND_GRAPHIC:s? KPI_WEIGHT:s? KPI_CURRENT_TIME_MEMBER:s? KPI_PARENT_KPI_NAME:s? SCOPE:i?`,
    ),
    restrictions: restrictionsOf(`${cubeRestrictions} KPI_NAME:s CUBE_SOURCE:us:visible`),
    rows: kpiRows,
  },
  {
    name: 'MDSCHEMA_MEASURES',
    guid: 'c8b522dc-5cf3-11ce-ade5-00aa0044773d',
    columns: columnsOf(
      `${cubeColumns} MEASURE_NAME:s? MEASURE_UNIQUE_NAME:s? MEASURE_CAPTION:s? MEASURE_GUID:g? MEASURE_AGGREGATOR:i? DATA_TYPE:us? NUMERIC_PRECISION:us? NUMERIC_SCALE:h? MEASURE_UNITS:s? DESCRIPTION:s? EXPRESSION:s? MEASURE_IS_VISIBLE:b? LEVELS_LIST:s? MEASURE_NAME_SQL_COLUMN_NAME:s? MEASURE_UNQUALIFIED_CAPTION:s? MEASUREGROUP_NAME:s? MEASURE_DISPLAY_FOLDER:s? DEFAULT_FORMAT_STRING:s?`,
    ),
    restrictions: restrictionsOf(
      `${cubeRestrictions} MEASURE_NAME:s MEASURE_UNIQUE_NAME:s MEASUREGROUP_NAME:s CUBE_SOURCE:us:visible MEASURE_VISIBILITY:us:visible`,
    ),
    rows: measureRows,
  },
  {
    name: 'MDSCHEMA_SETS',
    guid: 'a07ccd0b-8148-11d0-87bb-00c04fc33942',
    columns: columnsOf(
      `${cubeColumns} SET_NAME:s? SCOPE:i? DESCRIPTION:s? EXPRESSION:s? DIMENSIONS:s? SET_CAPTION:s? SET_DISPLAY_FOLDER:s? SET_EVALUATION_CONTEXT:i?`,
    ),
    restrictions: restrictionsOf(
      `${cubeRestrictions} SET_NAME:s SCOPE:i HIERARCHY_UNIQUE_NAME:s CUBE_SOURCE:us:visible`,
    ),
    rows: setRows,
  },
]
