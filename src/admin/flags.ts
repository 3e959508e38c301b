/** Reads the flags of one administration command. A problem is one sentence and never quotes a value. */

import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import { parseTenantId, type TenantId } from '../core/tenant.ts'
import { limits } from '../limits.ts'
import { UsageError } from './exit-status.ts'

export class Flags {
  constructor(
    readonly values: Readonly<Record<string, unknown>>,
    readonly stdin: () => Promise<string>,
    /** Whether the call goes over HTTP, where the session names a tenant. */
    readonly isRemote = false,
  ) {}

  /**
   * A required flag.
   * @throws UsageError where it is missing or empty
   */
  required(name: string): string {
    const value = this.optional(name)
    if (value === undefined) throw new UsageError(`--${name} is required`)
    return value
  }

  /**
   * An optional flag.
   * @throws UsageError where it is given but empty
   */
  optional(name: string): string | undefined {
    const value = this.values[name]
    if (value === '') throw new UsageError(`--${name} is empty`)
    return typeof value === 'string' ? value : undefined
  }

  /** Whether a flag is given that takes no value. */
  isSet(name: string): boolean {
    return this.values[name] === true
  }

  /** A comma-separated list; undefined where the flag is absent. */
  list(name: string): readonly string[] | undefined {
    const items = this.optional(name)?.split(',')
    return items?.map((item) => item.trim()).filter((item) => item !== '')
  }

  /**
   * A comma-separated list of some of `choices`.
   * @throws UsageError where an item is not among them, or the list is empty
   */
  choices<T extends string>(name: string, choices: readonly T[]): readonly T[] | undefined {
    const items = this.list(name)?.map((item) => oneOf(name, item, choices))
    if (items?.length === 0) throw new UsageError(`--${name} is empty`)
    return items
  }

  /**
   * One of `choices`.
   * @throws UsageError where the flag is given but not one of them
   */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.optional(name)
    return value === undefined ? undefined : oneOf(name, value, choices)
  }

  /**
   * One of `choices`, required.
   * @throws UsageError where the flag is missing or not one of them
   */
  requiredChoice<T extends string>(name: string, choices: readonly T[]): T {
    return oneOf(name, this.required(name), choices)
  }

  /**
   * A whole number from `min` to `max`.
   * @throws UsageError where the flag is given but not such a number
   */
  integer(name: string, min: number, max: number): number | undefined {
    const value = this.optional(name)
    if (value === undefined) return undefined
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max))
      throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`)
    return number
  }

  /**
   * The required --tenant.
   * @throws UsageError where it is not a UUID version 4
   */
  tenant(): TenantId {
    const tenant = parseTenantId(this.required('tenant'))
    if (tenant === undefined) throw new UsageError('--tenant must be a UUID version 4')
    return tenant
  }

  /**
   * The --tenant, which a call over HTTP may leave out.
   * @throws UsageError as `tenant`
   */
  optionalTenant(): TenantId | undefined {
    return this.isRemote && this.optional('tenant') === undefined ? undefined : this.tenant()
  }

  /**
   * The optional --table, or another flag that names a table.
   * @throws UsageError where it is given but not `namespace.table`, with one or more namespace levels
   */
  table(name = 'table'): TableRef | undefined {
    const text = this.optional(name)
    const table = text === undefined ? undefined : parseTableName(text)
    if (text !== undefined && table === undefined)
      throw new UsageError(`--${name} must be \`namespace.table\`, of letters, digits, _ and -`)
    return table
  }

  /**
   * The required --table, or another flag that names a table.
   * @throws UsageError as `table`, and where it is missing
   */
  requiredTable(name = 'table'): TableRef {
    this.required(name)
    return this.table(name) as TableRef
  }

  /**
   * The text of the file that the flag names; `-` is standard input.
   * @throws UsageError where there is no such file, or it is too large
   */
  async file(name: string, bytesMax = limits.apiBodyBytesMax): Promise<string> {
    const path = this.required(name)
    const file = Bun.file(path)
    // The path is not quoted, because a user may have put the secret itself here.
    if (path !== '-' && !(await file.exists()))
      throw new UsageError(
        `--${name} takes the name of a file, or - for standard input; there is no such file`,
      )
    const text = path === '-' ? await this.stdin() : await file.text()
    if (Buffer.byteLength(text) > bytesMax) throw new UsageError(`--${name}: the file is too large`)
    return text
  }

  /**
   * The files of YAML and JSON below the folder that the flag names, by their paths in it.
   * @throws UsageError where there is none, or they are too large together
   */
  async folder(
    name: string,
    bytesMax = limits.apiBodyBytesMax,
  ): Promise<readonly { readonly path: string; readonly text: string }[]> {
    const root = this.required(name)
    const paths = await Array.fromAsync(new Bun.Glob('**/*.{yml,yaml,json}').scan(root)).catch(() => [])
    if (paths.length === 0)
      throw new UsageError(`--${name} takes the name of a folder with files of YAML or JSON; there is none`)
    const found: { readonly path: string; readonly text: string }[] = []
    let bytes = 0
    for (const path of paths.sort()) {
      const file = Bun.file(`${root}/${path}`)
      bytes += file.size
      if (bytes > bytesMax) throw new UsageError(`--${name}: the files are too large together`)
      found.push({ path, text: await file.text() })
    }
    return found
  }
}

/**
 * Parses a table's name.
 * @returns undefined where `text` is not `namespace.table`, with one or more namespace levels
 */
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
