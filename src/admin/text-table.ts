/** Writes values of JSON for people: lists as aligned columns, objects as lines. It prints nothing. */

type Members = Readonly<Record<string, unknown>>

/** Characters of a cell that is not the last of its line. */
const cellMax = 72

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Text that a terminal shows and does not obey: names and texts come from others, and may hold control characters or
 * ones that turn the direction of writing.
 */
export function shownText(text: string): string {
  return text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** One value on one line. A table is `namespace.name`; what is absent is `-`. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-'
  if (typeof value === 'string') return shownText(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cellText).join(', ')
  if (!isObject(value)) return String(value)
  const { namespace, name, table } = value
  if (Array.isArray(namespace) && typeof (name ?? table) === 'string')
    return shownText([...namespace, name ?? table].join('.'))
  return Object.entries(value)
    .filter(([, part]) => part !== undefined && part !== null)
    .map(([key, part]) => `${shownText(key)}=${cellText(part)}`)
    .join(' ')
}

/** Rows under their heads, in columns as wide as their longest cell. */
export function tableText(heads: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [
    heads.map((head) => shownText(head).toUpperCase().replaceAll('_', ' ')),
    ...rows.map((row) => row.map((value, at) => cut(cellText(value), at === row.length - 1))),
  ]
  const widths = heads.map((_, at) => Math.max(...lines.map((line) => [...(line[at] ?? '')].length)))
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cut(text: string, isLast: boolean): string {
  const characters = [...text]
  return isLast || characters.length <= cellMax ? text : `${characters.slice(0, cellMax - 1).join('')}…`
}

/**
 * A list as a table.
 * @param columns each a path of members such as `contract.id`, or `HEAD=path`; left out: all members that the items have
 */
export function listText(items: readonly unknown[], columns?: readonly string[]): string {
  if (items.length === 0) return 'None.'
  if (!items.every(isObject)) return items.map(cellText).join('\n')
  const chosen = columns ?? [...new Set(items.flatMap((item) => Object.keys(item)))]
  const parts = chosen.map((column) => {
    const [head = '', path = head] = column.split('=')
    return { head: head.split('.').at(-1) ?? head, path: path.split('.') }
  })
  return tableText(
    parts.map(({ head }) => head),
    items.map((item) => parts.map(({ path }) => valueAt(item, path))),
  )
}

function valueAt(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return value
  if (Array.isArray(value)) return value.map((one) => valueAt(one, [first, ...rest]))
  return isObject(value) ? valueAt(value[first], rest) : undefined
}

/** An object as lines `name  value`, and each list of objects in it as a table of its own below. */
export function fieldsText(value: Members): string {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined && part !== null)
  const isPart = (part: unknown) =>
    (Array.isArray(part) && part.length > 0 && part.every(isObject) && !part.every(isTable)) ||
    (isObject(part) && !isTable(part) && Object.values(part).some((one) => typeof one === 'object'))
  const lines = entries.filter(([, part]) => !isPart(part))
  const width = Math.max(0, ...lines.map(([name]) => name.length))
  const label = (name: string) => shownText(name).replaceAll('_', ' ')
  const head = lines.map(([name, part]) => `${label(name).padEnd(width)}  ${cellText(part)}`).join('\n')
  const parts = entries
    .filter(([, part]) => isPart(part))
    .map(([name, part]) => {
      const text = Array.isArray(part) ? listText(part) : fieldsText(part as Members)
      return `${label(name)}:\n${text.replaceAll(/^/gm, '  ')}`
    })
  return [...(head === '' ? [] : [head]), ...parts].join('\n\n')
}

const isTable = (part: unknown): boolean =>
  isObject(part) && Array.isArray(part.namespace) && Object.keys(part).length === 2
