/**
 * Measures how many distinct values a second the transform protects on one core: HMAC, GCM, SIV and FF1 over texts of
 * 16 digits, as columns of bytes. The baseline hashes each value by SHA-256, one after another, in the same rounds; SIV
 * and FF1 are measured beside @noble/ciphers as well, which protects one value at a time
 * (docs/adr/0029-ff1-and-siv-are-our-own.md).
 */

import { createHash } from 'node:crypto'
import { aessiv } from '@noble/ciphers/aes.js'
import { FF1 } from '@noble/ciphers/ff1.js'
import { type BytesColumn, bytesAt } from '../src/transform/bytes-column.ts'
import type { KeyedRule } from '../src/transform/plan.ts'
import { protectBytes } from '../src/transform/protect-bytes.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { percentile } from './statistics.ts'
import { measureAppend } from './transform-append.ts'
import { measurePython } from './transform-python.ts'

/** Distinct values in one second that the project promises; Python is to be within three times of them. */
const valuesPerSecondMin = { hmac: 500_000, gcm: 200_000, siv: 100_000, ff1: 100_000 } as const
const pythonPerSecondMin = Object.fromEntries(
  Object.entries(valuesPerSecondMin).map(([method, values]) => [method, values / 3]),
)
type Method = keyof typeof valuesPerSecondMin

export const transform: BenchEntry = {
  name: 'transform',
  about: 'distinct values protected before they are written, by method',
  options: {
    python: { type: 'boolean', about: 'instead, the Python library (fetched by pip)' },
    append: {
      type: 'boolean',
      about: 'instead, an append of PyIceberg with and without protection (fetched by pip)',
    },
  },
  run,
}

/** Card numbers in one buffer, all different. */
function distinctDigits(count: number): BytesColumn {
  const data = new Uint8Array(count * 16)
  const offsets = Float64Array.from({ length: count + 1 }, (_, index) => index * 16)
  for (let index = 0; index < count; index += 1)
    data.set(Buffer.from(String(4_000_000_000_000_000 + index * 97)), index * 16)
  return { length: count, data, offsets }
}

const rules: Readonly<
  Record<Method, Pick<KeyedRule, 'action' | 'method'> & { readonly alphabet?: 'digits' }>
> = {
  hmac: { action: 'tokenize', method: 'hmac' },
  gcm: { action: 'encrypt', method: 'gcm' },
  siv: { action: 'encrypt', method: 'siv' },
  ff1: { action: 'tokenize', method: 'ff1', alphabet: 'digits' },
}

/** Protects one value with the library, or undefined where the runtime itself has the method. */
const libraries: Readonly<Record<Method, ((key: Uint8Array, value: Uint8Array) => unknown) | undefined>> = {
  hmac: undefined,
  gcm: undefined,
  siv: (key, value) => aessiv(key).encrypt(value),
  ff1: (key, value) => FF1(10, key).encrypt(Array.from(value, (digit) => digit - 48)),
}
/** The library takes a quarter of a millisecond for a value of FF1. */
const libraryValuesMax = 1_000

async function* run(asked: BenchRun): AsyncGenerator<BenchResult> {
  if (asked.flags.values.append === true) yield await measureAppend(asked)
  else if (asked.flags.values.python === true) yield* measurePython(asked, pythonPerSecondMin)
  else yield* measureMethods(asked)
}

async function* measureMethods({ smoke }: BenchRun): AsyncGenerator<BenchResult> {
  const count = smoke ? 2_000 : 200_000
  const rounds = smoke ? 2 : 9
  const column = distinctDigits(count)
  for (const [name, rule] of Object.entries(rules)) {
    const method = name as Method
    const key = new Uint8Array(method === 'siv' ? 64 : 32).fill(7)
    const full = {
      field_id: 1,
      name: 'c',
      type: 'string',
      required: false,
      scope: 's',
      kid: 'k1',
      ...rule,
    } as KeyedRule
    const library = libraries[method]
    const libraryTimes: number[] = []
    const libraryCount = Math.min(count, libraryValuesMax)
    const times: number[] = []
    const baselineTimes: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      baselineTimes.push(timeOf(() => hashEach(column)))
      times.push(timeOf(() => protectBytes(full, 'tenant', key, column).length))
      if (library) libraryTimes.push(timeOf(() => protectEach(library, key, column, libraryCount)))
    }
    const perSecond = count / (percentile(times, 0.5) / 1000)
    yield {
      bench: 'transform',
      case: { method, values: count },
      figures: {
        values_per_s: Math.round(perSecond),
        baseline_values_per_s: Math.round(count / (percentile(baselineTimes, 0.5) / 1000)),
        ...(library && {
          library_values_per_s: Math.round(libraryCount / (percentile(libraryTimes, 0.5) / 1000)),
        }),
      },
      ...(!smoke && { verdict: perSecond >= valuesPerSecondMin[method] ? 'pass' : 'fail' }),
    }
  }
}

function protectEach(
  library: (key: Uint8Array, value: Uint8Array) => unknown,
  key: Uint8Array,
  column: BytesColumn,
  count: number,
): number {
  for (let index = 0; index < count; index += 1) library(key, bytesAt(column, index))
  return count
}

function hashEach(column: BytesColumn): number {
  let bytes = 0
  for (let index = 0; index < column.length; index += 1)
    bytes += createHash('sha256').update(bytesAt(column, index)).digest().length
  return bytes
}

function timeOf(work: () => number): number {
  const startMs = performance.now()
  if (work() === 0) throw new Error('nothing was protected')
  return performance.now() - startMs
}
