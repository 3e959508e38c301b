/** Resolves JSON_OBJECT of SQL/JSON to the function that does the same. */

import type { JsonObjectConstructor } from 'libpg-query'
import type { Expr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { spokenType } from '../base/types.ts'
import { resolveCall } from './call.ts'
import type { Env, Resolver } from './context.ts'
import { readTypeName } from './type-name.ts'

/** `JSON_OBJECT('k' VALUE v)` is what `json_build_object('k', v)` is. */
export function resolveJsonObject(resolver: Resolver, node: JsonObjectConstructor, env: Env): Expr {
  const type = node.output === undefined ? 'json' : readTypeName(node.output.typeName).type
  if (type !== 'json' && type !== 'jsonb')
    throw notSupported(`JSON_OBJECT that returns ${spokenType(type)}`, node.location)
  const args = (node.exprs ?? []).flatMap((each) => {
    const { key, value } = 'JsonKeyValue' in each ? each.JsonKeyValue : {}
    if (key === undefined || value?.raw_expr === undefined)
      throw new SqlError('42601', 'JSON_OBJECT needs keys and values.', node.location)
    return [key, value.raw_expr]
  })
  return resolveCall(resolver, { funcname: [{ String: { sval: `${type}_build_object` } }], args }, env)
}
