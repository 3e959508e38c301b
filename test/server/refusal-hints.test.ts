/** Whom to ask in refusals of XMLA and MCP, whose clients show no hint of PostgreSQL's. */

import { expect, test } from 'bun:test'
import { absentRelation, SqlError, UnreadableTable } from '../../src/query/compile/base/sql-error.ts'
import { faultResult } from '../../src/server/mcp/result.ts'
import { faultText } from '../../src/server/xmla/faults.ts'

const hint = 'Ask Ann about sales.orders.'
const refused = new SqlError('42501', 'permission denied for table orders').hinted(hint)

test('XMLA says whom to ask at the end of the message, of a refusal alone', () => {
  expect(faultText(refused).message).toBe(`permission denied for table orders. ${hint}`)
  expect(faultText(new SqlError('0A000', 'not supported').hinted(hint)).message).toBe('not supported')
})

test('MCP says whom to ask beside its own hint, marked as text by strangers', () => {
  const [block] = faultResult(refused).content as readonly { readonly text: string }[]
  expect(JSON.parse(block?.text ?? '')).toEqual({
    error: {
      ...{ code: '42501', untrusted: true, message: 'permission denied for table orders' },
      hint: 'The table may not be read: see explain_contract and why_denied.',
      whom_to_ask: hint,
    },
  })
})

test('MCP says nothing of a table that may not be read, as of one that there is not', () => {
  const absent = absentRelation('sales', 'parts')
  const table = { namespace: ['sales'], name: 'parts' }
  const unreadable = new UnreadableTable(table, 'it has no active contract', absent).hinted(hint)
  expect(faultResult(unreadable)).toEqual(faultResult(absent))
})
