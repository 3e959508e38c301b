/**
 * Lists keys with their ages and whether they open: those that no tenant owns, and a tenant's own. It shows no key, and
 * turns none.
 */

import type { ListedKey } from '../../core/key.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { sealedColumns } from '../database/sealed-columns.ts'
import { type SecretsKeys, tryUnseal } from '../database/sealing.ts'
import type { Store } from '../store.ts'

interface Row {
  readonly kind: ListedKey['kind']
  /** Empty where there is one of a kind. */
  readonly id: string
  readonly name: string | null
  readonly state: ListedKey['state']
  readonly created_at: Date
  readonly turned_at: Date | null
  readonly until: Date | null
  readonly age_seconds: number
  readonly version: number | null
  readonly count: number | null
  /** Null where no secrets key sealed it. */
  readonly sealed: Uint8Array | null
}

const columns =
  'kind, id, name, state, created_at, turned_at, until, version, count, sealed, greatest(0, floor(extract(epoch from clock_timestamp() - since)))::float8 as age_seconds'
const none = 'null::timestamptz as until, null::int as version, null::int as count'

const installationText = `
  with listed as (
    select 'secrets' as kind, 'present' as id, null::text as name,
      case when turning_since is null then 'current' else 'former' end as state,
      in_force_at as created_at, null::timestamptz as turned_at, ${none}, in_force_at as since, sealed
    from svc.secrets_key_check
    union all
    select 'secrets', 'next', null, case when turning_since is null then 'announced' else 'current' end,
      coalesce(announced_at, turning_since, in_force_at), turning_since, null, null, null,
      coalesce(turning_since, announced_at, in_force_at), next_sealed
    from svc.secrets_key_check where next_sealed is not null
    union all
    select 'token-signing', key_id::text, null,
      case when created_at <= clock_timestamp() - interval '5 s' then 'former' else 'announced' end, created_at, null, null, null, null, created_at, sealed
    from svc.signing_key
    union all
    select case purpose when 'sessions' then purpose else 'plan-signing' end, purpose, null,
      case when purpose = 'plans-next' then case when makes_from > clock_timestamp() then 'announced' else 'current' end
        when purpose = 'plans' and exists (select from svc.derivation_root n where n.makes_from <= clock_timestamp())
        then 'former' else 'current' end,
      created_at, turned_at, null, null, null, coalesce(turned_at, created_at), sealed
    from svc.derivation_root)
  select ${columns} from listed order by kind, since desc, id`

const tenantText = `
  with root as (select at, provider, wrapped from svc.transform_tenant_key where tenant_id = $1),
    sealed_root as (select wrapped from root where provider = 'secrets-key'),
    listed as (
      select 'webhook' as kind, subscription_id::text as id, name, 'current' as state, created_at, turned_at, ${none},
        coalesce(turned_at, created_at) as since, sealed
      from svc.webhook_subscription where tenant_id = $1
      union all
      select 'webhook', subscription_id::text, name, 'former', created_at, null, previous_until, null, null, created_at,
        sealed
      from svc.webhook_subscription where tenant_id = $1 and previous_until > clock_timestamp()
      union all
      select 'transform', '', provider, 'current', at, null, null, null, null, at, (select wrapped from sealed_root)
      from root
      union all
      select 'transform-scope', scope, scope, 'current', coalesce((select at from root), min(at)), max(at), null,
        max(version), null, max(at), (select wrapped from sealed_root)
      from svc.transform_scope_version where tenant_id = $1 group by scope
      union all
      select 'transform-subjects', kind, kind, 'current', min(at), null, null, null, count(*)::int, min(at),
        (select wrapped from sealed_root)
      from svc.transform_subject_key where tenant_id = $1 and sid is not null group by kind
      union all
      select 'session', '', 'service sessions', 'current', min(created_at), null, null, null, count(*)::int,
        min(coalesce(secret_turned_at, created_at)), null
      from svc.service_session
      where tenant_id = $1 and revoked_at is null and trust_id is null
        and (expires_at is null or expires_at > clock_timestamp())
      having count(*) > 0)
  select ${columns} from listed
  where (kind || '/' || id || '/' || state) collate "C" > $2
  order by (kind || '/' || id || '/' || state) collate "C" limit $3::int`

/** The keys that no tenant owns, the newest of each kind first. */
export async function listInstallationKeys(store: Store): Promise<readonly ListedKey[]> {
  const rows = await store.adminQuery<Row>(installationText)
  const opened = rows.map((row) => ({ ...row, state: stateOf(store, row, installationPlace(row)) }))
  const ofTokens = (of: ListedKey['state']) =>
    opened.filter(({ kind, state }) => kind === 'token-signing' && state === of)
  // The one that signs (session/signing-keys.ts).
  const signing = ofTokens('former')[0] ?? ofTokens('announced').at(-1)
  return opened.map((row) => {
    if (row === signing) return toListed({ ...row, state: 'current' })
    const isPast = signing !== undefined && row.state === 'announced' && row.created_at <= signing.created_at
    return toListed(isPast && row.kind === 'token-signing' ? { ...row, state: 'former' } : row)
  })
}

/** A tenant's own keys, by kind and name. @throws Fault `bad_request` for a bad page token */
export async function listTenantKeys(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<ListedKey>> {
  const limit = pageLimit(page)
  const after = page.after === undefined ? '' : storableText(page.after)
  const rows = await store.tenantQuery<Row>(tenant, tenantText, [tenant, after, limit + 1])
  const listed = toPage(rows, limit, ({ kind, id, state }) => `${kind}/${id}/${state}`)
  const placeOf = ({ kind, id }: Row) =>
    kind === 'webhook'
      ? sealedColumns.webhookSubscription.place(tenant, id)
      : sealedColumns.transformTenantKey.place(tenant)
  return {
    ...listed,
    items: listed.items.map((row) => toListed({ ...row, state: stateOf(store, row, placeOf(row)) })),
  }
}

/** Seconds since the oldest present key of each kind was made or turned; a kind without keys is left out. */
export async function keyAges(store: Store): Promise<ReadonlyMap<ListedKey['kind'], number>> {
  const tenants = await store.adminQuery<{ readonly kind: ListedKey['kind']; readonly age: number | null }>(
    `select kind, extract(epoch from clock_timestamp() - since)::float8 as age from (
       select 'webhook' as kind, min(coalesce(turned_at, created_at)) as since from svc.webhook_subscription
       where state = 'enabled'
       union all
       select 'transform', min(at) from svc.transform_tenant_key
       union all
       select 'session', min(coalesce(secret_turned_at, created_at)) from svc.service_session
       where revoked_at is null and trust_id is null
         and (expires_at is null or expires_at > clock_timestamp())) oldest`,
  )
  const ages = new Map<ListedKey['kind'], number>()
  for (const { kind, age } of tenants) if (age !== null) ages.set(kind, Math.max(0, age))
  for (const { kind, state, ageSeconds } of await listInstallationKeys(store))
    if (state === 'current') ages.set(kind, Math.max(ageSeconds, ages.get(kind) ?? 0))
  return ages
}

function installationPlace({ kind, id }: Row): readonly string[] {
  if (kind === 'secrets') return ['secrets_key_check']
  return kind === 'token-signing'
    ? sealedColumns.signingKey.place(id)
    : sealedColumns.derivationRoot.place(id)
}

function stateOf(keys: SecretsKeys, { sealed, state }: Row, place: readonly string[]): ListedKey['state'] {
  if (sealed === null) return state
  const all = [keys.secretsKey, keys.nextKey, keys.formerKey]
  return all.some((key) => key !== undefined && tryUnseal(key, place, sealed) !== undefined)
    ? state
    : 'unreadable'
}

function toListed(row: Row): ListedKey {
  return {
    ...{ kind: row.kind, id: row.id === '' ? undefined : row.id, name: row.name ?? undefined },
    ...{ state: row.state, createdAt: row.created_at, turnedAt: row.turned_at ?? undefined },
    ...{ ageSeconds: row.age_seconds, until: row.until ?? undefined },
    ...{ version: row.version ?? undefined, count: row.count ?? undefined },
  }
}
