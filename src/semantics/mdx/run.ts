/**
 * Runs an MDX statement for one reader: parse, resolve against the cubes that they may see, read in rounds what is needed,
 * and answer as a cellset, as rows, or with nothing. A failure is a Fault that names what is not supported.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { leavesOf } from '../../core/semantic-model.ts'
import type { QueryContext, QueryService, SessionCheck } from '../../query/query-service.ts'
import { loadSemanticModel } from '../../store/semantics/load-model.ts'
import type { Store } from '../../store/store.ts'
import type { MdxFrom, MdxSelect, MdxStatement } from '../../wire/mdx/ast.ts'
import { withParameters } from '../../wire/mdx/parameters.ts'
import { parseMdx } from '../../wire/mdx/parse.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { buildCubes } from '../cube/build-cubes.ts'
import { type Cube, type Measure, measuresName } from '../cube/model.ts'
import type { MdxBounds } from './bounds.ts'
import { mdxRunBounds } from './bounds.ts'
import type { Cellset } from './cellset.ts'
import { readDetails } from './drillthrough.ts'
import type { EvaluationTask } from './evaluation.ts'
import type { MdxEvaluator } from './evaluator.ts'
import { findNamed } from './find-named.ts'
import { type NeedReader, readNeeds } from './read-needs.ts'
import { created, type SessionFormula, withoutDropped } from './session.ts'
import { spaceOf } from './space.ts'
import type { NeedStatement } from './statements.ts'
import type { Tabular } from './tabular.ts'

interface MdxParts {
  readonly store: Store
  readonly clock: Clock
  readonly queries: QueryService
  readonly evaluator: MdxEvaluator
}

export interface MdxRequest {
  readonly statement: string
  readonly format: 'multidimensional' | 'tabular'
  /** Values of `@name`, which are texts. */
  readonly parameters?: ReadonlyMap<string, string>
  /** What the session defined, in order. */
  readonly session: readonly SessionFormula[]
  /** The cube that CURRENTCUBE stands for, where the message names one. */
  readonly currentCube?: string | undefined
  /** Those of the reader in this catalog; read where absent. */
  readonly cubes?: readonly Cube[] | undefined
}

export interface MdxRunOptions {
  readonly signal: AbortSignal
  readonly bounds?: Partial<MdxBounds>
  readonly sessionCheck?: SessionCheck
}

/** A statement that was run. */
interface MdxRead extends NeedStatement {
  readonly queryId: string
}

export type MdxAnswer =
  | { readonly kind: 'cellset'; readonly cellset: Cellset; readonly reads: readonly MdxRead[] }
  | { readonly kind: 'tabular'; readonly tabular: Tabular; readonly reads: readonly MdxRead[] }
  /** `session`: what the session defines from now on. */
  | { readonly kind: 'empty'; readonly session: readonly SessionFormula[] }

/**
 * Runs a statement.
 * @param on of the reader: the catalog is where the cubes are
 * @throws Fault `bad_request` for what is not supported, is unknown or may not be seen; SqlError of the read path
 */
export async function runMdx(
  parts: MdxParts,
  on: QueryContext,
  request: MdxRequest,
  options: MdxRunOptions,
): Promise<MdxAnswer> {
  try {
    return await run(parts, on, request, options)
  } catch (thrown) {
    // Only what nests too deep for the stack.
    if (thrown instanceof RangeError)
      throw new Fault('bad_request', 'MDX: the statement is too complex.', { cause: thrown })
    throw thrown
  }
}

async function run(
  parts: MdxParts,
  on: QueryContext,
  request: MdxRequest,
  { signal, bounds: given, sessionCheck }: MdxRunOptions,
): Promise<MdxAnswer> {
  const statement = withParameters(parseMdx(request.statement), request.parameters ?? new Map())
  const bounds: MdxBounds = { ...mdxRunBounds, ...given }
  const { store, clock, queries, evaluator } = parts
  const { tenant, principal, catalog } = on
  const cubes = request.cubes ?? (await buildCubes({ store, clock, tenant, principal, catalog, signal }))
  const cube = cubeNamed(cubes, cubeNameOf(statement) || currentCube(cubes, request.currentCube))
  const space = spaceOf(cube)
  const session = request.session.filter((each) => each.cube === cube.name)
  if (statement.kind === 'refresh') return { kind: 'empty', session: request.session }
  if (statement.kind === 'create')
    return { kind: 'empty', session: created(space, statement, request.session) }
  if (statement.kind === 'drop')
    return { kind: 'empty', session: withoutDropped(space, statement, request.session) }
  const { model } = await loadSemanticModel(store, tenant, clock.now(), signal)
  const reads: MdxRead[] = []
  const mentioned = mentionedMeasures(cube, request.statement)
  const isGrouped = new Map(
    cube.measures.map(({ name }) => [
      name,
      // A metric that does not add up over time is computed for one combination at a time.
      leavesOf(model, name)?.every(
        ({ definition: { computation } }) =>
          computation.kind !== 'simple' || computation.semiAdditive === undefined,
      ) ?? false,
    ]),
  )
  const reader: NeedReader = {
    ...{ queries, on, cube, signal, sessionCheck },
    speculative: statement.kind === 'select' && isSlicedByMeasures(statement) ? mentioned : [],
    rowsMax: bounds.rowsMax,
    deadlineMs: performance.now() + bounds.timeMs,
    grouped: (name) => isGrouped.get(name) ?? false,
    note: (read) => reads.push(read),
  }
  const task: EvaluationTask = {
    ...{ cube, statement, bounds, format: request.format, nowMs: clock.now() },
    formulas: [...cube.formulas, ...session.map(({ formula }) => formula)],
    mentioned: mentioned.map(({ name }) => name),
    grouped: [...isGrouped].flatMap(([name, is]) => (is ? [name] : [])),
  }
  const found = await evaluator.evaluate(task, {
    tenant,
    signal,
    read: (needs, sink, within) => readNeeds({ ...reader, signal: within }, needs, sink),
  })
  switch (found.kind) {
    case 'cellset':
      return { kind: 'cellset', cellset: { ...found.cellset, cube }, reads }
    case 'tabular':
      return { kind: 'tabular', tabular: found.tabular, reads }
    case 'drill': {
      if (statement.kind !== 'drillthrough') throw new Error('details of another statement')
      const isAttested = (name: string) =>
        [name, ...(leavesOf(model, name) ?? []).map((leaf) => leaf.name)].some((each) =>
          model.attestations.has(each),
        )
      const tabular = await readDetails(reader, statement, found.target, isAttested)
      return { kind: 'tabular', tabular, reads }
    }
  }
}

/** Whether values are of the same rows as members: no slicer, or one measure. */
function isSlicedByMeasures({ where }: MdxSelect): boolean {
  const only = where?.kind === 'tuple' && where.items.length === 1 ? where.items[0] : where
  const [first] = only?.kind === 'name' ? only.parts : []
  return only === undefined || (first?.kind === 'name' && isSameName(first.name, measuresName))
}

function mentionedMeasures({ measures }: Cube, statement: string): readonly Measure[] {
  const text = statement.toLowerCase()
  return measures.filter(({ name }) => text.includes(`[${name}]`.toLowerCase()))
}

/** The name of the cube that a statement is about; empty or undefined for that of the message. */
function cubeNameOf(statement: MdxStatement): string | undefined {
  switch (statement.kind) {
    case 'select':
      return sourceOf(statement.from)
    case 'drillthrough':
      return sourceOf(statement.select.from)
    default:
      return statement.cube
  }
}

const sourceOf = (from: MdxFrom): string => (from.kind === 'cube' ? from.name : sourceOf(from.from))
const isSameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** The cube of the message, or the only one. @throws Fault `bad_request` where neither is there */
function currentCube(cubes: readonly Cube[], named: string | undefined): string {
  const [only, ...more] = cubes
  if (named !== undefined && named !== '') return named
  return only !== undefined && more.length === 0
    ? only.name
    : refuseMdx('CURRENTCUBE stands for no cube here: name the cube, or give the property Cube')
}

/** @throws Fault `bad_request` for a cube that does not exist or may not be seen */
function cubeNamed(cubes: readonly Cube[], name: string): Cube {
  return findNamed(cubes, (cube) => [cube.name], name) ?? refuseMdx('there is no such cube in this catalog')
}
