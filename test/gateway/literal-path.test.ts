import { describe, expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import { matchLiteralPath } from '../../src/gateway/literal-surface/literal-path.ts'

const url = (path: string) => `http://localhost:8080/v1/iceberg/${path}`

function kindOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error.kind
    throw error
  }
  return 'matched'
}

describe('the literal paths', () => {
  test('names the prefix and the table of a single-table commit', () => {
    expect(matchLiteralPath('POST', url('main/namespaces/sales/tables/orders'))).toEqual({
      kind: 'table-commit',
      prefix: 'main',
      table: { namespace: ['sales'], name: 'orders' },
    })
  })

  test('names the prefix of a multi-table commit', () => {
    expect(matchLiteralPath('POST', url('main/transactions/commit'))).toEqual({
      kind: 'transaction-commit',
      prefix: 'main',
    })
  })

  test.each([
    'main/namespaces/sales/tables/a%2Fb',
    'main/namespaces/sales/tables/..',
    'main/namespaces/sales/tables/%2e%2e',
    'main/namespaces/../tables/orders',
    'main/namespaces/a%1Fb/tables/orders',
    'main/namespaces//tables/orders',
    'main/namespaces/sales/tables/',
    '/namespaces/sales/tables/orders',
    `main/namespaces/sales/tables/${'a'.repeat(10_000)}`,
    'main/namespaces/sales/tables/orders/more',
    'main/namespaces/sales/tables/%C3%A9',
    'main/namespaces/sales/tables/a%00',
    'main/namespaces/sales/tables/a@branch',
    'main%2F..%2Fother/transactions/commit',
  ])('answers 400 to %p', (path) => {
    expect(kindOf(() => matchLiteralPath('POST', url(path)))).toBe('bad_request')
  })

  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'])('answers 405 to %s', (method) => {
    expect(kindOf(() => matchLiteralPath(method, url('main/namespaces/sales/tables/orders')))).toBe(
      'method_not_allowed',
    )
    expect(kindOf(() => matchLiteralPath(method, url('main/transactions/commit')))).toBe('method_not_allowed')
  })
})
