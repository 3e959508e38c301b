/** Plans the statements that a connection answers itself: settings, transactions, cursors and resets. */

import type {
  ClosePortalStmt,
  DeallocateStmt,
  DiscardStmt,
  LockStmt,
  Node,
  TransactionStmt,
  VariableSetStmt,
  VariableShowStmt,
} from 'libpg-query'
import { commandPlan } from './plan.ts'
import type { Plan } from './portal.ts'
import { closePortal, closePortals, endPortals, type SessionState } from './session-state.ts'
import { quoteName, settingTable, spelled } from './setting-table.ts'
import type { SourceStatement } from './statement.ts'
import { WireError } from './wire-error.ts'

/** A constant of SET, EXECUTE or set_config as text; undefined for NULL. @throws WireError 0A000 for other nodes */
export function constantText(node: Node | undefined): string | undefined {
  if (node !== undefined && 'TypeCast' in node) return constantText(node.TypeCast.arg)
  const constant = node !== undefined && 'A_Const' in node ? node.A_Const : undefined
  if (constant === undefined) throw new WireError('0A000', 'Only constants are supported here.')
  if (constant.isnull) return undefined
  if (constant.sval !== undefined) return constant.sval.sval ?? ''
  if (constant.ival !== undefined) return String(constant.ival.ival ?? 0)
  if (constant.fval !== undefined) return constant.fval.fval ?? '0'
  if (constant.boolval !== undefined) return constant.boolval.boolval ? 'true' : 'false'
  throw new WireError('0A000', 'Constants of this kind are not supported here.')
}

type PlanCommand<Tree> = (session: SessionState, tree: Tree) => Plan

const identityNames = new Set(['role', 'session_authorization'])

const planSet: PlanCommand<VariableSetStmt> = (session, { kind, name = '', args = [], is_local }) => {
  const { settings, transaction } = session
  const isReset = kind === 'VAR_RESET' || kind === 'VAR_RESET_ALL'
  return commandPlan(session, () => {
    if (identityNames.has(name)) setIdentity(session, name, isReset ? [] : args)
    else if (kind === 'VAR_RESET_ALL') settings.resetAll()
    else if (kind === 'VAR_RESET') settings.reset(name, false)
    else if (kind === 'VAR_SET_DEFAULT') setDefault(session, name, is_local === true)
    else if (kind === 'VAR_SET_VALUE') setValue(session, name, args, is_local === true)
    else if (kind === 'VAR_SET_MULTI') {
      // SET TRANSACTION and SESSION CHARACTERISTICS have no effect, because all transactions are read-only.
      if (name === 'TRANSACTION SNAPSHOT') throw new WireError('0A000', 'Snapshots cannot be imported.')
    } else throw new WireError('0A000', 'SET … FROM CURRENT is not supported.')
    if (is_local && !transaction.isBlock)
      session.notice('WARNING', '25P01', 'SET LOCAL can only be used in transaction blocks')
    return { tag: isReset ? 'RESET' : 'SET' }
  })
}

function setValue(
  { settings, transaction }: SessionState,
  name: string,
  args: readonly Node[],
  local: boolean,
): void {
  if (local && !transaction.isBlock) return
  const texts = args.map((arg) => constantText(arg) ?? '')
  const isList = name.toLowerCase() === 'search_path'
  settings.set(name, isList ? texts.map(quoteName).join(', ') : texts.join(', '), local)
}

function setDefault({ settings, transaction }: SessionState, name: string, local: boolean): void {
  if (!local || transaction.isBlock) settings.reset(name, local)
}

/** A connection cannot change its principal. Setting its own identity again has no effect. */
function setIdentity({ reader }: SessionState, name: string, args: readonly Node[]): void {
  const [value] = args.map((arg) => constantText(arg))
  const isOwn = value === undefined || value === reader.principal.sub || (name === 'role' && value === 'none')
  if (!isOwn) throw new WireError('42501', `permission denied to set ${name.replace('_', ' ')}`)
}

const planShow: PlanCommand<VariableShowStmt> = (session, { name = '' }) => {
  const { settings } = session
  if (name === 'all') {
    const rows = () => [...settings.all()].map(([each, value]) => [spelled(each), value, ''])
    return commandPlan(session, () => ({ tag: 'SHOW', rows: rows() }), {
      columns: ['name', 'setting', 'description'],
    })
  }
  if (name === 'role')
    return commandPlan(session, () => ({ tag: 'SHOW', rows: [['none']] }), { columns: ['role'] })
  settings.get(name)
  return commandPlan(session, () => ({ tag: 'SHOW', rows: [[settings.get(name)]] }), {
    columns: [settingTable[name.toLowerCase()] === undefined ? name : spelled(name.toLowerCase())],
  })
}

/** Whether a statement ends a transaction. A failed transaction accepts no others. */
export function endsTransaction({ kind, tree }: SourceStatement): boolean {
  const ending: unknown = kind === 'TransactionStmt' && Reflect.get(Reflect.get(tree, kind), 'kind')
  return ['TRANS_STMT_COMMIT', 'TRANS_STMT_ROLLBACK', 'TRANS_STMT_ROLLBACK_TO'].includes(String(ending))
}

const planTransaction: PlanCommand<TransactionStmt> = (
  session,
  { kind, savepoint_name: name = '', chain },
) => {
  const { transaction } = session
  const end = (commit: boolean) => {
    if (transaction.status === 'I') {
      if (chain) {
        const what = commit ? 'COMMIT' : 'ROLLBACK'
        throw new WireError('25P01', `${what} AND CHAIN can only be used in transaction blocks`)
      }
      session.notice('WARNING', '25P01', 'there is no transaction in progress')
    }
    const committed = transaction.end(commit)
    endPortals(session, committed)
    if (chain) transaction.begin()
    return { tag: committed ? 'COMMIT' : 'ROLLBACK' }
  }
  switch (kind) {
    case 'TRANS_STMT_BEGIN':
    case 'TRANS_STMT_START':
      return commandPlan(session, () => {
        if (!transaction.begin())
          session.notice('WARNING', '25001', 'there is already a transaction in progress')
        return { tag: kind === 'TRANS_STMT_BEGIN' ? 'BEGIN' : 'START TRANSACTION' }
      })
    case 'TRANS_STMT_COMMIT':
      return commandPlan(session, () => end(true))
    case 'TRANS_STMT_ROLLBACK':
      return commandPlan(session, () => end(false))
    case 'TRANS_STMT_SAVEPOINT':
      return commandPlan(session, () => {
        transaction.savepoint(name, new Set(session.portals.values()))
        return { tag: 'SAVEPOINT' }
      })
    case 'TRANS_STMT_RELEASE':
      return commandPlan(session, () => {
        transaction.release(name)
        return { tag: 'RELEASE' }
      })
    case 'TRANS_STMT_ROLLBACK_TO':
      return commandPlan(session, () => {
        const kept = transaction.rollbackTo(name)
        closePortals(session, (open) => kept.has(open))
        return { tag: 'ROLLBACK' }
      })
    default:
      throw new WireError('0A000', 'Two-phase transactions are not supported.')
  }
}

const planDiscard: PlanCommand<DiscardStmt> = (session, { target }) =>
  commandPlan(session, () => {
    if (target !== 'DISCARD_ALL') return { tag: target?.replace('_', ' ') ?? 'DISCARD' }
    if (session.transaction.isBlock)
      throw new WireError('25001', 'DISCARD ALL cannot run inside a transaction block')
    closePortals(session, () => false)
    session.statements.clear()
    session.settings.resetAll()
    return { tag: 'DISCARD ALL' }
  })

const planDeallocate: PlanCommand<DeallocateStmt> = (session, { name = '', isall }) =>
  commandPlan(session, () => {
    if (isall) session.statements.clear()
    else if (!session.statements.delete(name))
      throw new WireError('26000', `prepared statement "${name}" does not exist`)
    return { tag: isall ? 'DEALLOCATE ALL' : 'DEALLOCATE' }
  })

const planClose: PlanCommand<ClosePortalStmt> = (session, { portalname: name }) =>
  commandPlan(session, () => {
    if (name === undefined) closePortals(session, () => false)
    else if (!closePortal(session, name)) throw new WireError('34000', `cursor "${name}" does not exist`)
    return { tag: name === undefined ? 'CLOSE CURSOR ALL' : 'CLOSE CURSOR' }
  })

/** Nothing is written here, so that readers have their lock without one. */
const planLock: PlanCommand<LockStmt> = (session, { mode }) => {
  if (mode !== accessShare)
    throw new WireError('25006', 'cannot execute LOCK TABLE in a read-only transaction')
  return commandPlan(session, () => {
    if (!session.transaction.isBlock)
      throw new WireError('25P01', 'LOCK TABLE can only be used in transaction blocks')
    return { tag: 'LOCK TABLE' }
  })
}

/** The lock that every SELECT takes, by its number in PostgreSQL. */
const accessShare = 1

/** Refuses LISTEN, because no notification is ever sent and the client would wait forever. */
const refuseListening = (what: string) => () => {
  throw new WireError('25006', `cannot execute ${what}: notifications are not supported`)
}

/** Plans by kind of statement. */
export const commandPlans: Readonly<
  Record<string, ((session: SessionState, statement: SourceStatement) => Plan) | undefined>
> = {
  VariableSetStmt: of(planSet),
  VariableShowStmt: of(planShow),
  TransactionStmt: of(planTransaction),
  DiscardStmt: of(planDiscard),
  DeallocateStmt: of(planDeallocate),
  ClosePortalStmt: of(planClose),
  LockStmt: of(planLock),
  ListenStmt: refuseListening('LISTEN'),
  NotifyStmt: refuseListening('NOTIFY'),
  UnlistenStmt: (session) => commandPlan(session, () => ({ tag: 'UNLISTEN' })),
}

/** Unwraps the tree of a statement, which lies in a node that is named after its kind. */
function of<Tree>(plan: PlanCommand<Tree>) {
  return (session: SessionState, { kind, tree }: SourceStatement): Plan =>
    plan(session, Reflect.get(tree, kind) as Tree)
}
