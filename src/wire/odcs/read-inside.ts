/** Lists what a document declares of the items of lists and the keys and values of maps, by name. It reads no values. */

type Plain = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is declared inside a property, as `[]: enum` or `[].sku: required`. */
export function declaredInside({ items, map }: Plain): readonly string[] {
  const parts = isObject(map)
    ? ([
        [map.key, '[key]'],
        [map.value, '[value]'],
      ] as const)
    : []
  return [[items, '[]'] as const, ...parts].flatMap(([part, at]) =>
    isObject(part) ? declaredAt(part, at) : [],
  )
}

/** The classifications of a property and of all inside it that is no column of its own, each once. */
export function classificationsOf(plain: Plain): readonly string[] {
  const { classification, items, map } = plain
  const own = typeof classification === 'string' && classification !== '' ? [classification] : []
  const parts = [items, ...(isObject(map) ? [map.key, map.value] : [])].filter(isObject)
  return [...new Set([...own, ...parts.flatMap(classificationsWithin)])]
}

function classificationsWithin(plain: Plain): readonly string[] {
  const fields = Array.isArray(plain.properties) ? plain.properties.filter(isObject) : []
  return [...classificationsOf(plain), ...fields.flatMap(classificationsWithin)]
}

function declaredAt(plain: Plain, at: string): readonly string[] {
  const { properties, logicalTypeOptions, quality } = plain
  const words = [
    ...(['required', 'unique'] as const).filter((word) => plain[word] === true),
    ...(Array.isArray(plain.enum) ? ['enum'] : []),
    ...(isObject(logicalTypeOptions)
      ? Object.keys(logicalTypeOptions).filter((word) => word !== 'format')
      : []),
    ...(Array.isArray(quality) && quality.length > 0 ? ['quality'] : []),
  ]
  const fields = Array.isArray(properties) ? properties.filter(isObject) : []
  return [
    ...words.map((word) => `${at}: ${word}`),
    ...declaredInside(plain).map((entry) => `${at}${entry}`),
    ...fields.flatMap((field) => declaredAt(field, `${at}.${String(field.physicalName ?? field.name)}`)),
  ]
}
