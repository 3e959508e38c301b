/** Encrypts a column under the keys of the subjects that another column names, value by value. */

import { type BytesColumn, bytesAt, columnOfBytes, isValid } from './bytes-column.ts'
import { type OpenPlan, refKeyRule } from './open-plan.ts'
import { isSubjectRule, type SubjectRule } from './plan.ts'
import { refuseProtected } from './protect-bytes.ts'
import { TransformRefused } from './refusal.ts'
import { sealColumn } from './seal.ts'
import { type Subject, type SubjectKey, subjectKeyLabel, subjectLabel, subjectRef } from './subject-keys.ts'

/** The values of a subject column as text; null where a row names no subject. */
export type SubjectTexts = readonly (string | null)[]

/**
 * The subjects of a batch, each once.
 *
 * @param textsOf the values of a column of the batch; undefined where it has none
 * @throws TransformRefused `no_subject` where the batch lacks a subject column
 */
export function subjectsOf(
  open: OpenPlan,
  names: readonly string[],
  textsOf: (column: string) => SubjectTexts | undefined,
): readonly Subject[] {
  const found = new Map<string, Subject>()
  for (const rule of open.plan.columns) {
    if (!isSubjectRule(rule) || !names.includes(rule.name)) continue
    const refOf = refsOf(open, rule)
    for (const text of new Set(textsOf(rule.subject_key_of) ?? missing(rule))) {
      if (text === null) continue
      const subject = { kind: rule.subject_kind, ref: refOf(text) }
      found.set(subjectLabel(subject), subject)
    }
  }
  return [...found.values()]
}

/**
 * Encrypts a column.
 *
 * @param texts of the subject column, undefined where the batch has none
 * @throws TransformRefused `no_subject`, `subject_keys`, `subject_shredded`, `already_protected`
 */
export function protectBySubject(
  open: OpenPlan,
  rule: SubjectRule,
  texts: SubjectTexts | undefined,
  column: BytesColumn,
): BytesColumn {
  const subjects = texts ?? missing(rule)
  if (rule.type === 'string') refuseProtected(column)
  const refOf = refsOf(open, rule)
  const rows = new Map<string, number[]>()
  for (let index = 0; index < column.length; index += 1) {
    if (!isValid(column, index)) continue
    const text = subjects[index]
    if (text === null || text === undefined)
      throw new TransformRefused('no_subject', `a row with a value has none in ${rule.subject_key_of}`)
    const members = rows.get(text)
    if (members === undefined) rows.set(text, [index])
    else members.push(index)
  }
  const out = new Array<Uint8Array | null>(column.length).fill(null)
  const { method, scope, kid } = rule
  const { tenant } = open.plan
  // Every key is there before the first value is sealed.
  const keyed = [...rows].map(([text, members]) => [keyFor(open, rule, refOf(text)), members] as const)
  for (const [{ sid, key }, members] of keyed) {
    const context = { method, type: rule.type as 'string' | 'binary', tenant, scope, kid, key, sid }
    const sealed = sealColumn(context, columnOfBytes(members.map((index) => bytesAt(column, index))))
    for (const [place, index] of members.entries()) out[index] = bytesAt(sealed, place)
  }
  return columnOfBytes(out)
}

function keyFor({ subjectKeys }: OpenPlan, rule: SubjectRule, ref: string): SubjectKey {
  const subject = { kind: rule.subject_kind, ref }
  if (subjectKeys?.get(subjectLabel(subject)) === 'shredded')
    throw new TransformRefused('subject_shredded', 'a row is of a subject that was erased')
  const key = subjectKeys?.get(subjectKeyLabel(subject, rule))
  if (key === undefined || key === 'shredded')
    throw new TransformRefused('subject_keys', 'the key of a subject cannot be had')
  return key
}

function refsOf(open: OpenPlan, rule: SubjectRule): (text: string) => string {
  const key = open.keyOf(refKeyRule(rule))
  return (text) => subjectRef(key, text)
}

function missing({ name, subject_key_of: of }: SubjectRule): never {
  throw new TransformRefused('no_subject', `the batch has no column ${of}, which names its subjects`, name)
}
