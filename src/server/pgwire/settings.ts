/** Holds one connection's run-time parameters: set, shown, reset, and rolled back with their transaction. */

import { purposeSetting } from '../../core/purpose.ts'
import { type TimeZone, timeZone, zoneNamed } from '../../core/time-zone.ts'
import { limits } from '../../limits.ts'
import { intervalStyles } from '../../wire/postgres/interval-text.ts'
import type { TextOptions } from '../../wire/postgres/text-values.ts'
import { durationMs, settingOf, settingTable, spelled, splitNames } from './setting-table.ts'
import { WireError } from './wire-error.ts'

type Values = ReadonlyMap<string, string>
/** Shared by all connections, because most set nothing. */
const none: Values = new Map()

/** Clients may invent names with a prefix, so their number and size are limited. */
const valuesMax = 200
const valueLengthMax = 4_096

export class Settings {
  /** The values that RESET restores and that differ from the defaults: those given at start-up. */
  readonly #initial: Map<string, string>
  #values: Values = none
  /** Values of SET LOCAL, until the transaction ends. */
  #local: Values = none

  /**
   * @param onChange called when a reported parameter changes
   * @param offersTls whether the listener encrypts
   */
  constructor(
    user: string,
    readonly onChange: (name: string, value: string) => void,
    offersTls = false,
  ) {
    this.#initial = new Map([
      ['session_authorization', user],
      ['ssl', offersTls ? 'on' : 'off'],
    ])
  }

  /** Takes a value that the client gave at start-up. @throws WireError */
  initialize(name: string, value: string): void {
    const key = name.toLowerCase()
    // Drivers send their machine's time zone by default. They receive UTC in ParameterStatus and follow it.
    if (key === 'timezone' && zoneNamed(value) !== 'UTC') return
    this.#initial.set(key, canonical(key, value))
  }

  /** @throws WireError 42704 for an unrecognized name */
  get(name: string): string {
    const key = name.toLowerCase()
    const value = this.#local.get(key) ?? this.#values.get(key) ?? this.#initial.get(key)
    return value ?? settingOf(key).default
  }

  /** @throws WireError 42704, 22023 or 55P02 where the parameter does not accept the value */
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

  /** @throws WireError 42704 for an unrecognized name */
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

  /** @returns a function that restores the current values */
  save(): () => void {
    const saved = [this.#values, this.#local] as const
    return () => this.#change(() => ([this.#values, this.#local] = saved))
  }

  /** Drops the values of SET LOCAL, because the transaction has ended. */
  endLocal(): void {
    if (this.#local.size > 0) this.#change(() => (this.#local = none))
  }

  /** All parameters by their names in lower case. */
  all(): Values {
    const names = [
      ...Object.keys(settingTable),
      ...this.#initial.keys(),
      ...this.#values.keys(),
      ...this.#local.keys(),
    ]
    return new Map([...new Set(names)].sort().map((name) => [name, this.get(name)]))
  }

  /** The parameters that are sent to the client, in PostgreSQL's spelling. */
  reported(): Values {
    const names = Object.keys(settingTable).filter((name) => settingTable[name]?.reported)
    return new Map(names.map((name) => [spelled(name), this.get(name)]))
  }

  /** Schemas for unqualified names, without "$user", because principals have no schemas. */
  get searchPath(): readonly string[] {
    return (splitNames(this.get('search_path')) ?? []).filter((name) => name !== '$user')
  }

  /** How values are written as text. */
  get textOptions(): TextOptions {
    const style = this.get('intervalstyle')
    return {
      extraFloatDigits: Number(this.get('extra_float_digits')),
      intervalStyle: intervalStyles.find((each) => each === style) ?? 'postgres',
      timeZone: this.timeZone,
    }
  }

  /** The zone of the session; undefined for UTC. */
  get timeZone(): TimeZone | undefined {
    return timeZone(this.get('timezone'))
  }

  /** The purpose for which the session reads; undefined for none. */
  get purpose(): string | undefined {
    const purpose = this.get(purposeSetting)
    return purpose === '' ? undefined : purpose
  }

  /** Milliseconds that a statement may take: the client's value, up to the service's maximum. */
  get statementMs(): number {
    const ms = durationMs(this.get('statement_timeout')) ?? 0
    return ms === 0 ? limits.pgwireStatementMsMax : Math.min(ms, limits.pgwireStatementMsMax)
  }

  /** Milliseconds that the connection may be idle, inside a transaction or outside. */
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
  const { parse, hint } = settingOf(name)
  if (parse === undefined) throw new WireError('55P02', `parameter "${spelled(name)}" cannot be changed`)
  const parsed = value.length > valueLengthMax ? undefined : parse(value)
  if (parsed === undefined)
    throw new WireError(
      '22023',
      `invalid value for parameter "${spelled(name)}": the value is not supported`,
      'ERROR',
      hint,
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
