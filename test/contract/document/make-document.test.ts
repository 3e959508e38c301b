/** A document that is made of a contract without one: it is accepted, and reads as the contract that it was made of. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { declaredBy } from '../../../src/contract/document/declared.ts'
import { makeDocument } from '../../../src/contract/document/make-document.ts'
import { changesOutside } from '../../../src/contract/git/outside-changes.ts'
import { foreignKeysOf, primaryKeyOf } from '../../../src/core/contract-schema.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import { performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import { toYamlText } from '../../../src/wire/odcs/edit-document.ts'
import { roundsOf } from '../../support/long-form.ts'
import { madeTables } from './made-tables.ts'

test('it reads as the contract that it was made of: filters, masks, descriptions and keys', () => {
  const seed = 20_261_123
  console.log(`seed ${seed}`)
  const property = fc.property(madeTables, (tables) => {
    const text = toYamlText(makeDocument('made', 3, tables))
    const outcome = performDocumentTask({
      kind: 'read',
      bytes: new TextEncoder().encode(text),
      format: 'yaml',
    })
    if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
    const { model } = outcome.read
    expect(model).toMatchObject({ id: 'made', version: '3.0.0' })
    const governances = new Map(tables.map(({ governance }) => [tableKey(governance.ref), governance]))
    expect(changesOutside(model, governances)).toEqual([])
    for (const { governance, declared } of tables) {
      const read = declaredBy(model).get(tableKey(governance.ref)) ?? {}
      const described = (schema: typeof declared) =>
        (schema.properties ?? [])
          .filter(({ description }) => description)
          .map(({ name, description }) => [name, description])
      expect(read.description).toBe(declared.description)
      expect(described(read)).toEqual(described(declared))
      expect(primaryKeyOf(read)).toEqual(primaryKeyOf(declared))
      expect(foreignKeysOf(read, governance.ref)).toEqual(foreignKeysOf(declared, governance.ref))
    }
  })
  fc.assert(property, { seed, numRuns: roundsOf(500) })
}, 120_000)
