/** The vector file is what the code makes today. `RECORD=1` writes it. */

import { expect, test } from 'bun:test'
import { makeVectors } from './make-vectors.ts'

const path = new URL('transform-vectors.json', import.meta.url).pathname

test('the vector file holds what the code makes', async () => {
  const made = JSON.parse(JSON.stringify(makeVectors()))
  if (process.env.RECORD === '1') await Bun.write(path, `${JSON.stringify(made, null, 1)}\n`)
  expect(made).toEqual(await Bun.file(path).json())
})
