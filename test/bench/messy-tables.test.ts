/** The messy tables on which detection is measured: made by their seed alone, and without the detector's vocabulary. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { messyColumns, messySeeds } from '../../bench/detection/messy-tables.ts'

test('messy tables are the same for the same seed, and about 268 columns', () => {
  const made = messyColumns({ seed: 1, cells: 4 })
  expect(JSON.stringify(messyColumns({ seed: 1, cells: 4 }))).toBe(JSON.stringify(made))
  expect(JSON.stringify(messyColumns({ seed: 2, cells: 4 }))).not.toBe(JSON.stringify(made))
  expect(made.length).toBeGreaterThan(250)
  expect(made.length).toBeLessThan(290)
})

test('no held-out seed is one of those by which the classifiers are tuned', () => {
  const tuning: readonly number[] = messySeeds.tuning
  expect(messySeeds.heldOut.filter((seed) => tuning.includes(seed))).toEqual([])
  expect(messySeeds.heldOut.length).toBeGreaterThanOrEqual(6)
})

test('the generator of messy tables imports nothing of the classifiers but the names of the classes', () => {
  for (const file of ['messy-tables', 'messy-text', 'messy-values']) {
    const text = readFileSync(new URL(`../../bench/detection/${file}.ts`, import.meta.url), 'utf8')
    const imports = [...text.matchAll(/^import (.*?) from '(.*?)'/gms)].map(([, what = '', from]) => ({
      what,
      from,
    }))
    expect(imports.length).toBeGreaterThan(0)
    for (const { what, from } of imports)
      expect({ what, from, fits: from?.startsWith('./') === true || what.startsWith('type ') }).toEqual({
        what,
        from,
        fits: true,
      })
    const near = imports.map(({ from }) => from).filter((from) => from?.startsWith('./') === true)
    expect(near.filter((from) => /terms|negatives|sensitive/.test(from ?? ''))).toEqual([])
  }
})
