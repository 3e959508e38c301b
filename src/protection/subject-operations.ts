/** Declares the operations of keys of subjects, and what shows the state of a tenant's keys. */

import { pageRequest, pageView } from '../http/page-view.ts'
import {
  addressed,
  described,
  flag,
  int64,
  list,
  maybe,
  nonEmpty,
  object,
  pageInput,
  pageOf,
  sentTableAddress,
  text,
  time,
  wholeNumber,
} from '../http/schemas.ts'
import { findTenantKey, scopeVersions } from '../store/transform/keys.ts'
import { countSubjects, listSubjects } from '../store/transform/subject-keys.ts'
import { issueSubjectKeys, subjectKeysMax } from './issue-subject-keys.ts'
import { changing, operation, overseeing, writing } from './parts.ts'
import { shredSubject } from './shred-subject.ts'

const tag = 'transform'
const subjectsPath = '/api/v1/transform/subjects'
const named = { ...nonEmpty, maxLength: 128, pattern: '^[A-Za-z0-9_.-]+$' }
const reference = { ...text, pattern: '^[A-Za-z0-9_-]{22}$' }

export const subjectOperations = [
  operation({
    name: 'issue_subject_keys',
    tag,
    summary: 'The keys of the subjects of a batch, for a writer that holds a plan of the table',
    description:
      'The answer is a JWS. Its format is in docs/reference/transform.md. A library of the service asks for it. Each call is recorded.',
    method: 'POST',
    path: '/api/v1/tables/{namespace}/{table}/transform-subject-keys',
    access: writing,
    gives: { nothing: 'own input' },
    status: 200,
    input: object({
      ...sentTableAddress,
      catalog: maybe(described(nonEmpty, 'needed where the tenant has several')),
      schema_id: int64,
      plan: described({ ...nonEmpty, maxLength: 256 }, '`<policy_version>:<nonce>` of the plan'),
      public_key: described(
        { ...text, pattern: '^[A-Za-z0-9_-]{43}$' },
        'X25519, base64url, for one request',
      ),
      subjects: list(object({ kind: named, refs: list(reference, { maxItems: subjectKeysMax }) }), {
        maxItems: 64,
      }),
      dry_run: maybe(described(flag, 'true: keys for show, of which none is kept')),
    }),
    output: object({ subject_keys: described(text, 'compact JWS') }),
    faults: {
      not_found: 'There is no such table or catalog.',
      conflict: 'The plan is not a present one of this table.',
      upstream_failed: 'The catalog did not answer.',
    },
    run: async ({ parts, caller, signal }, input) => {
      const { catalog, schema_id: schemaId, plan, public_key: publicKey, subjects, dry_run: dryRun } = input
      const by = { tenant: caller.tenant, actor: await caller.actor() }
      const wanted = { catalog, schemaId, plan, publicKey, subjects, dryRun: dryRun === true }
      return { subject_keys: await issueSubjectKeys(parts, by, addressed(input), wanted, signal) }
    },
  }),
  operation({
    name: 'list_transform_subjects',
    tag,
    summary: 'Subjects that have a key, and those that were erased',
    method: 'GET',
    path: subjectsPath,
    access: overseeing,
    gives: { nothing: 'administration' },
    input: object({
      ...pageInput,
      kind: maybe(named),
      shredded: maybe(described(flag, 'whether they were erased')),
    }),
    output: pageOf(object({ kind: text, ref: text, created_at: time, shredded_at: maybe(time) })),
    run: async ({ parts, caller }, { kind, shredded, ...page }) =>
      pageView(
        await listSubjects(parts.store, caller.tenant, { ...pageRequest(page), kind, shredded }),
        ({ at, shreddedAt, ...subject }) => ({
          ...subject,
          created_at: at,
          ...(shreddedAt !== undefined && { shredded_at: shreddedAt }),
        }),
      ),
  }),
  operation({
    name: 'shred_transform_subject',
    tag,
    summary: 'Erases a subject: destroys its key for good, so that what it encrypted cannot be read',
    description:
      'It cannot be undone. Nothing more is written of the subject. The answer and the record prove it.',
    method: 'POST',
    path: `${subjectsPath}/{kind}/shreddings`,
    access: changing,
    gives: { nothing: 'own input' },
    status: 200,
    input: object({
      kind: named,
      subject: maybe(described({ ...nonEmpty, maxLength: 4096 }, 'its value, numbers as text; not kept')),
      ref: maybe(described(reference, 'as listed, in place of `subject`')),
    }),
    output: object({
      kind: text,
      ref: text,
      key_id: maybe(described(text, 'of the destroyed key; absent where there was none any more')),
      shredded_at: time,
    }),
    run: async ({ parts, caller }, wanted) => {
      const by = { tenant: caller.tenant, actor: await caller.actor() }
      const { kind, ref, keyId, shreddedAt } = await shredSubject(parts, by, wanted)
      return { kind, ref, ...(keyId !== undefined && { key_id: keyId }), shredded_at: shreddedAt }
    },
  }),
  operation({
    name: 'get_transform_status',
    tag,
    summary:
      'The state of the tenant’s keys: who wraps them, the versions of scopes, how many subjects have one',
    method: 'GET',
    path: '/api/v1/transform/status',
    access: overseeing,
    gives: { nothing: 'administration' },
    output: object({
      provider: described(text, 'that wraps new keys'),
      tenant_key: maybe(described(object({ provider: text }), 'absent: none was needed yet')),
      scopes: described(list(object({ scope: text, kid: text })), 'that were rotated'),
      subjects: list(object({ kind: text, keys: wholeNumber, shredded: wholeNumber })),
    }),
    run: async ({ parts: { store, keys }, caller: { tenant } }) => {
      const run = <R extends object>(query: string, params: readonly string[]) =>
        store.tenantQuery<R>(tenant, query, params)
      const stored = await findTenantKey(store, tenant)
      const versions = await scopeVersions(run, tenant)
      return {
        provider: keys.name,
        ...(stored && { tenant_key: { provider: stored.provider } }),
        scopes: [...versions].toSorted().map(([scope, version]) => ({ scope, kid: `k${version}` })),
        subjects: [...(await countSubjects(run, tenant))],
      }
    },
  }),
]
