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
