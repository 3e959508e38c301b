/**
 * Writes what Npgsql 8.0 and 9.0 send to the wire, message by message. It does not use the server's codecs. As in
 * Npgsql, the portal is always the unnamed one, every column is requested in binary, and rows are never limited.
 */

/** A parameter as Npgsql binds it: texts in text, all else in binary. */
export interface NpgsqlParameter {
  readonly oid: number
  readonly format: 'text' | 'binary'
  readonly value: Buffer | null
}

const int16 = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2)
  return bytes
}
const int32 = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, index * 4)
  return bytes
}
const cstring = (text: string) => Buffer.from(`${text}\0`)
const message = (code: string, ...parts: readonly Buffer[]) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(code), int32(body.length + 4), body])
}

/** Messages of a client, in Npgsql's words. */
export const npgsql = {
  sslRequest: () => int32(8, 80_877_103),
  /** `user` and `client_encoding` first, then what the connection string sets, in this order. */
  startup({
    user,
    database,
    ...more
  }: Readonly<Record<string, string>> & { user: string; database: string }) {
    const parameters = Object.entries({ user, client_encoding: 'UTF8', database, ...more })
    const body = Buffer.concat([
      ...parameters.flatMap(([name, value]) => [cstring(name), cstring(value)]),
      cstring(''),
    ])
    return Buffer.concat([int32(body.length + 8, 3 << 16), body])
  },
  password: (text: string) => message('p', cstring(text)),
  query: (text: string) => message('Q', cstring(text)),
  parse: (statement: string, text: string, parameters: readonly NpgsqlParameter[] = []) =>
    message(
      'P',
      cstring(statement),
      cstring(text),
      int16(parameters.length),
      int32(...parameters.map(({ oid }) => oid)),
    ),
  bind: (statement: string, parameters: readonly NpgsqlParameter[] = []) =>
    message(
      'B',
      cstring(''),
      cstring(statement),
      formats(parameters),
      int16(parameters.length),
      ...parameters.flatMap(({ value }) => (value === null ? [int32(-1)] : [int32(value.length), value])),
      int16(1, 1),
    ),
  describePortal: () => message('D', Buffer.from('P'), cstring('')),
  describeStatement: (statement: string) => message('D', Buffer.from('S'), cstring(statement)),
  closeStatement: (statement: string) => message('C', Buffer.from('S'), cstring(statement)),
  execute: () => message('E', cstring(''), int32(0)),
  sync: () => message('S'),
  cancel: (processId: number, key: Buffer) => Buffer.concat([int32(16, (1234 << 16) | 5678, processId), key]),
  terminate: () => message('X'),
}

/** None where all are text, one where all are binary, else one each. */
function formats(parameters: readonly NpgsqlParameter[]): Buffer {
  const codes = parameters.map(({ format }): number => (format === 'binary' ? 1 : 0))
  if (!codes.includes(1)) return int16(0)
  return codes.includes(0) ? int16(codes.length, ...codes) : int16(1, 1)
}

const binary = (oid: number, value: Buffer): NpgsqlParameter => ({ oid, format: 'binary', value })
const float64 = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}
const int64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}
/** Midnight of 2000-01-01 UTC. */
const epochMs = Date.UTC(2000, 0, 1)

/** Parameters of .NET's types, with the OIDs under which Npgsql sends them. */
export const parameterOf = {
  int: (value: number) => binary(23, int32(value)),
  long: (value: number) => binary(20, int64(BigInt(value))),
  bool: (value: boolean) => binary(16, Buffer.from([value ? 1 : 0])),
  double: (value: number) => binary(701, float64(value)),
  /** A whole number of hundredths. */
  decimal: (hundredths: number) =>
    binary(1700, int16(2, 0, 0, 2, Math.floor(hundredths / 100), (hundredths % 100) * 100)),
  string: (value: string): NpgsqlParameter => ({ oid: 25, format: 'text', value: Buffer.from(value) }),
  guid: (value: string) => binary(2950, Buffer.from(value.replaceAll('-', ''), 'hex')),
  bytes: (hex: string) => binary(17, Buffer.from(hex, 'hex')),
  dateOnly: (day: string) => binary(1082, int32((Date.parse(day) - epochMs) / 86_400_000)),
  utcDateTime: (iso: string) => binary(1184, int64(BigInt(Date.parse(iso) - epochMs) * 1000n)),
  dateTime: (iso: string) => binary(1114, int64(BigInt(Date.parse(`${iso}Z`) - epochMs) * 1000n)),
  longs: (...values: readonly number[]) =>
    binary(
      1016,
      Buffer.concat([
        int32(1, 0, 20, values.length, 1),
        ...values.flatMap((value) => [int32(8), int64(BigInt(value))]),
      ]),
    ),
  null: (oid: number): NpgsqlParameter => ({ oid, format: 'binary', value: null }),
}
