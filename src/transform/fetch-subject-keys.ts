/**
 * Asks the service for the keys of a batch's subjects. The service is told references, which name nobody. Whatever goes
 * wrong is `subject_keys`: a batch without the keys is not written.
 */

import type { Table } from 'apache-arrow'
import { makeWriterKey, type WriterKey } from './derive-keys.ts'
import { addressOf, askJson, type PlanRequest } from './fetch-plan.ts'
import { clockSecondsMax, type Jwks, type OpenPlan, planSecondsMax, verifiedPayload } from './open-plan.ts'
import { isSubjectRule, type TransformPlan } from './plan.ts'
import { subjectsOf } from './protect-subjects.ts'
import { subjectTextsOfTable } from './protect-table.ts'
import { type PlainColumns, subjectTextsOf } from './protect-values.ts'
import { TransformRefused } from './refusal.ts'
import {
  type Subject,
  type SubjectKeySet,
  type SubjectKeysAnswer,
  subjectKeysType,
  unwrapSubjectKeys,
} from './subject-keys.ts'

/** How a plan was asked for, with what concerns subjects. */
export interface SubjectKeyRequest extends PlanRequest {
  /** Of a preview: the keys are for show, and none is kept. */
  readonly dryRun?: boolean
}

/**
 * The plan with the keys of a batch's subjects. A plan without such columns is returned as it is, and nothing is asked.
 *
 * @throws TransformRefused `subject_keys`, `no_subject`, `wrong_type`
 */
export async function withSubjectKeys(
  request: SubjectKeyRequest,
  open: OpenPlan,
  batch: PlainColumns | Table,
): Promise<OpenPlan> {
  if (!open.plan.columns.some(isSubjectRule)) return open
  const subjects = isTable(batch)
    ? subjectsOf(open, namesOf(batch), (column) => subjectTextsOfTable(open, batch, column))
    : subjectsOf(open, Object.keys(batch), (column) => subjectTextsOf(open, batch, column))
  const keys = new Map(open.subjectKeys ?? [])
  const max = open.plan.subject_keys?.max ?? 0
  for (let at = 0; at < subjects.length; at += max)
    for (const [label, key] of await fetchKeys(request, open, subjects.slice(at, at + max)))
      keys.set(label, key)
  return { ...open, subjectKeys: keys }
}

function isTable(batch: PlainColumns | Table): batch is Table {
  return 'schema' in batch && 'batches' in batch
}

function namesOf(table: Table): readonly string[] {
  return table.schema.fields.map(({ name }) => name)
}

async function fetchKeys(
  request: SubjectKeyRequest,
  open: OpenPlan,
  subjects: readonly Subject[],
): Promise<SubjectKeySet> {
  const { plan } = open
  const writer = makeWriterKey()
  const { base, place } = addressOf(request.url ?? '', plan.table)
  const kinds = Map.groupBy(subjects, ({ kind }) => kind)
  const body = {
    plan: `${plan.policy_version}:${plan.nonce}`,
    schema_id: plan.schema_id,
    public_key: writer.publicKey,
    subjects: [...kinds].map(([kind, members]) => ({ kind, refs: members.map(({ ref }) => ref) })),
    ...(request.catalog !== undefined && { catalog: request.catalog }),
    ...(request.dryRun === true && { dry_run: true }),
  }
  const answer = await askJson(request, `${place}/transform-subject-keys`, refused, body)
  const jwks = await askJson(request, `${base}/.well-known/jwks.json`, refused)
  const now = (request.nowSeconds ?? (() => Math.floor(Date.now() / 1000)))()
  const { subject_keys: jws } = answer as { readonly subject_keys?: unknown }
  return openSubjectKeys(plan, String(jws), jwks as Jwks, writer, now)
}

/**
 * Opens the service's answer for a plan.
 *
 * @throws TransformRefused `subject_keys`
 */
export function openSubjectKeys(
  plan: TransformPlan,
  jws: string,
  jwks: Jwks,
  writer: WriterKey,
  nowSeconds: number,
): SubjectKeySet {
  try {
    const payload = verifiedPayload(jws, jwks, subjectKeysType) as SubjectKeysAnswer
    const alike = (['iss', 'tenant', 'table_uuid', 'nonce'] as const).every((of) => payload[of] === plan[of])
    const { v, iat } = payload
    const isPresent = iat <= nowSeconds + clockSecondsMax && nowSeconds < iat + planSecondsMax
    if (v === 1 && alike && isPresent) return unwrapSubjectKeys(writer, payload)
  } catch {
    // It may hold what was wrapped.
  }
  throw refused('the answer of the service is not one')
}

function refused(why: string): TransformRefused {
  return new TransformRefused('subject_keys', `the keys of subjects cannot be had: ${why}`)
}
