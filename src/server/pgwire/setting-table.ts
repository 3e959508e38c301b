/** Lists the run-time parameters of a connection: PostgreSQL's names, accepted values and defaults. */

import { purposeCharsMax, purposeSetting, readPurpose } from '../../core/purpose.ts'
import { serverVersion } from '../../core/server-version.ts'
import { zoneNamed } from '../../core/time-zone.ts'
import { limits } from '../../limits.ts'
import { intervalStyles } from '../../wire/postgres/interval-text.ts'
import { WireError } from './wire-error.ts'

export interface Setting {
  readonly default: string
  /** Sent to the client at start and on every change. */
  readonly reported?: true
  /** Returns the canonical form, or undefined for an invalid value. Absent: the parameter cannot be changed. */
  readonly parse?: (value: string) => string | undefined
  /** What is served, for a client that asked for something else. */
  readonly hint?: string
}

const anyText = (value: string) => value
const words =
  (...accepted: readonly string[]) =>
  (value: string) =>
    accepted.find((each) => each.toLowerCase() === value.toLowerCase())

/** A parameter with few values. */
const oneOf = (...accepted: readonly string[]) => ({
  parse: words(...accepted),
  hint: `Served: ${accepted.join(', ')}.`,
})

const onWords = ['on', 'true', 'yes', '1', 't', 'y']
const offWords = ['off', 'false', 'no', '0', 'f', 'n']
/** The canonical form of a word for on or off; undefined for any other. */
export const flag = (value: string) =>
  onWords.includes(value.toLowerCase()) ? 'on' : offWords.includes(value.toLowerCase()) ? 'off' : undefined
const switched = { parse: flag, hint: 'Served: on, off.' }
const alwaysOn = {
  parse: (value: string) => (flag(value) === 'on' ? 'on' : undefined),
  hint: 'Served: on.',
}

function parseEncoding(value: string): string | undefined {
  const name = value.toLowerCase().replace(/[^a-z0-9]/g, '')
  // SQL_ASCII means bytes without conversion, which are UTF-8 here.
  if (name === 'sqlascii') return 'SQL_ASCII'
  return name === 'utf8' || name === 'unicode' ? 'UTF8' : undefined
}

function parseDateStyle(value: string): string | undefined {
  const parts = value
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
  return parts.every((part) => ['iso', 'mdy', 'us', 'noneuro', 'noneuropean'].includes(part))
    ? 'ISO, MDY'
    : undefined
}

const unitMs: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Milliseconds of a duration such as `5min` or `1.5s`. A bare number is milliseconds. */
export function durationMs(value: string): number | undefined {
  const match = /^((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(us|ms|s|min|h|d)?$/.exec(value.trim())
  const ms = match === null ? Number.NaN : Math.round(Number(match[1]) * (unitMs[match[2] ?? 'ms'] ?? 1))
  return ms <= 2_147_483_647 ? ms : undefined
}

/** Milliseconds as PostgreSQL shows them: in the largest unit that is exact. */
function showDuration(ms: number): string {
  if (ms === 0) return '0'
  const [unit, size] = Object.entries(unitMs).findLast(([, each]) => ms % each === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

const duration = (value: string) => {
  const ms = durationMs(value)
  return ms === undefined ? undefined : showDuration(ms)
}

const durationHint = 'Served: milliseconds, or a number with us, ms, s, min, h or d.'

function floatDigits(value: string): string | undefined {
  return /^-?\d{1,2}$/.test(value) && Number(value) >= -15 && Number(value) <= 3
    ? String(Number(value))
    : undefined
}

const messageLevels = [
  ...['debug5', 'debug4', 'debug3', 'debug2', 'debug1', 'debug'],
  ...['log', 'info', 'notice', 'warning', 'error'],
]
const isolationLevels = ['serializable', 'repeatable read', 'read committed', 'read uncommitted']
const fixed = (value: string): Setting => ({ default: value })

/** Parameters by their names in lower case. */
export const settingTable: Readonly<Record<string, Setting>> = {
  application_name: {
    default: '',
    reported: true,
    parse: (value) => value.replace(/[^\x20-\x7e]/g, '?').slice(0, 63),
  },
  bytea_output: { default: 'hex', ...oneOf('hex') },
  client_encoding: {
    default: 'UTF8',
    reported: true,
    parse: parseEncoding,
    hint: 'Served: UTF8, SQL_ASCII.',
  },
  // The value is set in the catalog's database, so PostgreSQL must accept it.
  client_min_messages: { default: 'notice', ...oneOf(...messageLevels) },
  // Why the session reads: recorded with its queries, and demanded by some contracts.
  [purposeSetting]: {
    default: '',
    parse: readPurpose,
    hint: `Served: one line of at most ${purposeCharsMax} characters.`,
  },
  datestyle: { default: 'ISO, MDY', reported: true, parse: parseDateStyle, hint: 'Served: ISO, MDY.' },
  default_transaction_deferrable: { default: 'off', ...switched },
  default_transaction_isolation: { default: 'read committed', ...oneOf(...isolationLevels) },
  // Nothing can be written, so `off` is accepted without effect.
  default_transaction_read_only: {
    default: 'on',
    reported: true,
    parse: (value) => flag(value) && 'on',
    hint: switched.hint,
  },
  extra_float_digits: { default: '1', parse: floatDigits, hint: 'Served: -15 to 3.' },
  geqo: { default: 'on', ...switched },
  idle_in_transaction_session_timeout: {
    default: showDuration(limits.pgwireIdleInTransactionMs),
    parse: duration,
    hint: durationHint,
  },
  idle_session_timeout: { default: showDuration(limits.pgwireIdleMs), parse: duration, hint: durationHint },
  in_hot_standby: { default: 'off', reported: true },
  integer_datetimes: { default: 'on', reported: true },
  intervalstyle: { default: 'postgres', reported: true, ...oneOf(...intervalStyles) },
  is_superuser: { default: 'off', reported: true },
  jit: { default: 'on', ...switched },
  lc_collate: fixed('C'),
  lc_ctype: fixed('C'),
  lc_messages: { default: 'C', parse: anyText },
  lc_monetary: { default: 'C', parse: anyText },
  lc_numeric: { default: 'C', parse: anyText },
  lc_time: { default: 'C', parse: anyText },
  lock_timeout: { default: '0', parse: duration, hint: durationHint },
  max_identifier_length: fixed('63'),
  max_index_keys: fixed('32'),
  password_encryption: { default: 'scram-sha-256', ...oneOf('scram-sha-256') },
  // Filters apply either way: `off` refuses a statement that one applies to.
  row_security: { default: 'on', ...switched },
  search_path: {
    default: '"$user", public',
    reported: true,
    parse: (value) => (splitNames(value) ? value : undefined),
  },
  server_encoding: { default: 'UTF8', reported: true },
  server_version: { default: serverVersion.text, reported: true },
  server_version_num: fixed(serverVersion.number),
  session_authorization: { default: '', reported: true },
  // Whether the listener offers encryption; each connection tells its settings.
  ssl: fixed('off'),
  standard_conforming_strings: { default: 'on', reported: true, ...alwaysOn },
  statement_timeout: { default: showDuration(limits.pgwireStatementMs), parse: duration, hint: durationHint },
  'svc.governance_notices': { default: 'auto', ...oneOf('on', 'off', 'auto') },
  synchronous_commit: { default: 'on', parse: anyText },
  synchronize_seqscans: { default: 'on', ...switched },
  timezone: {
    default: 'UTC',
    reported: true,
    parse: zoneNamed,
    hint: 'Served: names of the IANA time zone database, such as Europe/Berlin.',
  },
  transaction_deferrable: { default: 'off', ...switched },
  transaction_isolation: { default: 'read committed', ...oneOf(...isolationLevels) },
  transaction_read_only: { default: 'on', parse: (value) => flag(value) && 'on', hint: switched.hint },
  work_mem: { default: '4MB', parse: anyText },
  xmloption: { default: 'content', parse: anyText },
}

/** PostgreSQL's spelling of the names that are not in lower case. */
const spelling: Readonly<Record<string, string>> = {
  datestyle: 'DateStyle',
  intervalstyle: 'IntervalStyle',
  timezone: 'TimeZone',
}

/** A parameter's name as PostgreSQL spells it. */
export function spelled(name: string): string {
  return spelling[name] ?? name
}

/** Planner switches are accepted without effect, because clients turn them off around catalog queries. */
const plannerSwitch = /^enable_[a-z_]+$/

/** The parameter of a name in lower case. @throws WireError 42704 for an unrecognized name */
export function settingOf(name: string): Setting {
  const supported = Object.hasOwn(settingTable, name) ? settingTable[name] : undefined
  if (supported !== undefined) return supported
  if (plannerSwitch.test(name)) return { default: 'on', ...switched }
  // PostgreSQL accepts any value for names with a prefix, because an extension may be loaded later.
  if (/^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)+$/.test(name)) return { default: '', parse: anyText }
  throw new WireError('42704', `unrecognized configuration parameter "${name}"`)
}

/** The names in a comma-separated list of identifiers; undefined for any other text. */
export function splitNames(list: string): readonly string[] | undefined {
  if (list.trim() === '') return []
  const item = /\s*(?:"((?:[^"]|"")*)"|([^\s",]+))\s*(?:,|$)/y
  const names: string[] = []
  while (item.lastIndex < list.length) {
    const match = item.exec(list)
    if (match === null) return undefined
    names.push(match[1] === undefined ? (match[2] ?? '').toLowerCase() : match[1].replaceAll('""', '"'))
  }
  return /,\s*$/.test(list) ? undefined : names
}

/** A name for such a list, quoted where needed. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
