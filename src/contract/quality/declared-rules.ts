/**
 * Makes rules of what the schema of a document declares of its properties: `required`, `unique`, `primaryKey`, `enum`
 * and `logicalTypeOptions`. It only lists and names them; measure-declared.ts says how each is counted.
 */

import { columnOf, type GoverningSchema } from '../../store/contract/put-in-force.ts'
import type { ModelProperty, ModelQuality } from '../../wire/odcs/model.ts'

/** What a property declares, or a key of several. */
export interface Declared {
  /** Such as `required`, or the name of an option. */
  readonly word: string
  /** The column of each property, from the top-level one down; none where it is inside of a list or map. */
  readonly paths: readonly (readonly string[])[]
  /** What the option is set to; the values of an `enum`. */
  readonly value?: unknown
  /** The other options, which may say how a value is meant. */
  readonly options: ModelProperty['options']
}

/** A rule that the document declares by its schema. It fails where one row breaks it. */
interface DeclaredRule {
  readonly name: string
  readonly rule: ModelQuality
  readonly element: string
  readonly declared: Declared
}

/** Options that say which values are valid. All others describe a value, as `format` does. */
const constraints = [
  ...['minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'required'],
  'dimensions',
] as const

type Properties = Pick<GoverningSchema, 'properties'>

/** The rules that the properties of an object declare, with names that stay the same from version to version. */
export function declaredRules({ properties }: Properties): readonly DeclaredRule[] {
  const byName = new Map(properties.map((property) => [property.name, property]))
  const placed = properties.map((property) => ({ property, path: pathOf(property, byName) }))
  const key = placed
    .filter(({ property }) => property.primaryKey)
    .toSorted((a, b) => positionOf(a.property) - positionOf(b.property))
  const [single] = key.length === 1 ? key : []
  const rules = placed.flatMap(({ property, path }): readonly DeclaredRule[] => {
    const of = (word: string, value?: unknown): DeclaredRule =>
      ruleOf({ word, paths: [path], value, options: property.options })
    return [
      ...(property.required || property.primaryKey ? [of('required')] : []),
      ...(property.unique || single?.property === property ? [of('unique')] : []),
      ...(property.enum === undefined
        ? []
        : [
            of(
              'enum',
              property.enum.map((value): unknown => JSON.parse(value)),
            ),
          ]),
      ...optionsOf(property.options).map(({ word, value }) => of(word, value)),
      ...(property.inside ?? []).map((entry) => insideOf(path, entry)),
    ]
  })
  const isCompound = key.length > 1
  return isCompound
    ? [...rules, ruleOf({ word: 'unique', paths: key.map(({ path }) => path), options: {} })]
    : rules
}

/** The constraints of a property. `exclusiveMinimum: true`, of 3.0, makes its `minimum` one that is left out. */
function optionsOf(options: ModelProperty['options']): readonly Pick<Declared, 'word' | 'value'>[] {
  return constraints.flatMap((word): readonly Pick<Declared, 'word' | 'value'>[] => {
    const value = options[word]
    if (value === undefined || value === null || value === false) return []
    if (word === 'minimum' && options.exclusiveMinimum === true) return []
    if (word === 'maximum' && options.exclusiveMaximum === true) return []
    if (word === 'exclusiveMinimum' && value === true) return [{ word, value: options.minimum }]
    if (word === 'exclusiveMaximum' && value === true) return [{ word, value: options.maximum }]
    // Which members an object must have is another thing than that it must be there.
    return [{ word: word === 'required' ? 'requiredProperties' : word, value }]
  })
}

/** On record, because no statement reaches it. */
function insideOf(path: readonly string[], entry: string): DeclaredRule {
  const [, word = ''] = entry.split(': ')
  const column = path.join('.')
  return { ...ruleOf({ word, paths: [], options: {} }), name: `${column}${entry}`, element: column }
}

function ruleOf(declared: Declared): DeclaredRule {
  const { word, paths } = declared
  const columns = paths.map((path) => path.join('.'))
  const rule: ModelQuality = {
    ...{ key: word, type: 'schema', metric: word, unit: 'rows', operator: 'mustBe', threshold: 0 },
    measures: '[]',
  }
  return {
    name: `${columns.join(', ')}: ${word}`,
    rule,
    element: columns.length === 1 ? columns.join() : '',
    declared,
  }
}

const positionOf = ({ primaryKeyPosition = Number.MAX_SAFE_INTEGER }: ModelProperty) => primaryKeyPosition

/** The physical names from the top-level property down. A name may hold a dot, so the longest parent is taken. */
function pathOf(property: ModelProperty, byName: ReadonlyMap<string, ModelProperty>): readonly string[] {
  for (let dot = property.name.lastIndexOf('.'); dot > 0; dot = property.name.lastIndexOf('.', dot - 1)) {
    const parent = byName.get(property.name.slice(0, dot))
    if (parent === undefined) continue
    return [...pathOf(parent, byName), property.physicalName ?? property.name.slice(dot + 1)]
  }
  return [columnOf(property)]
}
