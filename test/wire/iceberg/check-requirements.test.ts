import { describe, expect, test } from 'bun:test'
import { checkRequirements } from '../../../src/wire/iceberg/check-requirements.ts'
import { expectFault, object, objects, table, tableV1 } from './sample-metadata.ts'

const check = (...requirements: unknown[]) => checkRequirements(object(table), objects(...requirements))

const met = [
  { type: 'assert-table-uuid', uuid: table['table-uuid'] },
  { type: 'assert-table-uuid', uuid: table['table-uuid'].toUpperCase() },
  { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 12 },
  { type: 'assert-ref-snapshot-id', ref: 'new', 'snapshot-id': null },
  { type: 'assert-ref-snapshot-id', ref: 'new' },
  { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 2 },
  { type: 'assert-current-schema-id', 'current-schema-id': 0 },
  { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': 999 },
  { type: 'assert-default-spec-id', 'default-spec-id': 0 },
  { type: 'assert-default-sort-order-id', 'default-sort-order-id': 0 },
]

const unmet = [
  { type: 'assert-create' },
  { type: 'assert-table-uuid', uuid: 'another' },
  { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 11 },
  { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null },
  { type: 'assert-ref-snapshot-id', ref: 'new', 'snapshot-id': 12 },
  { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 1 },
  { type: 'assert-current-schema-id', 'current-schema-id': 1 },
  { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': 1000 },
  { type: 'assert-default-spec-id', 'default-spec-id': 1 },
  { type: 'assert-default-sort-order-id', 'default-sort-order-id': 1 },
]

describe('checkRequirements', () => {
  test('accepts no requirements and those that are met', () => {
    expect(check()).toBeUndefined()
    expect(check(...met)).toBeUndefined()
    expect(checkRequirements(undefined, objects({ type: 'assert-create' }))).toBeUndefined()
  })

  test.each(unmet)('calls %j a conflict', (requirement) => {
    const fault = expectFault(() => check(...met, requirement), 'conflict', /^Requirement failed/)
    expect(fault.type).toBe('CommitFailedException')
  })

  test.each(met)('calls %j a conflict where the table does not exist', (requirement) => {
    expectFault(() => checkRequirements(undefined, objects(requirement)), 'conflict', /does not exist/)
  })

  test.each([
    { type: 'assert-new-thing' },
    { type: 'constructor' },
    {},
    { type: 'assert-table-uuid' },
    { type: 'assert-ref-snapshot-id', 'snapshot-id': 12 },
    { type: 'assert-current-schema-id', 'current-schema-id': '0' },
  ])('refuses %j as a bad request', (requirement) => {
    expectFault(() => check(requirement), 'bad_request')
  })

  test('reads format version 1, whose numbers are implied', () => {
    const requirements = objects(
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 5 },
      { type: 'assert-current-schema-id', 'current-schema-id': 0 },
      { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': 1001 },
      { type: 'assert-default-spec-id', 'default-spec-id': 0 },
      { type: 'assert-default-sort-order-id', 'default-sort-order-id': 0 },
    )
    expect(checkRequirements(object(tableV1), requirements)).toBeUndefined()
  })
})
