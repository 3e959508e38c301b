/**
 * Finds principals by what they did: their newest usage record, audited change and login. A page looks at a bounded number
 * of principals, whatever the number of their records.
 */

import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

/** A principal that was seen. */
export interface SeenPerson {
  readonly sub: string
  readonly lastSeenAt: Date
  /** Of usage records; `commit` where a change of a table was newer. */
  readonly surface: string
  /** Undefined where none were recorded. */
  readonly roles?: {
    readonly names: readonly string[]
    readonly of: 'login' | 'commit' | 'session'
  }
}

interface Row {
  readonly key: string
  readonly sub: string
  readonly surface: string | null
  readonly used_at: Date | null
  readonly changed_at: Date | null
  readonly changed_as: readonly string[] | null
  readonly logged_in_at: Date | null
  readonly logged_in_as: readonly string[] | null
  readonly session_as: readonly string[] | null
}

/** Steps from one subject to the next over two indexes, and reads one record of each. */
const peopleText = `
  with recursive found(key, step) as (
    select $2::text, 0
    union all
    select least(
      (select md5(u.principal_sub) from svc.query_usage u where u.tenant_id = $1 and md5(u.principal_sub) > f.key
        order by md5(u.principal_sub) limit 1),
      (select md5(a.committer) from svc.audit_log a where a.tenant_id = $1 and md5(a.committer) > f.key
        order by md5(a.committer) limit 1)), f.step + 1
    from found f where f.key is not null and f.step < $3::int)
  select f.key, s.sub, u.surface, u.at as used_at, a.received_at as changed_at, a.principal -> 'roles' as changed_as,
    b.seen_at as logged_in_at, b.principal_roles as logged_in_as, n.principal_roles as session_as
  from found f
  left join lateral (select principal_sub, surface, coalesce(last_at, started_at) as at from svc.query_usage
    where tenant_id = $1 and md5(principal_sub) = f.key order by usage_seq desc limit 1) u on true
  left join lateral (select committer, received_at, principal from svc.audit_log
    where tenant_id = $1 and md5(committer) = f.key order by audit_seq desc limit 1) a on true
  cross join lateral (select coalesce(u.principal_sub, a.committer) as sub) s
  left join lateral (select seen_at, principal_roles from svc.browser_session
    where tenant_id = $1 and principal_sub = s.sub order by seen_at desc limit 1) b on true
  left join lateral (select principal_roles from svc.service_session
    where tenant_id = $1 and principal_sub = s.sub order by created_at desc, session_id limit 1) n on true
  where f.step > 0 and f.key is not null order by f.step`

/**
 * The principals that come next, those that were last seen before `since` left out.
 * @param after `next` of the page before; undefined: from the first on
 * @returns `next`: where to go on; absent at the end. Each item has the place after it.
 */
export async function listPeopleSeen(
  store: Store,
  tenant: TenantId,
  { since, after = '', count }: { readonly since: Date; readonly after?: string; readonly count: number },
): Promise<{
  readonly items: readonly { readonly place: string; readonly person: SeenPerson }[]
  readonly next?: string
}> {
  const rows = await store.tenantQuery<Row>(tenant, peopleText, [tenant, storableText(after), count], {
    readOnly: true,
  })
  const items = rows.flatMap((row) => {
    const person = personOf(row, since)
    // A session that names nobody changes tables as its tenant.
    return person === undefined || person.sub === tenant ? [] : [{ place: row.key, person }]
  })
  const last = rows.at(-1)
  return { items, ...(rows.length === count && last !== undefined && { next: last.key }) }
}

function personOf(row: Row, since: Date): SeenPerson | undefined {
  const isSince = (at: Date | null): at is Date => at !== null && at >= since
  const [used, changed] = [row.used_at, row.changed_at].map((at) => (isSince(at) ? at : undefined))
  if (used === undefined && changed === undefined) return undefined
  const isChange = used === undefined || (changed !== undefined && changed >= used)
  const roles = rolesOf(row, since)
  return {
    sub: row.sub,
    lastSeenAt: (isChange ? changed : used) ?? since,
    surface: isChange ? 'commit' : (row.surface ?? ''),
    ...(roles && { roles }),
  }
}

/**
 * Those of a login, which the identity provider vouched for; else those that a change named, which nobody may have verified;
 * else those of a service session that was made for the subject.
 */
function rolesOf(row: Row, since: Date): SeenPerson['roles'] {
  const { changed_at, changed_as, logged_in_at, logged_in_as, session_as } = row
  const isSince = (at: Date | null) => at !== null && at >= since
  if (logged_in_as !== null && isSince(logged_in_at)) return { names: logged_in_as, of: 'login' }
  if (changed_as !== null && isSince(changed_at)) return { names: changed_as, of: 'commit' }
  return session_as === null ? undefined : { names: session_as, of: 'session' }
}
