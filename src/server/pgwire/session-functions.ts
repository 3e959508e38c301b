/** Plans a SELECT of functions that change the connection. Like SET, the connection runs it and never forwards it. */

import type { FuncCall, Node, SelectStmt } from 'libpg-query'
import { type SqlType, typeOid } from '../../core/sql-type.ts'
import { constantText } from './command-plans.ts'
import { textParameters } from './data-plan.ts'
import { formatsFor, RowsPortal, textRows, writeDescription } from './plan.ts'
import type { Plan } from './portal.ts'
import type { SessionState } from './session-state.ts'
import { settingTable, spelled } from './setting-table.ts'
import { WireError } from './wire-error.ts'

interface SessionFunction {
  readonly argumentTypes: readonly SqlType[]
  /** How many arguments it takes at least; all where absent. */
  readonly argumentsMin?: number
  readonly type: 'text' | 'bool'
  /** Whether the function changes the connection, so that the connection must run the SELECT. */
  readonly changes: boolean
  readonly call: (session: SessionState, args: readonly string[]) => string
}

const functions: Readonly<Record<string, SessionFunction>> = {
  set_config: {
    type: 'text',
    argumentTypes: ['text', 'text', 'bool'],
    changes: true,
    call({ settings, transaction }, [name = '', value = '', local = '']) {
      const isLocal = /^(t|true|on|yes|1)$/i.test(local)
      if (!isLocal || transaction.isBlock) settings.set(name, value, isLocal)
      return settings.get(name)
    },
  },
  current_setting: {
    type: 'text',
    argumentTypes: ['text'],
    changes: false,
    call: ({ settings }, [name = '']) => settings.get(name),
  },
  // There are no locks to release, because none is taken (compile/resolve/absent-locks.ts).
  pg_advisory_unlock_all: { type: 'text', argumentTypes: [], changes: true, call: () => '' },
  pg_advisory_unlock: unlock('ExclusiveLock'),
  pg_advisory_unlock_shared: unlock('ShareLock'),
}

/** Says as PostgreSQL does that the connection has no such lock. */
function unlock(lock: string): SessionFunction {
  return {
    type: 'bool',
    argumentTypes: ['int8', 'int4'],
    argumentsMin: 1,
    changes: true,
    call(session) {
      session.notice('WARNING', '01000', `you don't own a lock of type ${lock}`)
      return 'f'
    },
  }
}

const plainFields = new Set(['targetList', 'op', 'limitOption'])

interface Target {
  readonly name: string
  readonly function: SessionFunction
  readonly args: readonly Node[]
}

/**
 * Plans a SELECT whose targets are all such calls, and of which one changes the connection.
 * @returns undefined for any other SELECT
 * @throws WireError 0A000 for arguments that are neither constants nor parameters
 */
export function planSessionFunctions(session: SessionState, select: SelectStmt): Plan | undefined {
  const whereThere = planWhereThere(session, select)
  if (whereThere !== undefined) return whereThere
  const isPlain = Object.keys(select).every((key) => plainFields.has(key)) && select.op === 'SETOP_NONE'
  const targets = isPlain ? (select.targetList ?? []).map(readTarget) : []
  if (targets.length === 0 || !targets.every((each) => each !== undefined)) return undefined
  if (!targets.some((each) => each.function.changes)) return undefined
  const columns = targets.map(({ name, function: { type } }) => ({ name, type }))
  const parameterTypes = typesOfParameters(targets)
  return {
    parameterOids: parameterTypes.map(typeOid),
    resultOids: columns.map(({ type }) => typeOid(type)),
    describe: (outbox) => writeDescription(outbox, columns, () => 0),
    open: async (binding) => {
      const formatOf = formatsFor(binding.resultFormats, columns.length)
      const parameters = textParameters(parameterTypes, binding)
      const evaluate = () =>
        targets.map(({ function: { call }, args }) =>
          call(
            session,
            args.map((arg) => argumentText(arg, parameters)),
          ),
        )
      return new RowsPortal(session, columns, formatOf, 'SELECT', () => textRows(columns, [evaluate()]))
    },
  }
}

/**
 * Plans `SELECT set_config(…) FROM pg_settings WHERE name = …`, also of `pg_show_all_settings()`, by which pg_dump and
 * pgAdmin set a parameter where there is one, and nothing where there is none.
 * @returns undefined for any other SELECT
 */
function planWhereThere(session: SessionState, select: SelectStmt): Plan | undefined {
  const [target, ...others] = (select.targetList ?? []).map(readTarget)
  const isOther = target?.function !== functions.set_config || others.length > 0
  if (target === undefined || isOther || !isOfSettings(select)) return undefined
  const name = comparedName(select.whereClause)
  const [first, ...rest] = target.args
  if (name === undefined || first === undefined) return undefined
  const columns = [{ name: target.name, type: 'text' as SqlType }]
  const rows = () => {
    const isThere = Object.hasOwn(settingTable, name.toLowerCase()) && spelled(name.toLowerCase()) === name
    const set = isNameColumn(first) ? name : argumentText(first, [])
    const args = rest.map((arg) => argumentText(arg, []))
    return isThere ? [[target.function.call(session, [set, ...args])]] : []
  }
  return {
    parameterOids: [],
    describe: (outbox) => writeDescription(outbox, columns, () => 0),
    open: async ({ resultFormats }) =>
      new RowsPortal(session, columns, formatsFor(resultFormats, 1), 'SELECT', () =>
        textRows(columns, rows()),
      ),
  }
}

const whereThereFields = new Set(['targetList', 'fromClause', 'whereClause', 'op', 'limitOption'])

/** Whether a SELECT reads the settings, and does nothing else than to filter them. */
function isOfSettings(select: SelectStmt): boolean {
  const [from, ...more] = select.fromClause ?? []
  if (from === undefined || more.length > 0) return false
  if (!Object.keys(select).every((key) => whereThereFields.has(key))) return false
  if ('RangeVar' in from) {
    const { relname, schemaname } = from.RangeVar
    return relname === 'pg_settings' && (schemaname === undefined || schemaname === 'pg_catalog')
  }
  const [called, ...others] = 'RangeFunction' in from ? (from.RangeFunction.functions ?? []) : []
  const [call] = called !== undefined && 'List' in called ? (called.List.items ?? []) : []
  const isCall = call !== undefined && 'FuncCall' in call && call.FuncCall.args === undefined
  return isCall && others.length === 0 && functionName(call.FuncCall) === 'pg_show_all_settings'
}

/** The constant with which a condition compares the name. */
function comparedName(where: Node | undefined): string | undefined {
  const expr = where !== undefined && 'A_Expr' in where ? where.A_Expr : undefined
  const [sign, ...more] = expr?.name ?? []
  const isEqual = sign !== undefined && 'String' in sign && sign.String.sval === '=' && more.length === 0
  if (expr === undefined || expr.kind !== 'AEXPR_OP' || !isEqual) return undefined
  const { lexpr, rexpr } = expr
  const other = isNameColumn(lexpr) ? rexpr : isNameColumn(rexpr) ? lexpr : undefined
  const constant = other !== undefined && 'TypeCast' in other ? other.TypeCast.arg : other
  return constant !== undefined && 'A_Const' in constant ? (constantText(constant) ?? '') : undefined
}

function isNameColumn(node: Node | undefined): boolean {
  const last = node !== undefined && 'ColumnRef' in node ? node.ColumnRef.fields?.at(-1) : undefined
  return last !== undefined && 'String' in last && last.String.sval === 'name'
}

function readTarget(node: Node): Target | undefined {
  const target = 'ResTarget' in node ? node.ResTarget : undefined
  const call = target?.val !== undefined && 'FuncCall' in target.val ? target.val.FuncCall : undefined
  const name = call && functionName(call)
  const found = name !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined
  const args = call?.args ?? []
  if (name === undefined || found === undefined) return undefined
  const { argumentTypes, argumentsMin = argumentTypes.length } = found
  if (args.length < argumentsMin || args.length > argumentTypes.length) return undefined
  return { name: target?.name ?? name, function: found, args }
}

function functionName({ funcname = [] }: FuncCall): string | undefined {
  const names = funcname.map((each) => ('String' in each ? each.String.sval : undefined))
  return names.length === 1 || (names.length === 2 && names[0] === 'pg_catalog') ? names.at(-1) : undefined
}

function parameterNumber(node: Node): number | undefined {
  if ('TypeCast' in node && node.TypeCast.arg !== undefined) return parameterNumber(node.TypeCast.arg)
  return 'ParamRef' in node ? node.ParamRef.number : undefined
}

function typesOfParameters(targets: readonly Target[]): readonly SqlType[] {
  const types: SqlType[] = []
  for (const { args, function: called } of targets)
    for (const [index, arg] of args.entries()) {
      const number = parameterNumber(arg)
      if (number === undefined) continue
      if (number < 1 || number > 100) throw new WireError('42P02', `there is no parameter $${number}`)
      types[number - 1] = called.argumentTypes[index] ?? 'text'
    }
  return Array.from(types, (type) => type ?? 'text')
}

function argumentText(node: Node, parameters: readonly (string | null)[]): string {
  const number = parameterNumber(node)
  return number === undefined ? (constantText(node) ?? '') : (parameters[number - 1] ?? '')
}
