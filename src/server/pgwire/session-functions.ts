/** Plans a SELECT of functions that change the connection. Like SET, the connection runs it and never forwards it. */

import type { FuncCall, Node, SelectStmt } from 'libpg-query'
import { type SqlType, typeOid } from '../../core/sql-type.ts'
import { constantText } from './command-plans.ts'
import { textParameters } from './data-plan.ts'
import { formatsFor, RowsPortal, textRows, writeDescription } from './plan.ts'
import type { Plan } from './portal.ts'
import type { SessionState } from './session-state.ts'
import { settingTable } from './setting-table.ts'
import { WireError } from './wire-error.ts'

interface SessionFunction {
  readonly argumentTypes: readonly SqlType[]
  /** Whether the function changes the connection, so that the connection must run the SELECT. */
  readonly changes: boolean
  readonly call: (session: SessionState, args: readonly string[]) => string
}

const functions: Readonly<Record<string, SessionFunction>> = {
  set_config: {
    argumentTypes: ['text', 'text', 'bool'],
    changes: true,
    call({ settings, transaction }, [name = '', value = '', local = '']) {
      const isLocal = /^(t|true|on|yes|1)$/i.test(local)
      if (!isLocal || transaction.isBlock) settings.set(name, value, isLocal)
      return settings.get(name)
    },
  },
  current_setting: {
    argumentTypes: ['text'],
    changes: false,
    call: ({ settings }, [name = '']) => settings.get(name),
  },
  // There are no locks to release.
  pg_advisory_unlock_all: { argumentTypes: [], changes: true, call: () => '' },
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
  const columns = targets.map(({ name }) => ({ name, type: 'text' as SqlType }))
  const parameterTypes = typesOfParameters(targets)
  return {
    parameterOids: parameterTypes.map(typeOid),
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
 * Plans `SELECT set_config(name, …) FROM pg_settings WHERE name = …`, by which pg_dump sets a parameter where there is
 * one, and nothing where there is none.
 * @returns undefined for any other SELECT
 */
function planWhereThere(session: SessionState, select: SelectStmt): Plan | undefined {
  const [target, ...others] = (select.targetList ?? []).map(readTarget)
  const [from, ...more] = select.fromClause ?? []
  const where =
    select.whereClause !== undefined && 'A_Expr' in select.whereClause ? select.whereClause : undefined
  if (
    target === undefined ||
    target.function !== functions.set_config ||
    others.length > 0 ||
    more.length > 0
  )
    return undefined
  if (from === undefined || !('RangeVar' in from) || from.RangeVar.relname !== 'pg_settings') return undefined
  const { lexpr, rexpr } = where?.A_Expr ?? {}
  const [first, ...args] = target.args
  if (!isNameColumn(lexpr) || !isNameColumn(first) || rexpr === undefined || !('A_Const' in rexpr))
    return undefined
  const name = constantText(rexpr) ?? ''
  const columns = [{ name: target.name, type: 'text' as SqlType }]
  const rows = () => {
    if (!Object.hasOwn(settingTable, name)) return []
    return [[target.function.call(session, [name, ...args.map((arg) => argumentText(arg, []))])]]
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

function isNameColumn(node: Node | undefined): boolean {
  const fields = node !== undefined && 'ColumnRef' in node ? (node.ColumnRef.fields ?? []) : []
  return (
    fields.length === 1 &&
    fields[0] !== undefined &&
    'String' in fields[0] &&
    fields[0].String.sval === 'name'
  )
}

function readTarget(node: Node): Target | undefined {
  const target = 'ResTarget' in node ? node.ResTarget : undefined
  const call = target?.val !== undefined && 'FuncCall' in target.val ? target.val.FuncCall : undefined
  const name = call && functionName(call)
  const found = name !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined
  const args = call?.args ?? []
  if (name === undefined || found === undefined || args.length !== found.argumentTypes.length)
    return undefined
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
