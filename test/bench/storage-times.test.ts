/** The times of object storage: what is published, and what lies between. */

import { expect, test } from 'bun:test'
import { percentile } from '../../bench/statistics.ts'
import { storageTimes, timeAt } from '../../bench/storage-times.ts'

test('a time between two published quantiles lies on the line between them', () => {
  const quantiles = [
    [0.5, 100],
    [0.9, 180],
  ] as const
  expect(timeAt(quantiles, 0.7)).toBeCloseTo(140, 9)
})

test('outside of what is published the nearest published time is taken', () => {
  const quantiles = [
    [0.5, 100],
    [0.9, 180],
  ] as const
  expect(timeAt(quantiles, 0.1)).toBe(100)
  expect(timeAt(quantiles, 0.95)).toBe(180)
})

test('a read and a write have the published median and 99th percentile', () => {
  const { get, put } = storageTimes('s3')
  expect([percentile(get, 0.5), percentile(put, 0.5)].map(Math.round)).toEqual([63, 100])
  expect(percentile(get, 0.99)).toBeCloseTo(78, -1)
  expect(percentile(put, 0.99)).toBeCloseTo(195, -1)
})
