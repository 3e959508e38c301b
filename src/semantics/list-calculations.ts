/**
 * Lists the KPIs and named sets of tables for those who read no cube: each as it is in the cube that the principal sees, so
 * what names something that they may not see is not there. Nothing is computed.
 */

import type { KpiPart } from '../core/metric.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import { printMdxExpression } from '../wire/mdx/print.ts'
import { buildCubes } from './cube/build-cubes.ts'
import type { Cube, CubeKpi } from './cube/model.ts'
import { uniqueNameOf } from './cube/names.ts'
import type { Asking } from './describe-metric.ts'

interface Listed {
  readonly name: string
  readonly label?: string
  readonly description?: string
  /** Where clients of cubes list it. */
  readonly folder?: string
}

/** Each part is the name of a metric, or MDX. */
export interface ListedKpi extends Listed, Readonly<Partial<Record<Exclude<KpiPart, 'value'>, string>>> {
  readonly value: string
  readonly statusGraphic?: string
  readonly trendGraphic?: string
  readonly parent?: string
}

export interface ListedSet extends Listed {
  /** MDX. */
  readonly expression: string
  /** Whether each statement makes it within its slicer and subselects. */
  readonly dynamic: boolean
}

export interface TableCalculations {
  readonly kpis: readonly ListedKpi[]
  readonly sets: readonly ListedSet[]
}

const none: TableCalculations = { kpis: [], sets: [] }

/** Those of each of these tables, in their order; none for a table that has no cube for the principal. */
export async function calculationsOfTables(
  asking: Asking,
  tables: readonly TableRef[],
): Promise<readonly TableCalculations[]> {
  const cubes = await buildCubes({ ...asking, catalog: '' })
  const found = new Map(cubes.map((cube) => [tableKey(cube.table), cube]))
  return tables.map((table) => {
    const cube = found.get(tableKey(table))
    return cube === undefined ? none : calculationsOf(cube)
  })
}

function calculationsOf(cube: Cube): TableCalculations {
  return {
    kpis: cube.kpis.map((kpi) => listedKpi(cube, kpi)),
    sets: cube.sets.map((set) => ({
      ...listed(set),
      expression: printMdxExpression(set.formula.expression),
      dynamic: set.formula.isStatic !== true,
    })),
  }
}

function listedKpi(cube: Cube, kpi: CubeKpi): ListedKpi {
  const { parts, statusGraphic, trendGraphic, parent } = kpi
  const text = (part: KpiPart) => {
    const member = parts[part]
    return member === undefined || member === '' ? undefined : textOf(cube, member)
  }
  return {
    ...listed(kpi),
    value: text('value') ?? '',
    ...said({ goal: text('goal'), status: text('status'), trend: text('trend'), weight: text('weight') }),
    ...said({ statusGraphic, trendGraphic, parent }),
  }
}

/** What a member of the measures stands for: a metric, or an expression. */
function textOf({ measures, formulas }: Cube, uniqueName: string): string | undefined {
  const measure = measures.find((each) => each.uniqueName === uniqueName)
  if (measure !== undefined) return measure.name
  const formula = formulas.find(
    ({ name }) => uniqueNameOf(...name.map((part) => (part.kind === 'name' ? part.name : ''))) === uniqueName,
  )
  return formula && printMdxExpression(formula.expression)
}

function listed({ name, caption, description, folder }: Cube['sets'][number] | CubeKpi): Listed {
  return { name, ...said({ label: caption === name ? '' : caption, description, folder }) }
}

/** Without what is not said. */
function said<Name extends string>(
  given: Readonly<Record<Name, string | undefined>>,
): { readonly [Each in Name]?: string } {
  const entries = Object.entries<string | undefined>(given).filter(
    ([, text]) => text !== undefined && text !== '',
  )
  return Object.fromEntries(entries) as { readonly [Each in Name]?: string }
}
