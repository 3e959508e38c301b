/**
 * Makes `transform-vectors.json`, which every runtime is checked by: plans, keys, and columns before and after. All
 * keys in it are for tests. Published samples (NIST, RFC 5297) are in `published.ts`.
 */

import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { type MaskValue, maskActions, maskFits } from '../../src/core/mask.ts'
import { bytesAt, columnOfBytes } from '../../src/transform/bytes-column.ts'
import { deriveScopeKey, wrapKeys, writerKeyOf } from '../../src/transform/derive-keys.ts'
import { openPlan, planType } from '../../src/transform/open-plan.ts'
import {
  type ColumnRule,
  isSubjectRule,
  type KeyedRule,
  type KeyMethod,
  type TransformPlan,
} from '../../src/transform/plan.ts'
import { protectColumns } from '../../src/transform/protect-values.ts'
import { TransformRefused } from '../../src/transform/refusal.ts'
import { sealColumn } from '../../src/transform/seal.ts'
import { refKeyName } from '../../src/transform/subject-keys.ts'
import { inputs } from './inputs.ts'
import { subjectVectors } from './subject-vectors.ts'
import { toJson } from './vector-values.ts'

export const tenant = '5f0c7f0e-6f6e-4b4e-9d3e-0a4f6f1d2c3b'
export const tenantKey = new Uint8Array(Buffer.from('covenant-test-tenant-key-0000001').subarray(0, 32))
export const issuer = 'https://covenant.example'
export const table = ['sales', 'orders']
export const tableUuid = '0d7c1f57-3a5e-4f0a-9a52-6f6f0c9d8a11'
export const now = 1_795_000_000
const base = { tenant, scope: 'sensitive.email', kid: 'k1' }

const signingKey = createPrivateKey({
  key: Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from('covenant-test-signing-key-000001').subarray(0, 32),
  ]),
  format: 'der',
  type: 'pkcs8',
})
export const jwks = {
  keys: [
    { kty: 'OKP', crv: 'Ed25519', kid: 'plan-1', x: createPublicKey(signingKey).export({ format: 'jwk' }).x },
  ],
}
const otherKey = createPrivateKey({
  key: Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from('covenant-test-signing-key-000002').subarray(0, 32),
  ]),
  format: 'der',
  type: 'pkcs8',
})
export const writerBytes = Buffer.from('covenant-test-writer-key-0000001').subarray(0, 32)
export const writer = writerKeyOf(writerBytes)

/** A compact JWS of a payload. */
export function signPlan(
  payload: unknown,
  header: Record<string, unknown> = { alg: 'EdDSA', kid: 'plan-1', typ: planType },
  key = signingKey,
): string {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  const text = `${head}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
}

/** Bytes that differ by place and are the same in each run. */
export function counted(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, index) => (index * 7 + 1) & 255)
}

/** The payload of a plan for `columns`, with the keys that they need wrapped for `writer`. */
export function makePlan(
  columns: readonly ColumnRule[],
  changed: Record<string, unknown> = {},
): Record<string, unknown> {
  const nonce = 'AAECAwQFBgcICQoLDA0ODw'
  const keyed = columns.filter((rule): rule is KeyedRule => 'method' in rule)
  const keys = keyed.map((rule) => {
    const { scope, kid, method } = isSubjectRule(rule) ? refKeyName(rule.subject_kind) : rule
    const name = { tenant, scope, kid, method }
    return { ...name, key: deriveScopeKey(tenantKey, name) }
  })
  const plan: TransformPlan = {
    v: 1,
    iss: issuer,
    tenant,
    table_uuid: tableUuid,
    table,
    schema_id: 4,
    policy_version: `sha256:${'0'.repeat(64)}`,
    iat: now - 10,
    exp: now + 590,
    nonce,
    columns,
    complete: true,
    ...(keys.length > 0 && {
      keys: wrapKeys(writer.publicKey, nonce, keys, writerKeyOf(Buffer.alloc(32, 9)), counted),
    }),
  }
  return { ...plan, ...changed }
}

const types = [
  'boolean', 'int', 'long', 'float', 'double', 'string', 'date', 'time', 'uuid', 'binary', 'fixed[4]',
  'decimal(10,2)', 'timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns',
] // biome-ignore format: a table reads better

export function rule(type: string, rest: Record<string, unknown>, required = false): ColumnRule {
  return { field_id: 1, name: 'c', type, required, ...rest } as unknown as ColumnRule
}

/** A rule over a column, and what comes of it. */
export function columnVector(name: string, column: ColumnRule, values: readonly MaskValue[]) {
  const given = { name, column, input: values.map(toJson) }
  try {
    const open = openPlan(signPlan(makePlan([column])), jwks, { issuer, table }, { writer }, now)
    return { ...given, output: (protectColumns(open, { c: values }, now).c as MaskValue[]).map(toJson) }
  } catch (error) {
    if (!(error instanceof TransformRefused)) throw error
    return { ...given, refused: error.code }
  }
}

export function columnVectors() {
  const keyed = (action: string, method: string, more = {}) => ({
    action,
    method,
    scope: base.scope,
    kid: base.kid,
    ...more,
  })
  const out = []
  for (const type of types) {
    const values = [...(inputs[type] ?? []), null]
    for (const mask of maskActions)
      if (maskFits(mask, type))
        out.push(columnVector(`mask ${mask} of ${type}`, rule(type, { action: 'mask', mask }), values))
    out.push(columnVector(`redact an optional ${type}`, rule(type, { action: 'redact' }), values))
    out.push(
      columnVector(`redact a required ${type}`, rule(type, { action: 'redact' }, true), values.slice(0, -1)),
    )
    out.push(columnVector(`keep ${type}`, rule(type, { action: 'keep' }), values))
  }
  const text = [...(inputs.string ?? []), null]
  out.push(columnVector('tokenize text by HMAC', rule('string', keyed('tokenize', 'hmac')), text))
  out.push(
    columnVector('tokenize long by HMAC', rule('long', keyed('tokenize', 'hmac')), [
      ...(inputs.long ?? []),
      null,
    ]),
  )
  out.push(columnVector('encrypt text by SIV', rule('string', keyed('encrypt', 'siv')), text))
  out.push(
    columnVector('encrypt binary by SIV', rule('binary', keyed('encrypt', 'siv')), [
      ...(inputs.binary ?? []),
      null,
    ]),
  )
  for (const [alphabet, values] of Object.entries(ff1Inputs))
    out.push(
      columnVector(
        `tokenize ${alphabet} by FF1`,
        rule('string', keyed('tokenize', 'ff1', { alphabet })),
        values,
      ),
    )
  for (const [why, alphabet, value] of ff1Refused)
    out.push(
      columnVector(`FF1 refuses ${why}`, rule('string', keyed('tokenize', 'ff1', { alphabet })), [
        '4111111111111111',
        value,
      ]),
    )
  for (const method of ['hmac', 'siv', 'gcm'])
    for (const value of ['cse1.k1.AA', 'cge1.k1.AA', 'tok_aa'])
      out.push(
        columnVector(
          `${method} refuses ${value}`,
          rule('string', keyed(method === 'hmac' ? 'tokenize' : 'encrypt', method)),
          [value],
        ),
      )
  out.push(
    columnVector('NULL in a required column', rule('string', keyed('tokenize', 'hmac'), true), ['a', null]),
  )
  for (const [type, method] of [
    ['int', 'hmac'],
    ['long', 'ff1'],
    ['uuid', 'siv'],
    ['date', 'gcm'],
    ['struct', 'siv'],
  ] as const)
    out.push(
      columnVector(
        `${method} is not for ${type}`,
        rule(
          type,
          keyed(method === 'hmac' || method === 'ff1' ? 'tokenize' : 'encrypt', method, {
            alphabet: 'digits',
          }),
        ),
        [],
      ),
    )
  out.push(columnVector('redact of a struct', rule('struct', { action: 'redact' }), []))
  out.push(
    columnVector(
      'a mask that is not for the type',
      rule('int', { action: 'mask', mask: 'show-last-4' }),
      [1],
    ),
  )
  out.push(columnVector('a mask that nobody knows', rule('string', { action: 'mask', mask: 'rot13' }), ['a']))
  out.push(
    columnVector(
      'NULL for a required column by mask',
      rule('string', { action: 'mask', mask: 'replace-with-null' }, true),
      ['a'],
    ),
  )
  out.push(columnVector('an action that nobody knows', rule('string', { action: 'hide' }), ['a']))
  out.push(columnVector('a method that nobody knows', rule('string', keyed('encrypt', 'rot13')), ['a']))
  out.push(
    columnVector(
      'an alphabet that nobody knows',
      rule('string', keyed('tokenize', 'ff1', { alphabet: 'x' })),
      ['a'],
    ),
  )
  out.push(columnVector('a type that nobody knows', rule('text', { action: 'keep' }), ['a']))
  return out
}

const ff1Inputs: Record<string, MaskValue[]> = {
  digits: [
    '4111111111111111',
    '4111-1111-1111-1111',
    '000000',
    '123-45-6789',
    '(555) 010-9999',
    '9'.repeat(40),
    '12345678901234567890123',
    null,
  ],
  base36: ['abcd', 'zz-99-top', 'a1b2c3d4e5f6', 'z'.repeat(40)],
  base62: ['AbC9', 'Order/2026/x7Kq', 'Z'.repeat(40)],
}
const ff1Refused: readonly (readonly [why: string, alphabet: string, value: string])[] = [
  ['five digits', 'digits', '12-345'],
  ['an empty text', 'digits', ''],
  ['a letter among digits', 'digits', '12345678a'],
  ['a capital in base36', 'base36', 'Abcdef'],
  ['a character beyond ASCII', 'digits', '123456é'],
  ['a tab', 'digits', '123\t456'],
  ['41 digits', 'digits', '1'.repeat(41)],
  ['three characters of base36', 'base36', 'abc'],
]

/** Ciphertexts by AES-GCM, which are random: to be opened, not to be made again. */
function gcmVectors() {
  return (['string', 'binary'] as const).flatMap((type) =>
    (inputs[type] ?? []).map((value) => {
      const key = deriveScopeKey(tenantKey, { ...base, method: 'gcm' })
      const plain = typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array)
      const sealed = bytesAt(
        sealColumn({ ...base, type, method: 'gcm', key }, columnOfBytes([plain]), counted),
        0,
      )
      const text = type === 'string' ? Buffer.from(sealed).toString() : Buffer.from(sealed).toString('hex')
      return { type, scope: base.scope, kid: base.kid, plain: toJson(value), sealed: text }
    }),
  )
}

/** Plans that are to be refused when they are opened, and one that is not. */
function planVectors() {
  const columns = [
    rule('string', { action: 'tokenize', method: 'hmac', scope: base.scope, kid: base.kid }),
    { field_id: 2, name: 'id', type: 'long', required: true, action: 'keep' } as ColumnRule,
  ]
  const good = makePlan(columns)
  const { keys, ...withoutKeys } = good
  const cases: readonly (readonly [name: string, jws: string, changed?: Record<string, unknown>])[] = [
    ['opens', signPlan(good)],
    ['no signature', signPlan(good).replace(/\.[^.]*$/, '.')],
    [
      'a payload that was changed',
      signPlan(good).replace(
        /\.[^.]*\./,
        `.${signPlan(makePlan(columns, { exp: now + 591 })).split('.')[1]}.`,
      ),
    ],
    ['another key', signPlan(good, undefined, otherKey)],
    ['an unknown key id', signPlan(good, { alg: 'EdDSA', kid: 'plan-2', typ: planType })],
    ['the algorithm none', signPlan(good, { alg: 'none', kid: 'plan-1', typ: planType })],
    ['another type of token', signPlan(good, { alg: 'EdDSA', kid: 'plan-1', typ: 'JWT' })],
    ['no JWS at all', 'plan'],
    ['another issuer', signPlan(makePlan(columns, { iss: 'https://other.example' }))],
    ['another tenant', signPlan(makePlan(columns, { tenant: '00000000-0000-4000-8000-000000000000' }))],
    ['another table', signPlan(makePlan(columns, { table: ['sales', 'other'] }))],
    [
      'another table uuid',
      signPlan(makePlan(columns, { table_uuid: '00000000-0000-4000-8000-000000000000' })),
    ],
    ['another schema', signPlan(makePlan(columns, { schema_id: 5 }))],
    ['expired', signPlan(makePlan(columns, { iat: now - 601, exp: now - 1 }))],
    ['expired this second', signPlan(makePlan(columns, { iat: now - 600, exp: now }))],
    ['a clock that is late', signPlan(makePlan(columns, { iat: now + 61, exp: now + 600 }))],
    ['a life of over 600 s', signPlan(makePlan(columns, { iat: now - 10, exp: now + 591 }))],
    ['another version', signPlan(makePlan(columns, { v: 2 }))],
    ['not complete', signPlan(makePlan(columns, { complete: false }))],
    [
      'two columns of one name',
      signPlan(makePlan([columns[0] as ColumnRule, { ...(columns[0] as ColumnRule), field_id: 3 }])),
    ],
    ['no keys', signPlan(withoutKeys)],
    [
      'a key that was changed',
      signPlan({
        ...good,
        keys: {
          ...(keys as object),
          wrapped: (keys as { wrapped: { key: string }[] }).wrapped.map((each) => ({
            ...each,
            key: `B${each.key.slice(1)}`,
          })),
        },
      }),
    ],
  ]
  return cases.map(([name, jws]) => {
    const expected = { issuer, tenant, table, tableUuid, schemaId: 4 }
    try {
      openPlan(jws, jwks, expected, { writer }, now)
      return { name, jws, opens: true }
    } catch (error) {
      if (!(error instanceof TransformRefused)) throw error
      return { name, jws, refused: error.code }
    }
  })
}

/** Batches against the columns of a plan. */
function batchVectors() {
  const columns = [
    rule('string', { action: 'tokenize', method: 'hmac', scope: base.scope, kid: base.kid }),
    { field_id: 2, name: 'id', type: 'long', required: true, action: 'keep' } as ColumnRule,
  ]
  const open = openPlan(signPlan(makePlan(columns)), jwks, { issuer, table }, { writer }, now)
  const batches: readonly (readonly [string, Record<string, MaskValue[]>, number])[] = [
    ['all columns', { id: [1n], c: ['a'] }, now],
    ['an optional column is absent', { id: [1n] }, now],
    ['a column that the plan does not know', { id: [1n], c: ['a'], more: ['b'] }, now],
    ['a required column is absent', { c: ['a'] }, now],
    ['the plan expired in between', { id: [1n], c: ['a'] }, now + 590],
  ]
  return batches.map(([name, batch, at]) => {
    const json = (columnsOf: Readonly<Record<string, readonly MaskValue[]>>) =>
      Object.fromEntries(Object.entries(columnsOf).map(([column, values]) => [column, values.map(toJson)]))
    try {
      return { name, now: at, columns, batch: json(batch), output: json(protectColumns(open, batch, at)) }
    } catch (error) {
      if (!(error instanceof TransformRefused)) throw error
      return { name, now: at, columns, batch: json(batch), refused: error.code }
    }
  })
}

/** Everything that the file holds. */
export function makeVectors() {
  const derive = (['hmac', 'ff1', 'siv', 'gcm'] as KeyMethod[]).flatMap((method) =>
    ['k1', 'k2'].map((kid) => {
      const name = { ...base, method, kid }
      return { ...name, key: Buffer.from(deriveScopeKey(tenantKey, name)).toString('hex') }
    }),
  )
  return {
    version: 1,
    tenant,
    tenant_key: Buffer.from(tenantKey).toString('hex'),
    issuer,
    table,
    table_uuid: tableUuid,
    schema_id: 4,
    now,
    jwks,
    writer: { private_key: writerBytes.toString('hex'), public_key: writer.publicKey },
    derive,
    columns: columnVectors(),
    gcm: gcmVectors(),
    plans: planVectors(),
    batches: batchVectors(),
    subjects: subjectVectors({
      ...{ tenant, tenantKey, issuer, table, tableUuid, now, jwks, writer },
      ...{ makePlan, signPlan, counted },
    }),
  }
}
