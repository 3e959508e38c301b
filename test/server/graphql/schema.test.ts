/** The schema as clients know it. */

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { isInterfaceType, isObjectType } from 'graphql'
import { makeSchema, schemaText } from '../../../src/server/graphql/schema.ts'

const file = new URL('../../../src/server/graphql/schema.graphql', import.meta.url).pathname

test('is the committed one: RECORD=1 writes a change, and its diff shows what clients lose', () => {
  const text = schemaText(makeSchema())
  if (process.env.RECORD === '1') writeFileSync(file, text)
  expect(text).toBe(readFileSync(file, 'utf8'))
})

test('describes every field', () => {
  const bare = Object.values(makeSchema().getTypeMap())
    .filter((type) => (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__'))
    .flatMap((type) =>
      isObjectType(type) || isInterfaceType(type)
        ? Object.values(type.getFields()).map(
            (field) => [`${type.name}.${field.name}`, field.description] as const,
          )
        : [],
    )
  expect(bare.filter(([, text]) => !text).map(([name]) => name)).toEqual([])
})
