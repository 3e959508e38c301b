/** The flags of one administration command, as values. Problems are one sentence and repeat no value. */

import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import { parseTenantId, type TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'

/** The user's words were wrong; the message says how. */
export class UsageError extends Error {}

export class Flags {
  constructor(
    readonly values: Readonly<Record<string, unknown>>,
    readonly stdin: () => Promise<string>,
  ) {}

  /** @throws UsageError where the flag is missing or empty */
  required(name: string): string {
    const value = this.optional(name)
    if (value === undefined) throw new UsageError(`--${name} is required`)
    return value
  }

  /** @throws UsageError where the flag is there and empty */
  optional(name: string): string | undefined {
    const value = this.values[name]
    if (value === '') throw new UsageError(`--${name} is empty`)
    return typeof value === 'string' ? value : undefined
  }

  /** A comma-separated list; undefined where the flag is absent. */
  list(name: string): readonly string[] | undefined {
    const items = this.optional(name)?.split(',')
    return items?.map((item) => item.trim()).filter((item) => item !== '')
  }

  /** A comma-separated list of some of `choices`. @throws UsageError where an item is none of them, or none is there */
  choices<T extends string>(name: string, choices: readonly T[]): readonly T[] | undefined {
    const items = this.list(name)?.map((item) => oneOf(name, item, choices))
    if (items?.length === 0) throw new UsageError(`--${name} is empty`)
    return items
  }

  /** @throws UsageError where the flag is there and not one of `choices` */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.optional(name)
    return value === undefined ? undefined : oneOf(name, value, choices)
  }

  /** @throws UsageError where the flag is missing or not one of `choices` */
  requiredChoice<T extends string>(name: string, choices: readonly T[]): T {
    return oneOf(name, this.required(name), choices)
  }

  /** @throws UsageError where the flag is there and no whole number from `min` to `max` */
  integer(name: string, min: number, max: number): number | undefined {
    const value = this.optional(name)
    if (value === undefined) return undefined
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max))
      throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`)
    return number
  }

  /** @throws UsageError where --tenant is not a UUID version 4 */
  tenant(): TenantId {
    const tenant = parseTenantId(this.required('tenant'))
    if (tenant === undefined) throw new UsageError('--tenant must be a UUID version 4')
    return tenant
  }

  /** @throws UsageError where --table is there and not `namespace.table`, the namespace of one or more levels */
  table(): TableRef | undefined {
    const text = this.optional('table')
    const table = text === undefined ? undefined : parseTableName(text)
    if (text !== undefined && table === undefined)
      throw new UsageError('--table must be `namespace.table`, of letters, digits, _ and -')
    return table
  }

  /** @throws UsageError as `table`, and where --table is missing */
  requiredTable(): TableRef {
    this.required('table')
    return this.table() as TableRef
  }

  /**
   * The text of the file that the flag names; `-` is standard input.
   * @throws UsageError where there is no such file, or it is larger than any of ours may be
   */
  async file(name: string): Promise<string> {
    const path = this.required(name)
    const file = Bun.file(path)
    // The path is not repeated: whoever put the secret itself here must not find it in a log.
    if (path !== '-' && !(await file.exists()))
      throw new UsageError(
        `--${name} takes the name of a file, or - for standard input; there is no such file`,
      )
    const text = path === '-' ? await this.stdin() : await file.text()
    if (Buffer.byteLength(text) > limits.apiBodyBytesMax)
      throw new UsageError(`--${name}: the file is too large`)
    return text
  }
}

/** @returns undefined where `text` is not `namespace.table`, the namespace of one or more levels */
export function parseTableName(text: string): TableRef | undefined {
  const levels = text.split('.')
  const fit = (part: string) => isPathIdentifier(part) && part.length <= limits.identifierLengthMax
  if (levels.length < 2 || !levels.every(fit)) return undefined
  return { namespace: levels.slice(0, -1), name: levels.at(-1) ?? '' }
}

function oneOf<T extends string>(name: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value)
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(', ')}`)
  return found
}
