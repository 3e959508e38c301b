/** Plans a statement by its kind: the read path, the catalog or the connection runs it, or it is refused. */

import type {
  CopyStmt,
  DeclareCursorStmt,
  ExecuteStmt,
  ExplainStmt,
  FetchStmt,
  Node,
  PrepareStmt,
  SelectStmt,
} from 'libpg-query'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { SqlType } from '../../core/sql-type.ts'
import { typeOid } from '../../core/sql-type.ts'
import { namedType } from '../../query/compile/base/types.ts'
import type { PrepareOptions } from '../../query/query-service.ts'
import { catalogPlan, mixedRefusal } from './catalog-plan.ts'
import { namesSize, planCatalogValues } from './catalog-values.ts'
import { commandPlans, constantText } from './command-plans.ts'
import { planCopy } from './copy-plan.ts'
import { planDeclare, planFetch } from './cursor-plans.ts'
import { planData } from './data-plan.ts'
import { planExplain } from './explain.ts'
import { commandPlan } from './plan.ts'
import type { Plan } from './portal.ts'
import { planSessionFunctions } from './session-functions.ts'
import type { PreparedStatement, SessionState } from './session-state.ts'
import { cannotExecute } from './spoken-command.ts'
import { innerQuery, queryBehind, type SourceStatement, withinStatement } from './statement.ts'
import { WireError } from './wire-error.ts'

/** Estimated memory of a connection's prepared statements: texts, columns and parsed trees. */
const pgwirePreparedBytesMax = 64 * 1024 * 1024

/** Prepared statements of one connection. */
const pgwirePreparedMax = 1_000

/**
 * Plans one statement.
 * @param oids the parameter types that the client named
 * @param options whether the client has already asked to run the statement
 * @throws SqlError; WireError
 */
export async function planStatement(
  session: SessionState,
  statement: SourceStatement,
  oids: readonly number[],
  options: PrepareOptions = {},
): Promise<Plan> {
  const tree = Reflect.get(statement.tree, statement.kind)
  const planQuery = (query: SourceStatement, types: readonly number[]) =>
    withinStatement(statement, query, planStatement(session, query, types))
  switch (statement.kind) {
    case 'SelectStmt':
      return (
        planSessionFunctions(session, tree as SelectStmt) ??
        (await planQueryText(session, statement.text, oids, options))
      )
    case 'DeclareCursorStmt':
      return await planDeclare(session, statement, tree as DeclareCursorStmt, oids, planQuery)
    case 'FetchStmt':
      return planFetch(session, tree as FetchStmt)
    case 'CopyStmt':
      return await planCopy(session, statement, tree as CopyStmt)
    case 'ExplainStmt':
      return await planExplain(session, statement, tree as ExplainStmt, oids)
    case 'PrepareStmt':
      return planPrepare(session, statement, tree as PrepareStmt)
    case 'ExecuteStmt':
      return planExecute(session, tree as ExecuteStmt)
    default: {
      const plan = commandPlans[statement.kind]
      if (plan !== undefined) return plan(session, statement)
      throw cannotExecute(statement.kind, statement.text)
    }
  }
}

async function planQueryText(
  session: SessionState,
  text: string,
  oids: readonly number[],
  options: PrepareOptions,
): Promise<Plan> {
  const { catalog } = session.parts
  const owner = catalog?.covers(text) ?? 'data'
  if (catalog !== undefined && (owner === 'mixed' || namesSize(text))) {
    const plan = await planCatalogValues(session, catalog, text, oids, options)
    if (plan !== undefined) return plan
    if (owner === 'mixed') throw await mixedRefusal(session, catalog, text, oids)
  }
  if (catalog !== undefined && owner === 'catalog') return await catalogPlan(session, catalog, text, oids)
  return await planData(session, text, oids, options)
}

function planPrepare(session: SessionState, statement: SourceStatement, tree: PrepareStmt): Plan {
  const { name = '', query, argtypes = [] } = tree
  if (query === undefined) throw new WireError('42601', 'PREPARE names no statement.')
  const oids = argtypes.map((each) => catalogTypes.get(typeName(each)) ?? typeOid(typeNamed(each)))
  const inner = innerQuery(statement, query, queryBehind('AS'))
  if (inner.kind !== 'SelectStmt') throw new WireError('25006', 'only SELECT can be prepared here')
  return commandPlan(session, async (signal) => {
    const planned = unlessAborted(planStatement(session, inner, oids, { signal }), signal)
    const plan = await withinStatement(statement, inner, planned)
    addStatement(session, name, { text: statement.text, plan, ends: false, isFromSql: true })
    return { tag: 'PREPARE' }
  })
}

/** Bytes that a statement's tree takes for each character of its text. */
const treeBytesPerCharacter = 200

/**
 * Adds a prepared statement.
 * @throws WireError 42P05 where the name is taken
 * @throws WireError 54000 where the connection has too many prepared statements, or they hold too many bytes
 */
export function addStatement(
  { statements, parts }: SessionState,
  name: string,
  prepared: Pick<PreparedStatement, 'text' | 'plan' | 'ends' | 'isFromSql'>,
): void {
  const { plan, text } = prepared
  if (name !== '' && statements.has(name))
    throw new WireError('42P05', `prepared statement "${name}" already exists`)
  if (statements.size >= pgwirePreparedMax)
    throw new WireError('54000', `A connection has at most ${pgwirePreparedMax} prepared statements.`)
  const heldBytes = plan.heldBytes ?? text.length * treeBytesPerCharacter
  const held = [...statements.values()].reduce((sum, each) => sum + each.heldBytes, heldBytes)
  if (held > pgwirePreparedBytesMax)
    throw new WireError(
      '54000',
      `The prepared statements of a connection hold at most ${pgwirePreparedBytesMax} bytes.`,
    )
  statements.set(name, { ...prepared, preparedAtMs: parts.clock.now(), heldBytes })
}

/** Types of parameters that statements about the catalog have, with their OIDs. */
const catalogTypes: ReadonlyMap<string, number> = new Map([
  ['oid', 26],
  ['name', 19],
])

function typeName(node: Node): string {
  const last = 'TypeName' in node ? node.TypeName.names?.at(-1) : undefined
  return last !== undefined && 'String' in last ? (last.String.sval ?? '') : ''
}

function typeNamed(node: Node): SqlType {
  const name = typeName(node)
  const type = namedType(name)
  if (type === undefined) throw new WireError('42704', `type "${name}" does not exist`)
  return 'TypeName' in node && node.TypeName.arrayBounds !== undefined ? `${type}[]` : type
}

function planExecute(session: SessionState, { name = '', params = [] }: ExecuteStmt): Plan {
  const prepared = () => {
    const found = session.statements.get(name)
    if (found === undefined) throw new WireError('26000', `prepared statement "${name}" does not exist`)
    // An EXECUTE could execute itself, directly or indirectly, and never end.
    if (found.plan.isExecute)
      throw new WireError('0A000', 'EXECUTE of a statement that is EXECUTE is not supported')
    return found.plan
  }
  const parameters = params.map((each) => {
    const text = constantText(each)
    return text === undefined ? null : Buffer.from(text)
  })
  return {
    parameterOids: [],
    isExecute: true,
    describe: (outbox) => prepared().describe(outbox),
    open: async ({ resultFormats }) => {
      const plan = prepared()
      if (parameters.length !== plan.parameterOids.length)
        throw new WireError('42601', `wrong number of parameters for prepared statement "${name}"`)
      return await plan.open({ parameters, parameterFormats: [], resultFormats })
    },
  }
}
