/**
 * Checks a signed plan (docs/reference/transform.md 2): signature, issuer, tenant, table, schema and time. A plan that
 * passes is what a batch is protected by; there is no other way to one.
 */

import { createPublicKey, verify } from 'node:crypto'
import { unwrapKey, type WriterKey } from './derive-keys.ts'
import {
  isSubjectRule,
  type KeyedRule,
  readPlan,
  type SubjectRule,
  type TransformPlan,
  type WrappedKey,
} from './plan.ts'
import { TransformRefused } from './refusal.ts'
import { refKeyName, type SubjectKeySet } from './subject-keys.ts'

/** By how much the clocks of writer and service may differ, in seconds. */
export const clockSecondsMax = 60
/** Longest life of a plan that a writer accepts, in seconds. */
export const planSecondsMax = 600
export const planType = 'covenant-plan+jwt'

export interface Jwks {
  readonly keys: readonly { readonly [member: string]: unknown }[]
}

export interface PlanExpectation {
  readonly issuer: string
  /** Namespace levels, then the table's name. */
  readonly table: readonly string[]
  readonly tenant?: string
  readonly tableUuid?: string
  readonly schemaId?: number
}

/** A plan whose checks passed, with the keys that it needs. */
export interface OpenPlan {
  readonly plan: TransformPlan
  /**
   * The scope key of a rule.
   *
   * @throws TransformRefused `no_key`
   */
  keyOf(rule: KeyedRule): Uint8Array
  /** The keys of the subjects of a batch, where its columns have such keys; see `fetch-subject-keys.ts`. */
  readonly subjectKeys?: SubjectKeySet
}

/** Where the keys of a plan come from: wrapped in the plan for this writer, or kept by the writer itself. */
export type KeySource =
  | { readonly writer: WriterKey }
  | { readonly local: (plan: TransformPlan, rule: KeyedRule) => Uint8Array | undefined }

/**
 * Opens a plan.
 *
 * @param nowSeconds the writer's clock
 * @throws TransformRefused for whatever is not as expected
 */
export function openPlan(
  jws: string,
  jwks: Jwks,
  expected: PlanExpectation,
  source: KeySource,
  nowSeconds: number,
): OpenPlan {
  const plan = readPlan(verifiedPayload(jws, jwks))
  if (plan.iss !== expected.issuer)
    throw new TransformRefused('wrong_issuer', 'the plan is of another issuer')
  if (expected.tenant !== undefined && plan.tenant !== expected.tenant)
    throw new TransformRefused('wrong_tenant', 'the plan is of another tenant')
  if (JSON.stringify(plan.table) !== JSON.stringify(expected.table))
    throw new TransformRefused('wrong_table', 'the plan is of another table')
  if (expected.tableUuid !== undefined && plan.table_uuid !== expected.tableUuid)
    throw new TransformRefused('wrong_table', 'the plan is of another table with this name')
  if (expected.schemaId !== undefined && plan.schema_id !== expected.schemaId)
    throw new TransformRefused('wrong_schema', 'the plan is of another schema of the table')
  checkTime(plan, nowSeconds)
  const keys = new Map<string, Uint8Array>()
  const findKey = (rule: KeyedRule) =>
    'local' in source ? source.local(plan, rule) : sentKey(plan, rule, source.writer)
  for (const column of plan.columns) {
    if (!('method' in column)) continue
    const rule = isSubjectRule(column) ? refKeyRule(column) : column
    const key = findKey(rule)
    if (key === undefined) throw new TransformRefused('no_key', 'its key cannot be had', rule.name)
    keys.set(keyLabel(rule), key)
  }
  return {
    plan,
    keyOf(rule) {
      // Of an earlier version of its scope, where the plan brought that.
      const key = keys.get(keyLabel(rule)) ?? findKey(rule)
      if (key === undefined) throw new TransformRefused('no_key', 'its key cannot be had', rule.name)
      return key
    },
  }
}

/**
 * Whether the plan may be used now; asked again before each batch.
 *
 * @throws TransformRefused `clock` or `expired`
 */
export function checkTime({ iat, exp }: TransformPlan, nowSeconds: number): void {
  if (iat > nowSeconds + clockSecondsMax)
    throw new TransformRefused('clock', "the plan is of the future: the writer's clock is late by over 60 s")
  if (exp <= iat || exp - iat > planSecondsMax)
    throw new TransformRefused('malformed_plan', 'the plan is refused: it lives longer than 600 s')
  if (nowSeconds >= exp) throw new TransformRefused('expired', 'the plan has expired; ask for another')
}

/** As a rule whose key is that by which the subjects of the column's kind are told apart. */
export function refKeyRule(rule: SubjectRule): KeyedRule {
  return { ...rule, ...refKeyName(rule.subject_kind) } as unknown as KeyedRule
}

function keyLabel({ scope, method, kid }: Omit<WrappedKey, 'key'>): string {
  return `${scope}|${method}|${kid}`
}

function sentKey(plan: TransformPlan, rule: KeyedRule, writer: WriterKey): Uint8Array | undefined {
  const { keys } = plan
  const wrapped = keys?.wrapped.find((each) => keyLabel(each) === keyLabel(rule))
  if (keys === undefined || wrapped === undefined) return undefined
  return unwrapKey(writer, keys.epk, plan.nonce, plan.tenant, wrapped)
}

/**
 * Compact JWS (RFC 7515) with EdDSA over Ed25519 (RFC 8037), and nothing else.
 * @throws TransformRefused `bad_signature`
 */
export function verifiedPayload(jws: string, jwks: Jwks, type: string = planType): unknown {
  const refused = new TransformRefused('bad_signature', 'the signature of the plan does not verify')
  try {
    const [header = '', payload = '', signature = '', ...more] = jws.split('.')
    const { alg, typ, kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<
      string,
      unknown
    >
    if (more.length > 0 || alg !== 'EdDSA' || typ !== type) throw refused
    const jwk = jwks.keys.find((key) => key.kid === kid && key.kty === 'OKP' && key.crv === 'Ed25519')
    if (jwk === undefined || typeof kid !== 'string') throw refused
    const key = createPublicKey({ key: jwk as never, format: 'jwk' })
    if (!verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
      throw refused
    return JSON.parse(Buffer.from(payload, 'base64url').toString())
  } catch {
    throw refused
  }
}
