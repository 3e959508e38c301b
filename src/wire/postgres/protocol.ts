/** Names the codes of the frontend/backend protocol, version 3 (PostgreSQL documentation, chapter 54). */

const code = (letter: string) => letter.charCodeAt(0)

/** Type bytes of a client's messages after the start-up packet. */
export const frontend = {
  bind: code('B'),
  close: code('C'),
  copyData: code('d'),
  copyDone: code('c'),
  copyFail: code('f'),
  describe: code('D'),
  execute: code('E'),
  flush: code('H'),
  functionCall: code('F'),
  parse: code('P'),
  password: code('p'),
  query: code('Q'),
  sync: code('S'),
  terminate: code('X'),
} as const

/** Type bytes of a server's messages. */
export const backend = {
  authentication: code('R'),
  backendKeyData: code('K'),
  bindComplete: code('2'),
  closeComplete: code('3'),
  commandComplete: code('C'),
  copyData: code('d'),
  copyDone: code('c'),
  copyOutResponse: code('H'),
  dataRow: code('D'),
  emptyQueryResponse: code('I'),
  errorResponse: code('E'),
  negotiateProtocolVersion: code('v'),
  noData: code('n'),
  noticeResponse: code('N'),
  parameterDescription: code('t'),
  parameterStatus: code('S'),
  parseComplete: code('1'),
  portalSuspended: code('s'),
  readyForQuery: code('Z'),
  rowDescription: code('T'),
} as const

/** Request codes in place of the start-up packet's version. */
export const startupCodes = {
  cancel: 80_877_102,
  ssl: 80_877_103,
  gssEncryption: 80_877_104,
} as const

export const protocolMajor = 3
/** The newest supported minor version: 3.2 has cancel keys of variable length. There was no 3.1. */
export const protocolMinorMax = 2

/** The format code: 0 for text, 1 for binary. */
export type Format = 0 | 1

export type TransactionStatus = 'I' | 'T' | 'E'
