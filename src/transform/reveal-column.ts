/**
 * Opens the protected values of a column for a reader who may see them (docs/reference/transform.md 8). A value that the
 * rule could not have made is given as it is stored. A sealed value that does not open is NULL.
 */

import { type BytesColumn, bytesAt, columnOfBytes, isValid } from './bytes-column.ts'
import { bindingOf } from './derive-keys.ts'
import { ff1Column } from './ff1.ts'
import { type AlphabetName, alphabets } from './plan.ts'
import { TransformRefused } from './refusal.ts'
import { kidOfSealed, openValue, subjectOfSealed } from './seal.ts'
import { deriveSubjectKey } from './subject-keys.ts'

/** What a column was protected by. */
export interface RevealedForm {
  readonly tenant: string
  readonly scope: string
  readonly method: 'siv' | 'gcm' | 'ff1'
  readonly type: 'string' | 'binary'
  /** The version that the scope has now: no value names a later key. */
  readonly version: number
  /** With FF1. */
  readonly alphabet?: string
  /** With FF1. */
  readonly kid?: string
}

/** The ids of the subjects' keys that the values of a column name, each once. */
export function subjectIdsOf({ method, type }: RevealedForm, column: BytesColumn): readonly string[] {
  if (method === 'ff1') return []
  const sids = Array.from({ length: column.length }, (_, index) =>
    isValid(column, index) ? subjectOfSealed(method, type, bytesAt(column, index))?.sid : undefined,
  )
  return [...new Set(sids.filter((sid) => sid !== undefined))]
}

/**
 * The column in clear.
 *
 * @param keyOf the scope key of a version
 * @param subjectKeyOf the key of a subject by its id; undefined where it was destroyed
 */
export function revealColumn(
  form: RevealedForm,
  column: BytesColumn,
  keyOf: (kid: string) => Uint8Array,
  subjectKeyOf: (sid: string) => Uint8Array | undefined = () => undefined,
): BytesColumn {
  if (form.method === 'ff1') return revealTokens(form, column, keyOf)
  const { tenant, scope, method, type } = form
  const keys = new Map<string, Uint8Array>()
  const openOfSubject = (value: Uint8Array, { kid, sid }: { readonly kid: string; readonly sid: string }) => {
    const root = isVersion(kid, form.version) ? subjectKeyOf(sid) : undefined
    if (root === undefined) return null
    const label = `${kid}|${sid}`
    const key = keys.get(label) ?? deriveSubjectKey(root, { tenant, scope, method, kid }, sid)
    keys.set(label, key)
    return openValue({ method, type, tenant, scope, kid, key, sid }, value) ?? null
  }
  const values = Array.from({ length: column.length }, (_, index): Uint8Array | null => {
    if (!isValid(column, index)) return null
    const value = bytesAt(column, index)
    const ofSubject = subjectOfSealed(method, type, value)
    if (ofSubject !== undefined) return openOfSubject(value, ofSubject)
    const kid = kidOfSealed(method, type, value)
    if (kid === undefined) return value
    if (!isVersion(kid, form.version)) return null
    const key = keys.get(kid) ?? keyOf(kid)
    keys.set(kid, key)
    return openValue({ method, type, tenant, scope, kid, key }, value) ?? null
  })
  return columnOfBytes(values)
}

/** Whether a key's id is that of a version until now, so that a forged one costs no derivation. */
function isVersion(kid: string, until: number): boolean {
  return /^k[1-9]\d{0,8}$/.test(kid) && Number(kid.slice(1)) <= until
}

/** Tokens name no key: they are opened only while their scope has the key that the rule names. */
function revealTokens(
  { tenant, scope, alphabet, kid, version }: RevealedForm,
  column: BytesColumn,
  keyOf: (kid: string) => Uint8Array,
): BytesColumn {
  if (kid !== `k${version}` || alphabet === undefined || !Object.hasOwn(alphabets, alphabet)) return column
  const tweak = Buffer.from(bindingOf({ tenant, scope, kid }))
  const key = keyOf(kid)
  const open = (values: BytesColumn) => ff1Column('decrypt', key, alphabet as AlphabetName, tweak, values)
  try {
    return open(column)
  } catch (thrown) {
    if (!(thrown instanceof TransformRefused)) throw thrown
  }
  // Some value is no token of this alphabet.
  return columnOfBytes(
    Array.from({ length: column.length }, (_, index): Uint8Array | null => {
      if (!isValid(column, index)) return null
      const value = bytesAt(column, index)
      try {
        return bytesAt(open(columnOfBytes([value])), 0)
      } catch (thrown) {
        if (thrown instanceof TransformRefused) return value
        throw thrown
      }
    }),
  )
}
