/** One connection's run-time parameters: set, shown, reset, and taken back with the transaction that set them. */

import { limits } from '../../limits.ts'
import { durationMs, settingOf, settingTable, spelled, splitNames } from './setting-table.ts'
import { WireError } from './wire-error.ts'

type Values = ReadonlyMap<string, string>
/** One for all connections: most set nothing. */
const none: Values = new Map()

/** Names with a prefix are free, so their number and size are bounded. */
const valuesMax = 200
const valueLengthMax = 4_096

export class Settings {
  /** What RESET returns to: the defaults, and what the client said at start-up. */
  readonly #initial: Map<string, string>
  #values: Values = none
  /** Set by SET LOCAL: until the transaction ends. */
  #local: Values = none

  /** @param onChange told of a reported parameter that has another value now */
  constructor(
    user: string,
    readonly onChange: (name: string, value: string) => void,
  ) {
    this.#initial = new Map([['session_authorization', user]])
  }

  /** A value that the client gave at start-up. @throws WireError */
  initialize(name: string, value: string): void {
    const key = name.toLowerCase()
    // Drivers send the zone of their machine unasked; they are told UTC and go by that.
    const parse = settingOf(key).parse
    if (key === 'timezone' && parse?.(value) === undefined) return
    this.#initial.set(key, canonical(key, value))
  }

  /** @throws WireError 42704 for a name that there is not */
  get(name: string): string {
    const key = name.toLowerCase()
    const value = this.#local.get(key) ?? this.#values.get(key) ?? this.#initial.get(key)
    return value ?? settingOf(key).default
  }

  /** @throws WireError 42704, 22023 or 55P02 where the parameter does not take the value */
  set(name: string, value: string, local: boolean): void {
    const key = name.toLowerCase()
    const parsed = canonical(key, value)
    this.#change(() => {
      if (local) this.#local = withEntry(this.#local, key, parsed)
      else {
        this.#values = withEntry(this.#values, key, parsed)
        this.#local = withoutEntry(this.#local, key)
      }
    })
  }

  /** @throws WireError 42704 */
  reset(name: string, local: boolean): void {
    const key = name.toLowerCase()
    const initial = this.#initial.get(key) ?? settingOf(key).default
    this.#change(() => {
      if (local) this.#local = withEntry(this.#local, key, initial)
      else {
        this.#values = withoutEntry(this.#values, key)
        this.#local = withoutEntry(this.#local, key)
      }
    })
  }

  resetAll(): void {
    this.#change(() => {
      this.#values = none
      this.#local = none
    })
  }

  /** @returns what takes everything back to how it is now */
  save(): () => void {
    const saved = [this.#values, this.#local] as const
    return () => this.#change(() => ([this.#values, this.#local] = saved))
  }

  /** The transaction ends: what was set for it alone is gone. */
  endLocal(): void {
    if (this.#local.size > 0) this.#change(() => (this.#local = none))
  }

  /** Every parameter by its name in lower case. */
  all(): Values {
    const names = [
      ...Object.keys(settingTable),
      ...this.#initial.keys(),
      ...this.#values.keys(),
      ...this.#local.keys(),
    ]
    return new Map([...new Set(names)].sort().map((name) => [name, this.get(name)]))
  }

  /** The parameters that a client is told of, spelled as PostgreSQL does. */
  reported(): Values {
    const names = Object.keys(settingTable).filter((name) => settingTable[name]?.reported)
    return new Map(names.map((name) => [spelled(name), this.get(name)]))
  }

  /** Schemas for unqualified names; what PostgreSQL means by "$user" has no namesake here. */
  get searchPath(): readonly string[] {
    return (splitNames(this.get('search_path')) ?? []).filter((name) => name !== '$user')
  }

  get extraFloatDigits(): number {
    return Number(this.get('extra_float_digits'))
  }

  /** Milliseconds that a statement may take: what the client says, within what the service allows. */
  get statementMs(): number {
    const ms = durationMs(this.get('statement_timeout')) ?? 0
    return ms === 0 ? limits.pgwireStatementMsMax : Math.min(ms, limits.pgwireStatementMsMax)
  }

  /** Milliseconds that the connection may be idle, in a transaction or out of one. */
  idleMs(inTransaction: boolean): number {
    const [name, most] = inTransaction
      ? (['idle_in_transaction_session_timeout', limits.pgwireIdleInTransactionMs] as const)
      : (['idle_session_timeout', limits.pgwireIdleMs] as const)
    const ms = durationMs(this.get(name)) ?? 0
    return ms === 0 ? most : Math.min(ms, most)
  }

  #change(change: () => void): void {
    const before = this.reported()
    change()
    for (const [name, value] of this.reported()) if (before.get(name) !== value) this.onChange(name, value)
  }
}

function canonical(name: string, value: string): string {
  const { parse } = settingOf(name)
  if (parse === undefined) throw new WireError('55P02', `parameter "${spelled(name)}" cannot be changed`)
  const parsed = value.length > valueLengthMax ? undefined : parse(value)
  if (parsed === undefined)
    throw new WireError(
      '22023',
      `invalid value for parameter "${spelled(name)}": not one that is served here`,
      'ERROR',
      name === 'timezone' ? 'Times are in UTC here; convert them with AT TIME ZONE.' : undefined,
    )
  return parsed
}

function withEntry(values: Values, name: string, value: string): Values {
  if (!values.has(name) && values.size >= valuesMax)
    throw new WireError('54000', 'too many configuration parameters are set')
  return new Map(values).set(name, value)
}

function withoutEntry(values: Values, name: string): Values {
  const rest = new Map(values)
  rest.delete(name)
  return rest
}
