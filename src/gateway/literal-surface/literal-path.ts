/**
 * The literal paths under /v1/iceberg (docs/reference/gateway.md 2.1, 3). They are matched here and not by a router,
 * because an identifier that does not fit its pattern is 400, which a router would call 404.
 */

import { Fault } from '../../base/fault.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { assertName, root } from '../base/path.ts'

export type LiteralPath =
  | { readonly kind: 'table-commit'; readonly prefix: string; readonly table: TableRef }
  | { readonly kind: 'transaction-commit'; readonly prefix: string }

/**
 * What a request to `url` asks of the gateway.
 * @throws Fault `bad_request` where an identifier is malformed or the path names no route,
 *   `method_not_allowed` where the route takes POST only
 */
export function matchLiteralPath(method: string, url: string): LiteralPath {
  const pathname = new URL(url).pathname
  const segments = pathname.startsWith(root) ? pathname.slice(root.length).split('/') : []
  const [prefix = '', first, namespace = '', third, name = ''] = segments
  const isTable = segments.length === 5 && first === 'namespaces' && third === 'tables'
  const isTransaction = segments.length === 3 && first === 'transactions' && segments[2] === 'commit'
  if (!isTable && !isTransaction)
    throw new Fault(
      'bad_request',
      'The path names no route: POST /v1/iceberg/{prefix}/namespaces/{namespace}/tables/{table} commits a table.',
    )
  if (method !== 'POST') throw new Fault('method_not_allowed', `This route takes POST, not ${method}.`)
  assertName('{prefix} in the path', prefix)
  if (isTransaction) return { kind: 'transaction-commit', prefix }
  assertName('{namespace} in the path', namespace)
  assertName('{table} in the path', name)
  return { kind: 'table-commit', prefix, table: { namespace: [namespace], name } }
}
