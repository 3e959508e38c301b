/** Random contracts without a document: tables with what is declared of them, and with row filters and masks. */

import fc from 'fast-check'
import type { MadeTable } from '../../../src/contract/document/make-document.ts'
import type { Governance } from '../../../src/core/governance.ts'

const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((one) => one.isWellFormed() && !one.includes('\0'))
const roles = fc.uniqueArray(word, { maxLength: 2 })
const filter = fc.record({ policyId: word, expression: text, exemptRoles: roles })
const mask = fc.oneof(
  fc.record({
    policyId: word,
    action: fc.constantFrom('mask-alphanum', 'replace-with-null'),
    exemptRoles: roles,
  }),
  fc.record({
    policyId: word,
    action: fc.constant('apply-expression'),
    expression: text,
    exemptRoles: roles,
  }),
)
const byId = { selector: ({ policyId }: { readonly policyId: string }) => policyId, maxLength: 2 }
const column = fc.record({
  name: word,
  description: fc.option(text, { nil: undefined }),
  key: fc.boolean(),
  unique: fc.boolean(),
  declared: fc.boolean(),
  other: fc.option(fc.tuple(word, word, word), { nil: undefined }),
  masks: fc.uniqueArray(mask, byId),
  filters: fc.uniqueArray(filter, byId),
})
const table = fc.record({
  namespace: fc.array(word, { minLength: 1, maxLength: 2 }),
  name: word,
  description: fc.option(text, { nil: undefined }),
  columns: fc.uniqueArray(column, { selector: ({ name }) => name, minLength: 1, maxLength: 4 }),
  filters: fc.uniqueArray(filter, byId),
})

type Random = typeof table extends fc.Arbitrary<infer T> ? T : never

/** Tables of one contract. */
export const madeTables: fc.Arbitrary<readonly MadeTable[]> = fc
  .uniqueArray(table, {
    selector: ({ namespace, name }) => [...namespace, name].join('.'),
    minLength: 1,
    maxLength: 3,
  })
  .map((tables) => tables.map(madeOf))

function madeOf({ namespace, name, description, columns, filters }: Random): MadeTable {
  const origin = { kind: 'column' } as const
  const governance: Governance = {
    ref: { namespace, name },
    contract: { id: 'made', version: 1 },
    tags: [],
    pin: undefined,
    readableWithoutContract: false,
    rowFilters: [
      ...filters.map((one) => ({ ...one, origin: { kind: 'table' } as const })),
      ...columns.flatMap((one, index) =>
        one.filters.map((each) => ({ ...each, origin, fieldId: index + 1 })),
      ),
      { policyId: 'by-tag', expression: 'true', exemptRoles: [], origin: { kind: 'tag', tag: 'pii' } },
    ],
    columns: columns.map((one, index) => ({
      ...{ id: one.name, fieldId: index + 1, name: one.name, type: 'string', required: false, current: true },
      tags: [],
      masks: one.masks.map((each) => ({ ...each, origin })) as Governance['columns'][number]['masks'],
    })),
  }
  const keys = columns.filter(({ declared, key }) => declared && key)
  return {
    governance,
    declared: {
      ...(description !== undefined && { description }),
      properties: columns
        .filter(({ declared }) => declared)
        .map((one) => ({
          name: one.name,
          ...(one.description !== undefined && { description: one.description }),
          ...(one.key && { primaryKey: true as const, primaryKeyPosition: keys.indexOf(one) + 1 }),
          ...(one.unique && { unique: true as const }),
          ...(one.other && { relationships: [{ type: 'foreignKey' as const, to: one.other.join('.') }] }),
        })),
      ...(keys.length > 0 && {
        relationships: [
          {
            type: 'foreignKey' as const,
            from: keys.map((key) => `${name}.${key.name}`),
            to: keys.map((_, at) => `far.away.c${at}`),
          },
        ],
      }),
    },
  }
}
