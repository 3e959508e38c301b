/** Vectors of random values, in the form of `transform-vectors.json`, for runtimes that read that file. */

import type { MaskValue } from '../../src/core/mask.ts'
import { generator } from '../support/generator.ts'
import { inputs } from './inputs.ts'
import { columnVector, makeVectors, rule } from './make-vectors.ts'
import { randomInputs, seed } from './random-inputs.ts'
import { keylessRules } from './sql-writers.ts'

const keyed = { scope: 'sensitive.email', kid: 'k1' }
const separators = '-/. ()'

/** Texts of an alphabet that FF1 takes, with separators in them. */
function randomDomain(symbols: string, least: number, count: number): readonly MaskValue[] {
  const next = generator(seed + symbols.length)
  const below = (end: number) => Math.floor(next() * end)
  return Array.from({ length: count }, () =>
    Array.from({ length: least + below(41 - least) }, () => symbols[below(symbols.length)])
      .flatMap((symbol) => (below(5) === 0 ? [symbol, separators[below(separators.length)]] : [symbol]))
      .join(''),
  )
}

/** @param count values of each type beyond those of the file */
export function randomVectors(count: number): unknown {
  const columns = Object.keys(inputs).flatMap((type) => {
    const values = randomInputs(type, count)
    const there = values.filter((value) => value !== null)
    const keyless = keylessRules(type).map((each) =>
      columnVector(`random ${each.action} of ${type}`, each, each.required ? there : values),
    )
    const byKey = [
      ['tokenize', 'hmac', ['string', 'long']],
      ['encrypt', 'siv', ['string', 'binary']],
    ] as const
    return [
      ...keyless,
      ...byKey
        .filter(([, , types]) => types.some((one) => one === type))
        .map(([action, method]) =>
          columnVector(`random ${method} of ${type}`, rule(type, { action, method, ...keyed }), values),
        ),
    ]
  })
  const alphabets = [
    ['digits', '0123456789', 6],
    ['base36', '0123456789abcdefghijklmnopqrstuvwxyz', 4],
    ['base62', '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 4],
  ] as const
  const byFf1 = alphabets.map(([alphabet, symbols, least]) =>
    columnVector(
      `random ${alphabet} by FF1`,
      rule('string', { action: 'tokenize', method: 'ff1', alphabet, ...keyed }),
      randomDomain(symbols, least, count),
    ),
  )
  return { ...makeVectors(), columns: [...columns, ...byFf1] }
}
