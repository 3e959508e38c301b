/** Which commit wrote which file, in cases that a table seldom makes. assignment.test.ts compares random ones. */

import { expect, test } from 'bun:test'
import { assignFiles, type FileClaim, type Fit } from '../../../src/gateway/recovery/assign-files.ts'

const claim = (
  id: string,
  files: Readonly<Record<number, Fit>>,
  more: Partial<FileClaim> = {},
): FileClaim => ({
  ...{ id, twin: id, isMade: false },
  files: new Map(Object.entries(files).map(([file, fit]) => [Number(file), fit])),
  ...more,
})
const twin = { twin: 't' }
const assigned = (...claims: readonly FileClaim[]) => {
  const { files, none, mixed } = assignFiles(claims)
  return { files: Object.fromEntries(files), none: [...none], mixed: [...mixed] }
}
const nothing = { files: {}, none: [], mixed: [] }

test('of twins, the first have the certain files, and which of them wrote one is not to be told', () => {
  const two = [claim('a', { 0: 'whole' }, twin), claim('b', { 0: 'whole' }, twin)]
  expect(assigned(...two)).toEqual({ files: { a: 0 }, none: ['b'], mixed: ['a', 'b'] })
  const three = ['a', 'b', 'c'].map((id) => claim(id, { 0: 'whole', 1: 'whole' }, twin))
  expect(assigned(...three)).toEqual({ files: { a: 0, b: 1 }, none: ['c'], mixed: ['a', 'b', 'c'] })
  const four = ['a', 'b', 'c', 'd'].map((id) => claim(id, { 0: 'whole', 1: 'whole' }, twin))
  expect(assigned(...four)).toMatchObject({ files: { a: 0, b: 1 }, mixed: ['a', 'b', 'c', 'd'] })
})

test('twins of which each has a certain file, and twins without one, are not mixed', () => {
  const two = ['a', 'b'].map((id) => claim(id, { 0: 'whole', 1: 'whole' }, twin))
  expect(assigned(...two)).toEqual({ files: { a: 0, b: 1 }, none: [], mixed: [] })
  expect(assigned(...['a', 'b'].map((id) => claim(id, { 0: 'maybe' }, twin)))).toEqual(nothing)
})

test('a twin that was surely made is named before one that may not have been', () => {
  const two = [claim('a', { 0: 'whole' }, twin), claim('b', { 0: 'whole' }, { ...twin, isMade: true })]
  expect(assigned(...two)).toMatchObject({ files: { b: 0 }, none: ['a'] })
})

test('a commit that may have written a file did so for certain only if it was made, or the file is wholly its', () => {
  expect(assigned(claim('a', { 0: 'maybe' }))).toEqual(nothing)
  expect(assigned(claim('a', { 0: 'maybe' }, { isMade: true }))).toMatchObject({ files: { a: 0 } })
  expect(assigned(claim('a', { 0: 'whole' }))).toMatchObject({ files: { a: 0 } })
})

test('a file that is wholly the change of one commit was not written by another, which has none then', () => {
  expect(assigned(claim('a', { 0: 'maybe' }), claim('b', { 0: 'whole' }))).toEqual({
    ...{ files: { b: 0 }, none: ['a'], mixed: [] },
  })
})

test('a contradiction leaves its own files undecided, and no others', () => {
  const contradiction = ['a', 'b'].map((id) => claim(id, { 0: 'maybe' }, { isMade: true }))
  expect(assigned(...contradiction)).toEqual(nothing)
  expect(assigned(...contradiction, claim('c', { 1: 'whole' }))).toEqual({ ...nothing, files: { c: 1 } })
})
