/** Stores the wrapped keys of subjects. It never sees a key that is not wrapped, nor whom a subject is. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { given } from '../database/conditions.ts'
import { storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { RunQuery } from '../governance/governance.ts'
import type { Store } from '../store.ts'

export interface StoredSubjectKey {
  readonly kind: string
  readonly ref: string
  /** Undefined for a subject that was erased. */
  readonly key: { readonly sid: string; readonly wrapped: Uint8Array } | undefined
}

interface Row {
  readonly kind: string
  readonly ref: string
  readonly sid: string | null
  readonly wrapped: Uint8Array | null
}

function toStored({ kind, ref, sid, wrapped }: Row): StoredSubjectKey {
  return { kind, ref, key: sid === null || wrapped === null ? undefined : { sid, wrapped } }
}

/** The stored keys of subjects of one kind; those without one are left out. */
export async function findSubjectKeys(
  tx: Tx,
  tenant: TenantId,
  kind: string,
  refs: readonly string[],
): Promise<readonly StoredSubjectKey[]> {
  const rows = await tx.query<Row>(
    `select kind, ref, sid, wrapped from svc.transform_subject_key
     where tenant_id = $1 and kind = $2 and ref in (select jsonb_array_elements_text($3::text::jsonb))`,
    [tenant, kind, JSON.stringify(refs)],
  )
  return rows.map(toStored)
}

/** A new key, for a subject that has none. */
interface NewSubjectKey {
  readonly ref: string
  readonly sid: string
  readonly wrapped: Uint8Array
}

/** Stores keys where their subjects have none yet. */
export async function addSubjectKeys(
  tx: Tx,
  tenant: TenantId,
  kind: string,
  keys: readonly NewSubjectKey[],
): Promise<void> {
  const given = keys.map(({ ref, sid, wrapped }) => ({
    ref,
    sid,
    wrapped: Buffer.from(wrapped).toString('hex'),
  }))
  await tx.query(
    `insert into svc.transform_subject_key (tenant_id, kind, ref, sid, wrapped)
     select $1, $2, k.ref, k.sid, decode(k.wrapped, 'hex')
     from jsonb_to_recordset($3::text::jsonb) as k (ref text, sid text, wrapped text) order by k.ref
     on conflict (tenant_id, kind, ref) do nothing`,
    [tenant, kind, JSON.stringify(given)],
  )
}

/** The keys that encrypted values name; an erased one is not among them. */
export async function subjectKeysById(
  run: RunQuery,
  tenant: TenantId,
  sids: readonly string[],
): Promise<ReadonlyMap<string, { readonly kind: string; readonly wrapped: Uint8Array }>> {
  const rows = await run<Row>(
    `select kind, ref, sid, wrapped from svc.transform_subject_key
     where tenant_id = $1 and sid in (select jsonb_array_elements_text($2::text::jsonb))`,
    [tenant, JSON.stringify(sids)],
  )
  return new Map(
    rows.flatMap(({ kind, sid, wrapped }) =>
      sid === null || wrapped === null ? [] : [[sid, { kind, wrapped }] as const],
    ),
  )
}

interface Shredded {
  /** The id of the key that was destroyed; undefined where there was none, or it was destroyed before. */
  readonly sid: string | undefined
  readonly at: Date
}

/** Destroys a subject's key for good. A subject without one is noted too: it gets none any more. */
export async function shredSubjectKey(
  tx: Tx,
  tenant: TenantId,
  kind: string,
  ref: string,
): Promise<Shredded> {
  const [before] = await tx.query<{ readonly sid: string | null; readonly shredded_at: Date | null }>(
    `select sid, shredded_at from svc.transform_subject_key
     where tenant_id = $1 and kind = $2 and ref = $3 for update`,
    [tenant, kind, ref],
  )
  if (before?.shredded_at != null) return { sid: undefined, at: before.shredded_at }
  const [row] = await tx.query<{ readonly shredded_at: Date }>(
    `insert into svc.transform_subject_key (tenant_id, kind, ref, shredded_at)
     values ($1, $2, $3, clock_timestamp())
     on conflict (tenant_id, kind, ref)
       do update set sid = null, wrapped = null, shredded_at = excluded.shredded_at
     returning shredded_at`,
    [tenant, kind, ref],
  )
  return { sid: before?.sid ?? undefined, at: row?.shredded_at ?? new Date(0) }
}

interface ListedSubject {
  readonly kind: string
  readonly ref: string
  readonly at: Date
  readonly shreddedAt: Date | undefined
}

interface SubjectFilter {
  readonly kind?: string | undefined
  /** Whether they were erased; undefined: all. */
  readonly shredded?: boolean | undefined
}

/** A tenant's subjects that have or had a key, by kind and reference. @throws Fault `bad_request` for a bad page token */
export async function listSubjects(
  store: Store,
  tenant: TenantId,
  { kind, shredded, ...page }: PageRequest & SubjectFilter,
): Promise<Page<ListedSubject>> {
  const limit = pageLimit(page)
  const { text, params } = given(
    [tenant, limit + 1],
    ['kind = ?::text', kind],
    // Written out, because the index of those that are serves no parameter of a kept plan.
    [
      `shredded_at is ${shredded ? 'not ' : ''}null and ?::boolean`,
      shredded === undefined ? undefined : true,
    ],
    ['(kind, ref) > (?::text, ?::text)', ...afterSubject(page)],
  )
  const rows = await store.tenantQuery<Row & { at: Date; shredded_at: Date | null }>(
    tenant,
    `select kind, ref, at, shredded_at from svc.transform_subject_key where tenant_id = $1${text}
     order by kind, ref limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => `${row.ref}.${row.kind}`)
  return {
    ...found,
    items: found.items.map(({ kind: of, ref, at, shredded_at: shreddedAt }) => ({
      ...{ kind: of, ref, at },
      shreddedAt: shreddedAt ?? undefined,
    })),
  }
}

/** @throws Fault `bad_request` where `after` is no token of the list of subjects */
function afterSubject({ after }: PageRequest): readonly [kind: string | undefined, ref: string | undefined] {
  if (after === undefined) return [undefined, undefined]
  const [, ref, kind] = /^([^.]{22})\.(.+)$/s.exec(after) ?? []
  if (ref === undefined || kind === undefined) throw new Fault('bad_request', 'The page token is not valid.')
  return [storableText(kind), storableText(ref)]
}

/** How many subjects of each kind have a key, and how many were erased. */
export async function countSubjects(
  run: RunQuery,
  tenant: TenantId,
): Promise<readonly { readonly kind: string; readonly keys: number; readonly shredded: number }[]> {
  const rows = await run<{ kind: string; keys: string; shredded: string }>(
    `select kind, count(sid) as keys, count(shredded_at) as shredded
     from svc.transform_subject_key where tenant_id = $1 group by kind order by kind collate "C"`,
    [tenant],
  )
  return rows.map(({ kind, keys, shredded }) => ({ kind, keys: Number(keys), shredded: Number(shredded) }))
}
