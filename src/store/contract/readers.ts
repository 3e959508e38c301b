/** Finds who has read the tables of a contract, from the usage records. */

import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { RunQuery } from './versions.ts'

interface ContractReader {
  /** Subject. */
  readonly sub: string
  readonly queries: number
  readonly lastReadAt: Date
}

/** Readers that an answer lists. */
const readersMax = 100

/** Who has read tables under a contract since a time, the latest first. Refused queries have read nothing. */
export async function readersOf(
  run: RunQuery,
  tenant: TenantId,
  contract: string,
  since: Date,
): Promise<readonly ContractReader[]> {
  const rows = await run<{ sub: string; queries: string; last: Date }>(
    `select u.principal_sub as sub, count(*) as queries, max(u.started_at) as last
     from svc.query_usage u
     where u.tenant_id = $1 and u.started_at >= $2 and u.outcome <> 'refused'
       and u.contracts @> jsonb_build_array(jsonb_build_object('id', $3::text))
     group by u.principal_sub order by last desc limit $4::int`,
    [tenant, since, storableText(contract), readersMax],
  )
  return rows.map(({ sub, queries, last }) => ({ sub, queries: Number(queries), lastReadAt: last }))
}
