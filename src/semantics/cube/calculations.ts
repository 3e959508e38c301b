/**
 * The KPIs and named sets of a cube as its reader sees them: those alone of which every name is one of the cube. It looks
 * at names and reads no rows, so whether a member exists is told where a statement evaluates it.
 */

import { Fault } from '../../base/fault.ts'
import { type Kpi, type KpiPart, kpiParts, metricNamePattern, type NamedSet } from '../../core/metric.ts'
import type { MdxExpression, MdxFormula } from '../../wire/mdx/ast.ts'
import { parseMdxText } from '../../wire/mdx/parse-expression.ts'
import { kpiFunctions } from '../../wire/mdx/words.ts'
import { type CalculationNames, isInCube, problemOfNames } from './calculation-names.ts'
import { type Cube, type CubeKpi, type CubeSet, measuresName } from './model.ts'
import { uniqueNameOf } from './names.ts'

/** A KPI or set of which something is no part of the cube, or may not be shown. */
interface RefusedCalculation {
  readonly kind: 'kpi' | 'set'
  readonly name: string
  /** One sentence with its full stop. */
  readonly why: string
}

interface Calculations {
  readonly kpis: readonly CubeKpi[]
  readonly sets: readonly CubeSet[]
  /** What a statement evaluates: the sets, and the parts of KPIs that are expressions, in the order of their names. */
  readonly formulas: readonly MdxFormula[]
  readonly refused: readonly RefusedCalculation[]
}

/** What a cube has besides metrics and hierarchies. */
interface Declared {
  readonly kpis?: readonly Kpi[] | undefined
  readonly sets?: readonly NamedSet[] | undefined
}

/**
 * Places them in a cube.
 * @param masked unique names of hierarchies of which the reader sees no true values
 */
export function placeCalculations(
  cube: Pick<Cube, 'dimensions' | 'measures'>,
  { kpis = [], sets = [] }: Declared,
  masked: ReadonlySet<string>,
): Calculations {
  const refused: RefusedCalculation[] = []
  const names: CalculationNames = { cube, masked, sets: new Set<string>(), kpis: new Set<string>() }
  const placed = <Given extends { readonly name: string }, Found>(
    kind: 'kpi' | 'set',
    given: readonly Given[],
    place: (one: Given) => Found,
  ) =>
    given.flatMap((one) => {
      try {
        return [place(one)]
      } catch (thrown) {
        if (!(thrown instanceof Fault) || thrown.kind !== 'bad_request') throw thrown
        refused.push({ kind, name: one.name, why: thrown.publicMessage })
        return []
      }
    })
  const foundSets = placed('set', sets, (set) => placeSet(names, set))
  const foundKpis = placed('kpi', kpis, (kpi) => placeKpi(names, kpi))
  return {
    kpis: foundKpis.map(({ shown }) => shown),
    sets: foundSets,
    formulas: [...foundSets.map(({ formula }) => formula), ...foundKpis.flatMap(({ formulas }) => formulas)],
    refused,
  }
}

/** @throws Fault `bad_request` */
function placeSet(names: CalculationNames, set: NamedSet): CubeSet {
  const { name, label, description = '', folder = '', expression: text, dynamic = false } = set
  if (isInCube(names.cube, name)) refuse(`\`${name}\` is the name of a dimension of the cube.`)
  const expression = parsed(names, text)
  names.sets.add(name)
  return {
    ...{ name, caption: label ?? name, description, folder },
    formula: {
      ...{ kind: 'set', name: [{ kind: 'name', name, quoted: true }], expression, properties: [] },
      ...(!dynamic && { isStatic: true as const }),
    },
  }
}

const metricPattern = new RegExp(metricNamePattern)
const isMetricName = (text: string) => metricPattern.test(text)

/** @throws Fault `bad_request` */
function placeKpi(names: CalculationNames, kpi: Kpi) {
  const { name, label, description = '', folder = '', graphics, parent } = kpi
  const formulas: MdxFormula[] = []
  const own: CalculationNames = { ...names, kpis: new Set(names.kpis).add(name) }
  const parts: Partial<Record<KpiPart, string>> = {}
  for (const part of kpiParts) {
    const text = kpi[part]
    if (text === undefined) continue
    const expression = parsed(own, isMetricName(text) ? uniqueNameOf(measuresName, text) : text)
    if (isMetricName(text)) {
      parts[part] = uniqueNameOf(measuresName, text)
      continue
    }
    // Names of metrics hold no blank, so this one is free.
    const member = `${name} ${part}`
    if (names.cube.measures.some(({ caption }) => caption.toLowerCase() === member))
      refuse(`\`${member}\` is the label of a metric already.`)
    parts[part] = uniqueNameOf(measuresName, member)
    formulas.push({
      ...{ kind: 'member', expression, properties: [], isHidden: true },
      name: [measuresName, member].map((each) => ({ kind: 'name', name: each, quoted: true })),
    })
  }
  if (parent !== undefined && !names.kpis.has(parent))
    refuse(`There is no KPI \`${parent}\` before it that can be its \`parent\`.`)
  names.kpis.add(name)
  const shown: CubeKpi = {
    ...{ name, caption: label ?? name, description, folder, parts: { ...parts, value: parts.value ?? '' } },
    ...{ statusGraphic: graphics?.status ?? '', trendGraphic: graphics?.trend ?? '', parent: parent ?? '' },
  }
  return { shown, formulas }
}

/** An expression whose names are all of the cube. @throws Fault `bad_request` */
function parsed(names: CalculationNames, text: string): MdxExpression {
  const expression = parseMdxText(text)
  const problem = problemOfNames(names, expression, kpiFunctions)
  return problem === undefined ? expression : refuse(problem)
}

function refuse(why: string): never {
  throw new Fault('bad_request', why)
}
