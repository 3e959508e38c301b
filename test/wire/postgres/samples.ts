/** Columns of every type with values that are hard to format, and random ones from a fixed seed. */

import type { ColumnVector } from '../../../src/core/result-batch.ts'
import type { SqlType } from '../../../src/core/sql-type.ts'
import { byteValues, utf8Values } from '../../../src/core/variable-width.ts'

/** Numbers that are the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface Sample {
  readonly name: string
  readonly type: SqlType
  readonly column: ColumnVector
  readonly rowCount: number
}

const infinity = 9_223_372_036_854_775_807n
const minusInfinity = -9_223_372_036_854_775_808n
const texts = [
  '',
  'a',
  'NULL',
  'null',
  'ä€😀',
  'a,b',
  '"q"',
  '\\',
  '{}',
  ' ',
  'tab\tline\n\v\f\r',
  'x'.repeat(300),
]
const uuids = ['00000000-0000-0000-0000-000000000000', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']

function floats(random: () => number): number[] {
  const special = [0, -0, 1, -1, 0.1, 1 / 3, 1e14, 1e15, 1e16, 123456, 1e5, 1e6, 1234567, 1e-4, 1e-5]
  const extreme = [
    Number.NaN,
    Infinity,
    -Infinity,
    1.5e300,
    5e-324,
    Number.MAX_VALUE,
    2 ** 53,
    2 ** -20,
    2 ** 70,
    2 ** 54 + 4,
    2 ** 60 + 256,
    63_561_048,
    16_777_218,
  ]
  return [
    ...special,
    ...extreme,
    ...Array.from({ length: 300 }, () => (random() - 0.5) * 10 ** Math.floor(random() * 60 - 30)),
    ...[
      999_999_999_999_999, 999_999_999_999_999.9, 99_999_999.999_999, 0.000_1, 0.300_000_000_000_000_04, 9.5,
      8.5, 0.5, 2.5, -3_499_016.25,
    ],
    // What people write: few digits behind the point.
    ...Array.from(
      { length: 300 },
      (_, index) => Math.round((random() - 0.5) * 10 ** (index % 17)) / 10 ** (index % 9),
    ),
  ]
}

function bigints(random: () => number): bigint[] {
  const special = [
    0n,
    1n,
    -1n,
    9n,
    10n,
    -10n,
    9999n,
    10000n,
    2n ** 31n,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
  ]
  const scattered = Array.from({ length: 300 }, () =>
    BigInt.asIntN(
      64,
      BigInt(Math.floor(random() * 2 ** 50)) * BigInt(Math.floor(random() * 2 ** 14) - 2 ** 13),
    ),
  )
  return [...special, infinity, minusInfinity + 1n, ...scattered]
}

const sample = (name: string, type: SqlType, column: ColumnVector, rowCount: number): Sample => ({
  name,
  type,
  column,
  rowCount,
})

/** Samples of every scalar type and of arrays. */
export function samples(seed: number): readonly Sample[] {
  const random = seeded(seed)
  const wide = bigints(random)
  const real = floats(random)
  const narrow = Int32Array.from([
    0,
    1,
    -1,
    99,
    100,
    2 ** 31 - 1,
    -(2 ** 31),
    ...wide.map((v) => Number(BigInt.asIntN(32, v))),
  ])
  const days = Int32Array.from([
    0,
    -1,
    10_957,
    10_956,
    59,
    60,
    -719_162,
    -719_163,
    -719_528,
    -2_440_588,
    2_145_042_905,
    2 ** 31 - 1,
    -(2 ** 31),
    2_932_897,
    ...Array.from({ length: 300 }, () => Math.floor((random() - 0.5) * 2_000_000)),
  ])
  const micros = BigInt64Array.from([
    0n,
    -1n,
    1n,
    946_684_800_000_000n,
    253_402_300_800_000_000n,
    -62_135_596_800_000_000n,
    -62_135_596_800_000_001n,
    -210_866_803_200_000_000n,
    9_223_371_331_199_999_999n - 946_684_800_000_000n,
    infinity,
    minusInfinity,
    ...Array.from({ length: 300 }, () => BigInt(Math.floor((random() - 0.5) * 2 ** 54))),
  ])
  const times = BigInt64Array.from([
    0n,
    1n,
    86_399_999_999n,
    86_400_000_000n,
    43_200_000_000n,
    3_600_500_000n,
  ])
  const pick = (most: number) => Math.floor((random() - 0.5) * most)
  const spans = Array.from({ length: 300 }, () => [pick(5), pick(40), pick(5)] as const)
  const months = Int32Array.from([0, 1, 12, 13, -1, -13, 14, 0, 0, 0, ...spans.map(([m]) => m * 7)])
  const spanDays = Int32Array.from([0, 0, 0, 1, 1, -1, -3, 1, -1, 0, ...spans.map(([, d]) => d)])
  const spanMicros = BigInt64Array.from([
    0n,
    0n,
    3_723_000_000n,
    -3_723_500_000n,
    1n,
    -1n,
    100n * 3_600_000_000n,
    -1_000_000n,
    1_000_000n,
    9_000_000_000_000_000_123n,
    ...spans.map(([, , h]) => BigInt(h) * 1_800_000_001n),
  ])
  const listed = [
    sample('bool', 'bool', { type: 'bool', values: Uint8Array.of(0, 1) }, 2),
    sample('int2', 'int2', { type: 'int2', values: Int16Array.of(0, -1, 32767, -32768, 10) }, 5),
    sample('int4', 'int4', { type: 'int4', values: narrow }, narrow.length),
    sample('int8', 'int8', { type: 'int8', values: BigInt64Array.from(wide) }, wide.length),
    sample('float8', 'float8', { type: 'float8', values: Float64Array.from(real) }, real.length),
    sample('float4', 'float4', { type: 'float4', values: Float32Array.from(real) }, real.length),
    ...[0, 1, 2, 3, 4, 5, 8, 12, 13, 15, 18].map((scale) =>
      sample(
        `numeric of scale ${scale}`,
        'numeric',
        { type: 'numeric', values: BigInt64Array.from(wide), scale },
        wide.length,
      ),
    ),
    sample(
      'wide numeric',
      'numeric',
      { type: 'numeric', values: [10n ** 37n, -(10n ** 37n) + 1n, 0n, 12340000n], scale: 9 },
      4,
    ),
    sample(
      'numeric of a scale for each',
      'numeric',
      {
        type: 'numeric',
        values: [10n, 5n, -25n, 123_456_789n, 0n, 10n ** 20n, -125n],
        scale: Uint16Array.of(0, 16, 1, 4, 20, 20, 24),
      },
      4,
    ),
    sample('date', 'date', { type: 'date', values: days }, days.length),
    sample('time', 'time', { type: 'time', values: times }, times.length),
    sample('timestamp', 'timestamp', { type: 'timestamp', values: micros }, micros.length),
    sample('timestamptz', 'timestamptz', { type: 'timestamptz', values: micros }, micros.length),
    sample(
      'interval',
      'interval',
      { type: 'interval', months, days: spanDays, micros: spanMicros },
      months.length,
    ),
    sample('text', 'text', { type: 'text', ...utf8Values(texts) }, texts.length),
    sample('varchar', 'varchar', { type: 'varchar', ...utf8Values(texts) }, texts.length),
    sample('json', 'json', { type: 'json', ...utf8Values(['{"a": 1}', '[]']) }, 2),
    sample('jsonb', 'jsonb', { type: 'jsonb', ...utf8Values(['{"a": 1}', '"ä"']) }, 2),
    sample('uuid', 'uuid', { type: 'uuid', values: uuids }, 2),
    sample(
      'bytea',
      'bytea',
      { type: 'bytea', ...byteValues([Uint8Array.of(), Uint8Array.of(0, 127, 255)]) },
      2,
    ),
  ] as const
  return [...listed, ...listed.map(arrayOf)]
}

/** All the values in one array, an array with a NULL, an empty one. */
function arrayOf({ name, type, column, rowCount }: Sample): Sample {
  const validity = new Uint8Array(Math.ceil(rowCount / 8)).fill(255)
  validity[0] = 0b1111_1101
  const elements = { ...column, validity } as ColumnVector
  const offsets = Uint32Array.of(0, rowCount, rowCount)
  return {
    name: `${name}[]`,
    type: `${type}[]` as SqlType,
    column: { type: 'array', offsets, elements },
    rowCount: 2,
  }
}
