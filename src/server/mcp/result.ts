/** Makes the result of a tool call: structured content with the same JSON as text, or an error that a model can act on. */

import type { CallToolResult } from '@modelcontextprotocol/server'
import { cleanText } from '../../base/clean-text.ts'
import type { Fault, FaultKind } from '../../base/fault.ts'
import { purposeDemandedReason } from '../../core/purpose.ts'
import { SqlError, type SqlState, UnreadableTable } from '../../query/compile/base/sql-error.ts'
import { mcpBounds } from './bounds.ts'
import type { Tool } from './tool.ts'

const messageCharsMax = 500
const askCharsMax = 1_000

/** The result of a tool that has run; too long an answer is an error that says how to narrow it. */
export function successOf(output: object): CallToolResult {
  const text = JSON.stringify(output)
  if (Buffer.byteLength(text) > mcpBounds.answerBytesMax)
    return errorOf({
      code: 'too_large',
      message: 'The answer is too long.',
      hint: 'Ask for fewer items, sections or rows.',
    })
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) }
}

interface ToolError {
  /** A SQLSTATE for a statement, else the kind of failure. */
  readonly code: string
  /** The message may repeat names by strangers. */
  readonly untrusted?: true
  readonly message: string
  readonly hint?: string | undefined
  /** Whom to ask, by strangers. */
  readonly whom_to_ask?: string | undefined
}

/** An error of a tool. It is text only, because structured content has the form of a success. */
export function errorOf(error: ToolError): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] }
}

/**
 * The error of a Fault. A SQL error may repeat names of the statement, so its message is marked.
 * @param own the hints of the tool
 */
export function faultResult(fault: Fault, own: Tool['hints'] = {}): CallToolResult {
  // A table that may not be read looks like one that there is not.
  if (fault instanceof UnreadableTable) return faultResult(fault.absent, own)
  const message = cleanText(fault.publicMessage, messageCharsMax)
  if (fault instanceof SqlError) {
    const { sqlState } = fault
    // The hint is ours: how a purpose is named here.
    if (fault.reason === purposeDemandedReason)
      return errorOf({ code: sqlState, untrusted: true, message, hint: fault.hint })
    const whom =
      sqlState === '42501' && fault.hint !== undefined ? cleanText(fault.hint, askCharsMax) : undefined
    return errorOf({
      ...{ code: sqlState, untrusted: true, message, hint: own[sqlState] ?? sqlHints[sqlState] },
      ...(whom !== undefined && { whom_to_ask: whom }),
    })
  }
  return errorOf({ code: fault.kind, message, hint: own[fault.kind] ?? hints[fault.kind] })
}

const hints: Partial<Record<FaultKind, string>> = {
  not_found: 'Find names with find_datasets.',
  forbidden: 'Ask a steward or an administrator of the tenant for the right.',
  overloaded: 'Wait for other calls to end, then retry.',
  unavailable: 'Retry in a few seconds.',
}

const findTable = 'Find tables with find_datasets; write namespace.table.'
const narrow = 'Narrow the statement: fewer columns, a WHERE on a selective column, an aggregate.'

const sqlHints: Partial<Record<SqlState, string>> = {
  '0A000': 'Write exactly one SELECT in the dialect of PostgreSQL.',
  '3D000': 'Name one of the catalogs that find_datasets lists.',
  '42501': 'The table may not be read: see explain_contract and why_denied.',
  '42601': 'Write exactly one SELECT in the dialect of PostgreSQL.',
  '42703': 'See the columns with describe_columns.',
  '42P01': findTable,
  '57014': narrow,
  '53200': narrow,
  '53400': 'Use metadata until queries of yours are a day old: other tools still answer.',
  '54001': narrow,
}

/** What to do about a SQLSTATE; undefined where that depends on the statement. */
export function sqlHint(sqlState: string | undefined): string | undefined {
  return new Map(Object.entries(sqlHints)).get(sqlState ?? '')
}
