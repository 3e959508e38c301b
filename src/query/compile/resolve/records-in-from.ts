/** Writes JSON documents as rows of named and typed columns: jsonb_to_recordset and its like, as a subquery. */

import type { Node, RangeFunction, RangeSubselect, SelectStmt } from 'libpg-query'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { identifierOf } from './context.ts'
import { readTypeName } from './type-name.ts'

/** No statement can name it, because the parser folds no name to it. */
const element = 'Element'

/** @throws SqlError 42601 where another function has a list of columns; 0A000 for an array among them */
export function recordsOf({ coldeflist = [], alias, ordinality }: RangeFunction, call: Node): RangeSubselect {
  const { funcname = [], args = [], location } = 'FuncCall' in call ? call.FuncCall : {}
  const name = identifierOf(funcname.at(-1))
  const [, type, many] = /^(jsonb?)_to_record(set)?$/.exec(name) ?? []
  const [document] = args
  if (type === undefined || document === undefined || args.length > 1 || funcname.length > 2)
    throw new SqlError(
      '42601',
      'a column definition list is only allowed for functions returning "record"',
      location,
    )
  if (ordinality) throw notSupported('WITH ORDINALITY of a column definition list', location)
  const named = (each: string): Node => ({ ColumnRef: { fields: [{ String: { sval: each } }] } })
  const targetList = coldeflist.map((each): Node => {
    if (!('ColumnDef' in each) || each.ColumnDef.colname === undefined)
      throw new SqlError('42601', 'A column definition is expected.', location)
    const { colname, typeName } = each.ColumnDef
    const { type: read } = readTypeName(typeName)
    if (read.endsWith('[]')) throw notSupported('An array in a column definition list', location)
    const key: Node = { A_Const: { sval: { sval: colname } } }
    const sign = read === 'json' || read === 'jsonb' ? '->' : '->>'
    const field: Node = {
      A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: sign } }], lexpr: named(element), rexpr: key },
    }
    const value: Node = { TypeCast: { arg: field, ...(typeName && { typeName }) } }
    return { ResTarget: { name: colname, val: value } }
  })
  const elements: Node = {
    RangeFunction: {
      functions: [
        {
          List: {
            items: [
              { FuncCall: { funcname: [{ String: { sval: `${type}_array_elements` } }], args: [document] } },
            ],
          },
        },
      ],
      alias: { aliasname: element, colnames: [{ String: { sval: element } }] },
    },
  }
  const one: SelectStmt = { targetList: [{ ResTarget: { name: element, val: document } }], op: 'SETOP_NONE' }
  const itself: Node = {
    RangeSubselect: { lateral: true, subquery: { SelectStmt: one }, alias: { aliasname: element } },
  }
  const select: SelectStmt = {
    targetList,
    fromClause: [many === undefined ? itself : elements],
    op: 'SETOP_NONE',
  }
  return { lateral: true, subquery: { SelectStmt: select }, alias: alias ?? { aliasname: name } }
}
