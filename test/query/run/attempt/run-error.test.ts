import { expect, test } from 'bun:test'
import { Fault } from '../../../../src/base/fault.ts'
import { runError } from '../../../../src/query/run/attempt/run-error.ts'

test('a query for which the process has no memory left is 53200, and says so', () => {
  const fault = new Fault('overloaded', 'The service has no memory left for this request. Retry.')
  const { sqlState, publicMessage, kind } = runError(fault)
  expect([sqlState, publicMessage, kind]).toEqual(['53200', fault.publicMessage, 'overloaded'])
})

test.each([
  ['upstream_failed', 'The upstream catalog failed. Retry.'],
  ['upstream_forbidden', 'The upstream catalog forbids the request. Ask an administrator.'],
] as const)('a query that meets %s is 58000, without the words of the catalog', (kind, message) => {
  const { sqlState, publicMessage } = runError(
    new Fault(kind, 'The upstream catalog answered 403 (at s3://secret).'),
  )
  expect([sqlState, publicMessage]).toEqual(['58000', message])
})
