/**
 * Plans EXPLAIN. Everybody has their own statements explained, with the filters and masks that apply to them. Nothing
 * is run, so ANALYZE is refused.
 */

import type { DefElem, ExecuteStmt, ExplainStmt } from 'libpg-query'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { PlanInput, PlanNode } from '../../query/explain/explain-plan.ts'
import { catalogPlan, mixedRefusal } from './catalog-plan.ts'
import { constantText } from './command-plans.ts'
import { DataPlan, planData, textParameters } from './data-plan.ts'
import { commandPlan } from './plan.ts'
import { type PlanOptions, planJson, planLines } from './plan-text.ts'
import type { Plan, PortalBinding } from './portal.ts'
import { queryContext, type SessionState } from './session-state.ts'
import { flag } from './setting-table.ts'
import { innerQuery, type SourceStatement, withinStatement } from './statement.ts'
import { WireError } from './wire-error.ts'

interface ExplainOptions extends PlanOptions {
  readonly json: boolean
}

/**
 * Plans an EXPLAIN.
 * @param oids the parameter types that the client named
 * @throws WireError 0A000 for ANALYZE, a format or a statement that is not supported; 42601 and 22023 for options
 */
export async function planExplain(
  session: SessionState,
  statement: SourceStatement,
  { query, options: given = [] }: ExplainStmt,
  oids: readonly number[],
): Promise<Plan> {
  if (query === undefined) throw new WireError('42601', 'EXPLAIN names no statement.')
  const options = readOptions(given.flatMap((each) => ('DefElem' in each ? each.DefElem : [])))
  const inner = innerQuery(statement, query, (words) => [
    given.length > 0 && words[1] === '('
      ? words.indexOf(')') + 1
      : words.findIndex((word) => !['EXPLAIN', 'VERBOSE', 'ANALYZE', 'ANALYSE'].includes(word)),
    words.length,
  ])
  const source = await withinStatement(statement, inner, sourceOf(session, inner, oids))
  return commandPlan(
    session,
    async (signal, binding) => {
      const explained = unlessAborted(source.explain(binding), signal)
      const node = await withinStatement(statement, source.isOwnText ? inner : undefined, explained)
      const lines = options.json ? [planJson(node, options)] : planLines(node, options)
      return { tag: 'EXPLAIN', rows: lines.map((line) => [line]) }
    },
    { columns: ['QUERY PLAN'], parameterOids: source.parameterOids, ...(options.json && { type: 'json' }) },
  )
}

/** Options of PostgreSQL that ask for more than a plan that was never run can say. */
const withoutEffect = [
  'buffers',
  'settings',
  'generic_plan',
  'wal',
  'timing',
  'summary',
  'memory',
  'serialize',
]

function readOptions(given: readonly DefElem[]): ExplainOptions {
  let [costs, verbose, json] = [true, false, false]
  for (const { defname = '', arg } of given) {
    const text = arg === undefined ? 'on' : optionText(arg)
    if (defname === 'format') json = readFormat(text)
    else if (defname === 'costs') costs = isOn(defname, text)
    else if (defname === 'verbose') verbose = isOn(defname, text)
    else if (defname === 'analyze') {
      if (isOn(defname, text))
        throw new WireError(
          '0A000',
          'EXPLAIN (ANALYZE) is not supported',
          'ERROR',
          'EXPLAIN without ANALYZE shows how the statement would run.',
        )
    } else if (!withoutEffect.includes(defname))
      throw new WireError('42601', `unrecognized EXPLAIN option "${defname}"`)
  }
  return { costs, verbose, json }
}

function optionText(arg: NonNullable<DefElem['arg']>): string {
  if ('String' in arg) return arg.String.sval ?? ''
  if ('Integer' in arg) return String(arg.Integer.ival ?? 0)
  if ('Boolean' in arg) return String(arg.Boolean.boolval ?? false)
  return ''
}

function isOn(name: string, text: string): boolean {
  const value = flag(text)
  if (value === undefined) throw new WireError('42601', `${name} requires a Boolean value`)
  return value === 'on'
}

function readFormat(text: string): boolean {
  const format = text.toLowerCase()
  if (format === 'xml' || format === 'yaml')
    throw new WireError(
      '0A000',
      `EXPLAIN (FORMAT ${format.toUpperCase()}) is not supported`,
      'ERROR',
      'Served: TEXT, JSON.',
    )
  if (format !== 'text' && format !== 'json')
    throw new WireError('22023', `unrecognized value for EXPLAIN option "format": "${text}"`)
  return format === 'json'
}

interface Source {
  readonly parameterOids: readonly number[]
  /** Whether errors are placed in the text of the EXPLAIN, which holds no statement that was prepared before. */
  readonly isOwnText: boolean
  readonly explain: (binding: PortalBinding) => Promise<PlanNode>
}

async function sourceOf(
  session: SessionState,
  { kind, tree, text }: SourceStatement,
  oids: readonly number[],
): Promise<Source> {
  if (kind === 'ExecuteStmt') return preparedSource(session, Reflect.get(tree, kind) as ExecuteStmt)
  if (kind !== 'SelectStmt')
    throw new WireError('0A000', 'EXPLAIN is served for SELECT and for EXECUTE of a prepared SELECT')
  const { catalog } = session.parts
  const owner = catalog?.covers(text) ?? 'data'
  if (catalog !== undefined && owner === 'mixed') throw await mixedRefusal(session, catalog, text, oids)
  if (catalog !== undefined && owner === 'catalog')
    return catalogSource(await catalogPlan(session, catalog, text, oids))
  // Only a statement with parameters is compiled here too, to describe them.
  if (!/\$\d/.test(text)) return dataSource(session, { statement: text, parameters: undefined })
  const { prepared, parameterOids } = await planData(session, text, oids)
  return {
    parameterOids,
    isOwnText: true,
    explain: (binding) =>
      session.parts.explain(queryContext(session), {
        statement: text,
        parameters: textParameters(prepared.parameters, binding),
        parameterTypes: prepared.parameters,
      }),
  }
}

function dataSource(session: SessionState, statement: PlanInput): Source {
  return {
    parameterOids: [],
    isOwnText: true,
    explain: () => session.parts.explain(queryContext(session), statement),
  }
}

/** A statement about the catalog is answered beside the engines, and nothing governs it. */
function catalogSource({ parameterOids }: Plan): Source {
  const node = { type: 'Result', rows: 1, width: 0, output: [], facts: { Engine: 'catalog' } } as const
  return { parameterOids, isOwnText: true, explain: async () => node }
}

/** What clients ask of a statement that they have prepared, with NULL for each parameter. */
function preparedSource(session: SessionState, { name = '', params = [] }: ExecuteStmt): Source {
  const plan = session.statements.get(name)?.plan
  if (plan === undefined) throw new WireError('26000', `prepared statement "${name}" does not exist`)
  if (params.length !== plan.parameterOids.length)
    throw new WireError('42601', `wrong number of parameters for prepared statement "${name}"`)
  if (!(plan instanceof DataPlan)) return { ...catalogSource(plan), parameterOids: [] }
  const { source, parameters } = plan.prepared
  const values = params.map((each) => constantText(each) ?? null)
  return {
    ...dataSource(session, { statement: source, parameters: values, parameterTypes: parameters }),
    isOwnText: false,
  }
}
