/**
 * The transform plan: what happens to each column of one table before its bytes are written (docs/reference/transform.md
 * 2). This file reads the payload and refuses what it does not know; `open-plan.ts` checks signature and binding.
 */

import { isMaskAction, type MaskAction, maskFits } from '../core/mask.ts'
import { TransformRefused } from './refusal.ts'

/** Symbols in order of their numeral. The radix is their number. */
export const alphabets = {
  digits: '0123456789',
  base36: '0123456789abcdefghijklmnopqrstuvwxyz',
  base62: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
} as const
export type AlphabetName = keyof typeof alphabets

export const keyMethods = ['hmac', 'ff1', 'siv', 'gcm'] as const
export type KeyMethod = (typeof keyMethods)[number]
/** `subject`: tells the subjects of a kind apart without naming them. */
export type KeyPurpose = KeyMethod | 'subject'

interface ColumnBase {
  readonly field_id: number
  readonly name: string
  /** The Iceberg primitive type; of a nested column `struct`, `list` or `map`. */
  readonly type: string
  readonly required: boolean
}

export type ColumnRule = ColumnBase &
  (
    | { readonly action: 'keep' }
    | { readonly action: 'redact' }
    | { readonly action: 'mask'; readonly mask: MaskAction }
    | KeyedAction
  )

export type KeyedAction =
  | { readonly action: 'tokenize'; readonly method: 'hmac'; readonly scope: string; readonly kid: string }
  | {
      readonly action: 'tokenize'
      readonly method: 'ff1'
      readonly scope: string
      readonly kid: string
      readonly alphabet: AlphabetName
    }
  | {
      readonly action: 'encrypt'
      readonly method: 'siv' | 'gcm'
      readonly scope: string
      readonly kid: string
      /** The column whose value names the subject under whose key a value is encrypted. */
      readonly subject_key_of?: string
      /** Subjects of one kind with one value are one subject, in all tables. */
      readonly subject_kind?: string
    }

export type KeyedRule = ColumnBase & KeyedAction
/** A column that is encrypted under a key for each subject. */
export type SubjectRule = Extract<KeyedRule, { action: 'encrypt' }> & {
  readonly subject_key_of: string
  readonly subject_kind: string
}

export interface WrappedKey {
  readonly scope: string
  readonly method: KeyPurpose
  readonly kid: string
  /** base64url of nonce (12 bytes), ciphertext and tag (16 bytes). */
  readonly key: string
}

export interface TransformPlan {
  readonly v: 1
  readonly iss: string
  readonly tenant: string
  readonly table_uuid: string
  /** Namespace levels, then the table's name. */
  readonly table: readonly string[]
  readonly schema_id: number
  /** Of the rules; changes whenever one of them does. */
  readonly policy_version: string
  /** Seconds since 1970. */
  readonly iat: number
  readonly exp: number
  readonly nonce: string
  /** Every top-level column of the schema, those to keep among them. */
  readonly columns: readonly ColumnRule[]
  readonly complete: true
  /** Present where a column is encrypted under keys of subjects: how many a writer may ask for at once. */
  readonly subject_keys?: { readonly max: number }
  /** Present where the request brought a public key. */
  readonly keys?: { readonly epk: string; readonly wrapped: readonly WrappedKey[] }
}

export const scopePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/
/** Types of columns that name subjects. */
export const subjectTypes = ['string', 'int', 'long']
export const kidPattern = /^[a-z0-9]{1,16}$/

const primitiveType =
  /^(boolean|int|long|float|double|string|date|time|uuid|binary|timestamp(tz)?(_ns)?|decimal\(\d+,\s*\d+\)|fixed\[\d+\])$/
const nestedTypes = ['struct', 'list', 'map', 'variant', 'geometry', 'geography', 'unknown']

/**
 * Reads a payload.
 *
 * @throws TransformRefused `malformed_plan` for whatever this version does not know
 */
export function readPlan(payload: unknown): TransformPlan {
  const plan = asObject(payload, 'the payload')
  if (plan.v !== 1) throw malformed('it is of another version')
  if (plan.complete !== true) throw malformed('it does not list every column')
  for (const name of ['iss', 'tenant', 'table_uuid', 'policy_version', 'nonce'] as const)
    if (typeof plan[name] !== 'string' || plan[name] === '') throw malformed(`${name} is missing`)
  for (const name of ['schema_id', 'iat', 'exp'] as const)
    if (!Number.isSafeInteger(plan[name])) throw malformed(`${name} is missing`)
  if (
    !Array.isArray(plan.table) ||
    plan.table.length < 2 ||
    plan.table.some((part) => typeof part !== 'string')
  )
    throw malformed('table is missing')
  if (!Array.isArray(plan.columns)) throw malformed('columns are missing')
  const columns = plan.columns.map(readRule)
  for (const of of ['name', 'field_id'] as const)
    if (new Set(columns.map((column) => column[of])).size !== columns.length)
      throw malformed(`two columns have one ${of}`)
  if (plan.keys !== undefined) readKeys(plan.keys)
  checkSubjects(columns, plan.subject_keys)
  return { ...(plan as unknown as TransformPlan), columns }
}

/** Whether a value of the column is encrypted under the key of a subject. */
export function isSubjectRule(rule: ColumnRule): rule is SubjectRule {
  return rule.action === 'encrypt' && rule.subject_key_of !== undefined
}

function checkSubjects(columns: readonly ColumnRule[], keys: unknown): void {
  const rules = columns.filter(isSubjectRule)
  for (const { name, subject_key_of: of } of rules) {
    const subject = columns.find((column) => column.name === of)
    if (subject === undefined || of === name || !subjectTypes.includes(subject.type))
      throw new TransformRefused('malformed_plan', 'the plan is refused: its subject column is not one', name)
  }
  if (rules.length === 0) return
  const { max } = asObject(keys, 'subject_keys')
  if (!Number.isSafeInteger(max) || (max as number) < 1) throw malformed('subject_keys are not well-formed')
}

function readRule(value: unknown): ColumnRule {
  const rule = asObject(value, 'a column')
  const { name, type } = rule
  if (typeof name !== 'string' || !Number.isSafeInteger(rule.field_id) || typeof rule.required !== 'boolean')
    throw malformed('a column lacks name, field_id or required')
  const problem =
    typeof type === 'string' && typeof rule.action === 'string'
      ? problemOf(rule as never)
      : 'it has no type or action'
  if (problem !== undefined)
    throw new TransformRefused('malformed_plan', `the plan is refused: ${problem}`, name)
  return rule as unknown as ColumnRule
}

/**
 * Why a rule cannot be carried out on its column, as a sentence's end; undefined where it can. The service asks this
 * when a rule is saved, a writer for each plan.
 */
export function problemOf(rule: {
  readonly type: string
  readonly required: boolean
  readonly action: string
  readonly mask?: string
  readonly method?: string
  readonly scope?: string
  readonly kid?: string
  readonly alphabet?: string
  readonly subject_key_of?: string
  readonly subject_kind?: string
}): string | undefined {
  const { type, action } = rule
  const primitive = primitiveType.test(type)
  if (!primitive && !nestedTypes.includes(type)) return 'its type is not known'
  if (action === 'keep') return undefined
  if (!primitive) return 'nested columns cannot be protected'
  if (action === 'redact') return undefined
  if (action === 'mask') {
    const { mask } = rule
    if (mask === undefined || !isMaskAction(mask)) return 'its mask is not known'
    if (mask === 'sha-256-query-local') return 'sha-256-query-local needs a query, and there is none at rest'
    if (mask === 'apply-expression') return 'apply-expression is known to SQL only'
    if (!maskFits(mask, type)) return `${mask} is not defined for ${type}`
    if (mask === 'replace-with-null' && rule.required)
      return 'replace-with-null is not allowed where required'
    return undefined
  }
  const { method } = rule
  const types = {
    hmac: ['string', 'long'],
    ff1: ['string'],
    siv: ['string', 'binary'],
    gcm: ['string', 'binary'],
  }
  const known =
    (action === 'tokenize' && (method === 'hmac' || method === 'ff1')) ||
    (action === 'encrypt' && (method === 'siv' || method === 'gcm'))
  if (!known) return 'its action or method is not known'
  if (!types[method as KeyMethod].includes(type)) return `${action} by ${method} is not defined for ${type}`
  if (rule.scope === undefined || !scopePattern.test(rule.scope)) return 'its scope is not well-formed'
  if (rule.kid === undefined || !kidPattern.test(rule.kid)) return 'its key id is not well-formed'
  if (method === 'ff1' && !(rule.alphabet !== undefined && Object.hasOwn(alphabets, rule.alphabet)))
    return 'its alphabet is not known'
  const { subject_key_of: of, subject_kind: kind } = rule
  if (of === undefined && kind === undefined) return undefined
  if (action !== 'encrypt') return 'only encrypted columns have keys of subjects'
  if (typeof of !== 'string' || of === '' || typeof kind !== 'string' || !scopePattern.test(kind))
    return 'its subject is not well-formed'
  return undefined
}

function readKeys(value: unknown): void {
  const keys = asObject(value, 'keys')
  if (typeof keys.epk !== 'string' || !Array.isArray(keys.wrapped))
    throw malformed('keys are not well-formed')
  for (const each of keys.wrapped) {
    const wrapped = asObject(each, 'a key')
    for (const name of ['scope', 'method', 'kid', 'key'])
      if (typeof wrapped[name] !== 'string') throw malformed('a key is not well-formed')
  }
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed(`${what} is no object`)
  return value as Record<string, unknown>
}

function malformed(why: string): TransformRefused {
  return new TransformRefused('malformed_plan', `the plan is refused: ${why}`)
}
