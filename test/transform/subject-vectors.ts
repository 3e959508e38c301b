/** The part of the vector file about keys of subjects: references, keys, batches, ciphertexts and answers of the service. */

import type { MaskValue } from '../../src/core/mask.ts'
import { bytesAt, columnOfBytes } from '../../src/transform/bytes-column.ts'
import { deriveScopeKey, writerKeyOf } from '../../src/transform/derive-keys.ts'
import { openSubjectKeys } from '../../src/transform/fetch-subject-keys.ts'
import { openPlan } from '../../src/transform/open-plan.ts'
import type { ColumnRule } from '../../src/transform/plan.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { TransformRefused } from '../../src/transform/refusal.ts'
import { sealColumn } from '../../src/transform/seal.ts'
import {
  deriveSubjectKey,
  refKeyName,
  type SubjectKeysAnswer,
  subjectKeysType,
  subjectRef,
  wrapSubjectKeys,
} from '../../src/transform/subject-keys.ts'
import { toJson } from './vector-values.ts'

const kind = 'customer'
const subject = { subject_key_of: 'id', subject_kind: kind, scope: 'note', kid: 'k1' }
const columns = [
  { field_id: 1, name: 'id', type: 'long', required: false, action: 'keep' },
  { field_id: 2, name: 'c', type: 'string', required: false, action: 'encrypt', method: 'siv', ...subject },
  { field_id: 3, name: 'b', type: 'binary', required: false, action: 'encrypt', method: 'siv', ...subject },
  { field_id: 4, name: 'g', type: 'string', required: false, action: 'encrypt', method: 'gcm', ...subject },
] as unknown as ColumnRule[]
const sids = new Map([
  ['1', 'AAAAAAAAAAAAAAAAAAAAAQ'],
  ['2', 'AAAAAAAAAAAAAAAAAAAAAg'],
  ['-9223372036854775808', '_-AAAAAAAAAAAAAAAAAAAA'],
])

/** What the file is made with. */
export interface VectorBase {
  readonly tenant: string
  readonly tenantKey: Uint8Array
  readonly issuer: string
  readonly table: readonly string[]
  readonly tableUuid: string
  readonly now: number
  readonly jwks: Parameters<typeof openPlan>[1]
  readonly writer: ReturnType<typeof writerKeyOf>
  readonly makePlan: (
    columns: readonly ColumnRule[],
    changed?: Record<string, unknown>,
  ) => Record<string, unknown>
  readonly signPlan: (payload: unknown, header?: Record<string, unknown>) => string
  readonly counted: (bytes: number) => Uint8Array
}

export function subjectVectors(on: VectorBase) {
  const { tenant, tenantKey, now, jwks, writer, issuer, table } = on
  const refKey = deriveScopeKey(tenantKey, { tenant, ...refKeyName(kind) })
  const refOf = (value: string) => subjectRef(refKey, value)
  const keys = [...sids].flatMap(([value, sid], place) =>
    (['siv', 'gcm'] as const).map((method) => {
      const name = { scope: 'note', method, kid: 'k1' }
      const key = deriveSubjectKey(new Uint8Array(32).fill(place + 1), { tenant, ...name }, sid)
      return { kind, ref: refOf(value), sid, ...name, key }
    }),
  )
  const shredded = [{ kind, ref: refOf('3') }]
  const plan = on.makePlan(columns, { subject_keys: { max: 2 } })
  const nonce = String(plan.nonce)
  const good: SubjectKeysAnswer = {
    ...{ v: 1, iss: issuer, tenant, table_uuid: on.tableUuid, nonce, iat: now - 5 },
    ...wrapSubjectKeys(writer.publicKey, nonce, tenant, keys, on.counted, writerKeyOf(Buffer.alloc(32, 8))),
    shredded,
  }
  const open = openPlan(on.signPlan(plan), jwks, { issuer, table }, { writer }, now)
  const sign = (payload: object, typ = subjectKeysType) =>
    on.signPlan(payload, { alg: 'EdDSA', kid: 'plan-1', typ })
  const opened = openSubjectKeys(open.plan, sign(good), jwks, writer, now)
  const answers = answersOf(good, sign).map(([name, jws]) => ({
    ...{ name, jws },
    ...outcome(() => {
      openSubjectKeys(open.plan, jws, jwks, writer, now)
      return { opens: true }
    }),
  }))
  const batches = batchesOf.map(([name, batch]) => ({
    ...{ name, batch: json(batch) },
    ...outcome(() => ({ output: json(protectColumns({ ...open, subjectKeys: opened }, batch, now)) })),
  }))
  return {
    plan: on.signPlan(plan),
    columns,
    refs: ['1', '2', '3', '-9223372036854775808', '', 'ä€😀'].map((value) => ({
      kind,
      value,
      ref: refOf(value),
    })),
    keys: keys.map((each) => ({ ...each, key: Buffer.from(each.key).toString('hex') })),
    shredded,
    answers,
    batches,
    gcm: gcmOf(on, keys),
    plans: plansOf(on),
  }
}

const batchesOf: readonly (readonly [string, Record<string, MaskValue[]>])[] = [
  [
    'two subjects',
    { id: [1n, 2n, 1n], c: ['a', 'a', 'a'], b: [new Uint8Array([1]), null, new Uint8Array()] },
  ],
  ['the least number', { id: [-(2n ** 63n)], c: ['ä€😀'] }],
  ['NULL needs no subject', { id: [null, 1n], c: [null, 'x'] }],
  ['a value without a subject', { id: [null, 1n], c: ['x', 'y'] }],
  ['a batch without the subject column', { c: ['x'] }],
  ['a subject whose key was not sent', { id: [1n, 4n], c: ['x', 'y'] }],
  ['an erased subject', { id: [1n, 3n], c: ['x', 'y'] }],
  ['NULL of an erased subject', { id: [3n], c: [null] }],
  ['a value that is sealed', { id: [1n], c: ['css1.k1.AA'] }],
  ['a value that is sealed at random', { id: [1n], c: ['cgs1.k1.AA'] }],
]

function answersOf(good: SubjectKeysAnswer, sign: (payload: object, typ?: string) => string) {
  const [first, ...others] = good.keys
  const changedKey = { ...first, key: `B${first?.key.slice(1)}` }
  return [
    ['opens', sign(good)],
    ['the type of a plan', sign(good, 'covenant-plan+jwt')],
    ['no signature', sign(good).replace(/\.[^.]*$/, '.')],
    ['no JWS at all', 'keys'],
    ['another issuer', sign({ ...good, iss: 'https://other.example' })],
    ['another tenant', sign({ ...good, tenant: '00000000-0000-4000-8000-000000000000' })],
    ['another table', sign({ ...good, table_uuid: '00000000-0000-4000-8000-000000000000' })],
    ['another plan', sign({ ...good, nonce: 'BBECAwQFBgcICQoLDA0ODw' })],
    ['another version', sign({ ...good, v: 2 })],
    ['of the future', sign({ ...good, iat: good.iat + 66 })],
    ['too old', sign({ ...good, iat: good.iat - 595 })],
    ['a key that was changed', sign({ ...good, keys: [changedKey, ...others] })],
    ['the key of another subject', sign({ ...good, keys: [{ ...first, ref: 'A'.repeat(22) }, ...others] })],
    ['an id that is none', sign({ ...good, keys: [{ ...first, sid: 'short' }, ...others] })],
    ['no keys', sign({ ...good, keys: undefined })],
  ] as const
}

/** Plans whose subjects are not as they must be. */
function plansOf({ makePlan, signPlan, issuer, table, jwks, writer, now }: VectorBase) {
  const [id, c] = columns as [ColumnRule, ColumnRule]
  const max = { subject_keys: { max: 2 } }
  const cases: readonly (readonly [string, string])[] = [
    ['opens', signPlan(makePlan([id, c], max))],
    ['no subject_keys', signPlan(makePlan([id, c]))],
    ['none at once', signPlan(makePlan([id, c], { subject_keys: { max: 0 } }))],
    ['no subject column', signPlan(makePlan([c], max))],
    [
      'a subject column of another type',
      signPlan(makePlan([{ ...id, type: 'double' } as ColumnRule, c], max)),
    ],
    ['its own subject', signPlan(makePlan([id, { ...c, subject_key_of: 'c' } as ColumnRule], max))],
    ['no kind', signPlan(makePlan([id, { ...c, subject_kind: undefined } as never], max))],
    [
      'a kind that is not well-formed',
      signPlan(makePlan([id, { ...c, subject_kind: 'a b' } as ColumnRule], max)),
    ],
    [
      'a subject of a token',
      signPlan(makePlan([id, { ...c, action: 'tokenize', method: 'hmac' } as ColumnRule], max)),
    ],
  ]
  return cases.map(([name, jws]) => ({
    ...{ name, jws },
    ...outcome(() => {
      openPlan(jws, jwks, { issuer, table }, { writer }, now)
      return { opens: true }
    }),
  }))
}

/** Ciphertexts by AES-GCM, to be opened. */
function gcmOf(
  { tenant, counted }: VectorBase,
  keys: readonly { sid: string; method: string; key: Uint8Array }[],
) {
  const found = keys.find(({ method }) => method === 'gcm')
  const named = { tenant, scope: 'note', kid: 'k1', sid: found?.sid ?? '', method: 'gcm' } as const
  const { tenant: _, method: __, ...shown } = named
  return (['string', 'binary'] as const).map((type) => {
    const plain = Buffer.from('plain')
    const context = { ...named, type, key: found?.key ?? new Uint8Array() }
    const sealed = Buffer.from(bytesAt(sealColumn(context, columnOfBytes([plain]), counted), 0))
    const text = type === 'string' ? sealed.toString() : sealed.toString('hex')
    const key = Buffer.from(context.key).toString('hex')
    return { type, ...shown, key, plain: type === 'string' ? 'plain' : plain.toString('hex'), sealed: text }
  })
}

function json(columnsOf: Readonly<Record<string, readonly MaskValue[]>>) {
  return Object.fromEntries(Object.entries(columnsOf).map(([name, values]) => [name, values.map(toJson)]))
}

function outcome<T extends object>(work: () => T): T | { readonly refused: string } {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TransformRefused)) throw error
    return { refused: error.code }
  }
}
