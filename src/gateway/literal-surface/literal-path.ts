/**
 * Matches the literal paths under /v1/iceberg (docs/reference/gateway.md 2.1, 3). No router is used, because it would
 * answer 404 for a malformed identifier, which must be 400.
 */

import { Fault } from '../../base/fault.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { assertName, icebergRoot } from '../base/path.ts'

export type LiteralPath =
  | { readonly kind: 'table-commit'; readonly prefix: string; readonly table: TableRef }
  | { readonly kind: 'transaction-commit'; readonly prefix: string }

/**
 * Matches a request to a literal path.
 * @throws Fault `bad_request` if an identifier is malformed or the path names no route,
 *   `method_not_allowed` if the method is not POST
 */
export function matchLiteralPath(method: string, url: string): LiteralPath {
  const pathname = new URL(url).pathname
  const segments = pathname.startsWith(icebergRoot) ? pathname.slice(icebergRoot.length).split('/') : []
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
