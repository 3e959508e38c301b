/** Writes the messages that a server sends, except rows (rows.ts) and COPY (copy.ts). */

import { type NumericSize, type SqlType, typeOid } from '../../core/sql-type.ts'
import type { MessageWriter } from './message-writer.ts'
import { backend, type Format, protocolMajor, type TransactionStatus } from './protocol.ts'

/** Fields of an error or a notice; absent fields are not sent. */
export interface Report {
  readonly severity: 'FATAL' | 'ERROR' | 'WARNING' | 'NOTICE'
  readonly sqlState: string
  readonly message: string
  readonly detail?: string | undefined
  readonly hint?: string | undefined
  /** Position of the error in the statement, in characters from 1. */
  readonly position?: number | undefined
}

/** ErrorResponse, or NoticeResponse for severities below ERROR. */
export function writeReport(out: MessageWriter, report: Report): void {
  const isError = report.severity === 'FATAL' || report.severity === 'ERROR'
  out.begin(isError ? backend.errorResponse : backend.noticeResponse)
  const field = (letter: string, value: string | undefined) => {
    if (value === undefined) return
    out.ascii(letter)
    out.cstring(value)
  }
  field('S', report.severity)
  field('V', report.severity)
  field('C', report.sqlState)
  field('M', report.message)
  field('D', report.detail)
  field('H', report.hint)
  field('P', report.position?.toString())
  out.byte(0)
  out.end()
}

/** The step of authentication that a message requests or confirms. */
type AuthenticationRequest =
  | { readonly kind: 'ok' | 'cleartext_password' }
  | { readonly kind: 'sasl'; readonly mechanisms: readonly string[] }
  | { readonly kind: 'sasl_continue' | 'sasl_final'; readonly data: string }

const authenticationCodes = {
  ok: 0,
  cleartext_password: 3,
  sasl: 10,
  sasl_continue: 11,
  sasl_final: 12,
} as const

/** AuthenticationOk, AuthenticationCleartextPassword, AuthenticationSASL, … */
export function writeAuthentication(out: MessageWriter, request: AuthenticationRequest): void {
  out.begin(backend.authentication)
  out.int32(authenticationCodes[request.kind])
  if (request.kind === 'sasl') {
    for (const mechanism of request.mechanisms) out.cstring(mechanism)
    out.byte(0)
  }
  if (request.kind === 'sasl_continue' || request.kind === 'sasl_final') out.utf8(request.data)
  out.end()
}

/** NegotiateProtocolVersion. @param minor the newest supported minor version */
export function writeNegotiateProtocolVersion(
  out: MessageWriter,
  minor: number,
  unknownOptions: readonly string[],
): void {
  out.begin(backend.negotiateProtocolVersion)
  out.int32((protocolMajor << 16) | minor)
  out.int32(unknownOptions.length)
  for (const option of unknownOptions) out.cstring(option)
  out.end()
}

/** ParameterStatus. */
export function writeParameterStatus(out: MessageWriter, name: string, value: string): void {
  out.begin(backend.parameterStatus)
  out.cstring(name)
  out.cstring(value)
  out.end()
}

/** Sends the key with which a client may cancel. */
export function writeBackendKeyData(out: MessageWriter, processId: number, key: Uint8Array): void {
  out.begin(backend.backendKeyData)
  out.int32(processId)
  out.raw(key)
  out.end()
}

/** ReadyForQuery. */
export function writeReadyForQuery(out: MessageWriter, status: TransactionStatus): void {
  out.begin(backend.readyForQuery)
  out.ascii(status)
  out.end()
}

/** CommandComplete. @param tag such as `SELECT 3` */
export function writeCommandComplete(out: MessageWriter, tag: string): void {
  out.begin(backend.commandComplete)
  out.cstring(tag)
  out.end()
}

/** A message without a body: ParseComplete, BindComplete, CloseComplete, NoData, PortalSuspended, … */
export function writeBare(
  out: MessageWriter,
  kind:
    | 'parseComplete'
    | 'bindComplete'
    | 'closeComplete'
    | 'noData'
    | 'portalSuspended'
    | 'emptyQueryResponse'
    | 'copyDone',
): void {
  out.begin(backend[kind])
  out.end()
}

/** ParameterDescription. */
export function writeParameterDescription(out: MessageWriter, oids: readonly number[]): void {
  out.begin(backend.parameterDescription)
  out.uint16(oids.length)
  for (const oid of oids) out.uint32(oid)
  out.end()
}

export interface DescribedColumn {
  readonly name: string
  readonly type: SqlType
  readonly size?: NumericSize | undefined
  /** The column of a table that it is, unchanged by any expression. */
  readonly origin?: { readonly tableOid: number; readonly attribute: number } | undefined
}

/** pg_type.typlen; types of variable length, which have -1, are missing. */
const fixedLengths: Partial<Record<SqlType, number>> = {
  bool: 1,
  int2: 2,
  int4: 4,
  int8: 8,
  float4: 4,
  float8: 8,
  date: 4,
  time: 8,
  timestamp: 8,
  timestamptz: 8,
  interval: 16,
  uuid: 16,
}

/** RowDescription. */
export function writeRowDescription(
  out: MessageWriter,
  columns: readonly DescribedColumn[],
  formatOf: (column: number) => Format,
): void {
  out.begin(backend.rowDescription)
  out.uint16(columns.length)
  for (const [index, { name, type, size, origin }] of columns.entries()) {
    out.cstring(name)
    out.uint32(origin?.tableOid ?? 0)
    out.int16(origin?.attribute ?? 0)
    out.uint32(typeOid(type))
    out.int16(fixedLengths[type] ?? -1)
    // A numeric's modifier is its precision and scale, plus 4 (VARHDRSZ).
    out.int32(size === undefined ? -1 : ((size[0] << 16) | size[1]) + 4)
    out.int16(formatOf(index))
  }
  out.end()
}
