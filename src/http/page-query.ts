/** Which page of a listing a request asks for: the same two parameters on every route. */

import { Fault } from '../base/fault.ts'
import type { PageRequest } from '../store/page.ts'

/** The page that `?limit=` and `?after=` ask for. @throws Fault `bad_request` */
export function pageOf(request: Request): PageRequest {
  const { searchParams } = new URL(request.url)
  const [limit, after] = [searchParams.get('limit'), searchParams.get('after')]
  if (limit !== null && !/^[0-9]{1,6}$/.test(limit))
    throw new Fault('bad_request', '`limit` must be a whole number.')
  return { ...(limit !== null && { limit: Number(limit) }), ...(after !== null && { after }) }
}
