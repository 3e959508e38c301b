/** Random graph queries of the subset, as texts. Most are meaningful; none breaks a rule of types. */

import { type Audience, ends, labels, sees, types, visibleProperties } from '../../src/graph/schema.ts'
import type { EdgeLabel, VertexLabel } from '../../src/store/database/names.ts'
import { type Dice, texts } from './random-graph.ts'

export interface RandomQuery {
  readonly text: string
  readonly parameters: Readonly<
    Record<string, string | number | boolean | null | readonly (string | number)[]>
  >
}

type Kind = 'text' | 'number' | 'boolean'

interface Named {
  readonly name: string
  readonly is: 'node' | 'edge' | 'path' | 'edges' | Kind
  readonly label?: VertexLabel
  readonly type?: EdgeLabel
}

const quoted = (text: string) => `'${text.replace(/[\\']/g, (one) => `\\${one}`)}'`

/** Labels whose nodes `random-graph.ts` makes. */
const used = new Set<VertexLabel>([
  'Table',
  'Column',
  'Tag',
  'Namespace',
  'Contract',
  'Dataset',
  'Job',
  'Snapshot',
  'Principal',
  'Policy',
  'RowFilter',
  'ColumnMask',
  'Classification',
])

/** A query that somebody of `as` may ask. */
export function randomQuery(dice: Dice, as: Audience): RandomQuery {
  return new QueryMaker(dice, as).make()
}

class QueryMaker {
  readonly #parameters: Record<string, RandomQuery['parameters'][string]> = {}
  #names: Named[] = []
  #count = 0
  #hops = 5
  #nodes = 6
  readonly dice: Dice
  readonly as: Audience

  constructor(dice: Dice, as: Audience) {
    this.dice = dice
    this.as = as
  }

  make(): RandomQuery {
    const { dice } = this
    const clauses: string[] = []
    if (dice.chance(0.1)) {
      const name = this.#fresh('u')
      this.#parameters.list = dice.times(4, () => dice.pick(texts))
      clauses.push(`UNWIND $list AS ${name}`)
      this.#names.push({ name, is: 'text' })
    }
    clauses.push(this.#match(false))
    if (dice.chance(0.4) && this.#hops > 0 && this.#nodes > 1) clauses.push(this.#match(dice.chance(0.7)))
    if (dice.chance(0.3)) clauses.push(this.#with())
    if (dice.chance(0.15) && this.#hops > 0 && this.#nodes > 1 && this.#some('node').length > 0)
      clauses.push(this.#match(dice.chance(0.5)))
    clauses.push(this.#return())
    return { text: clauses.join(' '), parameters: this.#parameters }
  }

  #fresh(prefix: string): string {
    return `${prefix}${++this.#count}`
  }

  #some(is: Named['is']): readonly Named[] {
    return this.#names.filter((one) => one.is === is)
  }

  #edgesOf(label: VertexLabel) {
    return Object.entries(ends)
      .flatMap(([name, pairs]) => {
        const type = name as EdgeLabel
        if (!sees(this.as, types[type].audience)) return []
        return pairs.flatMap(([from, to]) => [
          ...(from === label ? [{ type, other: to, direction: 'out' }] : []),
          ...(to === label ? [{ type, other: from, direction: 'in' }] : []),
        ])
      })
      .filter(({ other }) => used.has(other) && sees(this.as, labels[other].audience))
  }

  #match(optional: boolean): string {
    const { dice } = this
    const known = this.#some('node').filter(({ label }) => label !== undefined)
    const start = known.length > 0 && dice.chance(0.95) ? dice.pick(known) : undefined
    const paths = [this.#path(start)]
    if (dice.chance(0.15) && this.#hops > 0 && this.#nodes > 1) {
      const now = this.#some('node').filter(({ label }) => label !== undefined)
      if (now.length > 0) paths.push(this.#path(dice.pick(now)))
    }
    const where = dice.chance(0.35) ? ` WHERE ${this.#condition(2)}` : ''
    return `${optional ? 'OPTIONAL ' : ''}MATCH ${paths.join(', ')}${where}`
  }

  #path(start: Named | undefined): string {
    const { dice } = this
    const visible = [...used].filter((label) => sees(this.as, labels[label].audience))
    let label = start?.label ?? dice.pick(visible)
    const pieces = [start === undefined ? this.#node(label) : `(${start.name})`]
    const length = dice.pick([0, 1, 1, 2, 2, 3, 4])
    let isNamed = start !== undefined
    for (let index = 0; index < length && this.#hops > 0 && this.#nodes > 0; index++) {
      const edges = this.#edgesOf(label)
      if (edges.length === 0) break
      const { type, other, direction } = dice.pick(edges)
      pieces.push(this.#edge(type, label === other && dice.chance(0.7), direction))
      const back = this.#some('node').filter((one) => one.label === other)
      if (back.length > 0 && dice.chance(0.15)) pieces.push(`(${dice.pick(back).name})`)
      else pieces.push(this.#node(other))
      label = other
      isNamed = true
    }
    // A path read from right to left is the same path.
    if (isNamed && dice.chance(0.2)) {
      const name = this.#fresh('p')
      this.#names.push({ name, is: 'path' })
      return `${name} = ${pieces.join('')}`
    }
    return pieces.join('')
  }

  #node(label: VertexLabel): string {
    const { dice } = this
    this.#nodes--
    const tests = dice.chance(0.08) ? this.#tests(visibleProperties(labels[label], this.as)) : ''
    if (dice.chance(0.2)) return `(:${label}${tests})`
    const name = this.#fresh('n')
    this.#names.push({ name, is: 'node', label })
    return `(${name}:${label}${tests})`
  }

  #tests(properties: ReturnType<typeof visibleProperties>): string {
    if (properties.length === 0) return ''
    const [name, { type }] = this.dice.pick(properties)
    return ` {${name}: ${this.#literal(type)}}`
  }

  #edge(type: EdgeLabel, walks: boolean, way: string): string {
    const { dice } = this
    const max = walks ? 1 + dice.below(Math.min(this.#hops, 4)) : 1
    const min = 1 + dice.below(max)
    this.#hops -= max
    const hops = walks ? `*${dice.chance(0.3) && min === 1 ? '' : min}..${max}` : ''
    const tests = !walks && dice.chance(0.1) ? this.#tests(visibleProperties(types[type], this.as)) : ''
    let name = ''
    if (dice.chance(0.4)) {
      name = this.#fresh('e')
      this.#names.push(walks ? { name, is: 'edges' } : { name, is: 'edge', type })
    }
    const inner = `[${name}:${type}${hops}${tests}]`
    if (dice.chance(0.2)) return `-${inner}-`
    const isOut = dice.chance(0.05) ? way !== 'out' : way === 'out'
    return isOut ? `-${inner}->` : `<-${inner}-`
  }

  #literal(kind: Kind): string {
    const { dice } = this
    if (kind === 'boolean') return dice.pick(['true', 'false', 'TRUE'])
    const value = kind === 'text' ? dice.pick(texts) : dice.below(7) / 2
    if (dice.chance(0.3)) {
      const name = this.#fresh('v')
      this.#parameters[name] = value
      return `$${name}`
    }
    return typeof value === 'string' ? quoted(value) : String(value)
  }

  /** A value of a kind, from what is named, else a literal. */
  #value(kind: Kind, depth: number): string {
    const { dice } = this
    const choices: (() => string)[] = []
    for (const named of this.#names) {
      const { name, is, label, type } = named
      const declared = label === undefined ? type && types[type] : labels[label]
      if ((is === 'node' || is === 'edge') && declared !== undefined)
        for (const [property, one] of visibleProperties(declared, this.as))
          if (one.type === kind) choices.push(() => `${name}.${property}`)
      if (is === kind)
        choices.push(
          () => name,
          () => name,
        )
      if (kind === 'number' && is === 'path')
        choices.push(
          () => `length(${name})`,
          () => `size(nodes(${name}))`,
        )
      if (kind === 'number' && is === 'edges') choices.push(() => `size(${name})`)
      if (kind === 'text' && is === 'edge') choices.push(() => `type(${name})`)
    }
    if (choices.length === 0 || dice.chance(0.1)) return this.#literal(kind)
    if (depth > 0 && dice.chance(0.2)) {
      if (kind === 'text')
        return dice.pick([
          () => `toLower(${this.#value('text', depth - 1)})`,
          () => `toUpper(${this.#value('text', depth - 1)})`,
          () => `coalesce(${this.#value('text', depth - 1)}, ${this.#literal('text')})`,
        ])()
      if (kind === 'number') return `size(${this.#value('text', depth - 1)})`
    }
    return dice.pick(choices)()
  }

  #condition(depth: number): string {
    const { dice } = this
    if (depth > 0 && dice.chance(0.35)) {
      const inner = () => this.#condition(depth - 1)
      return dice.pick([
        () => `(${inner()} ${dice.pick(['AND', 'OR', 'XOR'])} ${inner()})`,
        () => `${inner()} AND ${inner()}`,
        () => `NOT (${inner()})`,
      ])()
    }
    const nodes = this.#some('node')
    return dice.pick([
      () =>
        `${this.#value('text', 1)} ${dice.pick(['=', '<>', '<', '<=', '>', '>='])} ${this.#value('text', 1)}`,
      () =>
        `${this.#value('number', 1)} ${dice.pick(['=', '<>', '<', '<=', '>', '>='])} ${this.#value('number', 1)}`,
      () =>
        `${this.#value('text', 1)} ${dice.pick(['STARTS WITH', 'ENDS WITH', 'CONTAINS'])} ${this.#value('text', 0)}`,
      () => `${this.#value('text', 1)} IN [${dice.times(3, () => this.#literal('text')).join(', ')}]`,
      () => `${this.#value(dice.pick(['text', 'number', 'boolean']), 1)} IS ${dice.pick(['', 'NOT '])}NULL`,
      () => `${this.#value('boolean', 0)} ${dice.pick(['=', '<>'])} ${this.#literal('boolean')}`,
      () =>
        nodes.length > 1
          ? `${dice.pick(nodes).name} ${dice.pick(['=', '<>'])} ${dice.pick(nodes).name}`
          : this.#value('boolean', 0),
    ])()
  }

  #aggregate(): string {
    const { dice } = this
    const distinct = dice.chance(0.3) ? 'DISTINCT ' : ''
    const nodes = this.#names.filter(({ is }) => is === 'node' || is === 'path' || is === 'edge')
    return dice.pick([
      () => 'count(*)',
      () => `count(${distinct}${this.#value('text', 0)})`,
      () => `collect(${distinct}${this.#value(dice.pick(['text', 'number', 'boolean']), 0)})`,
      () =>
        nodes.length > 0
          ? `${dice.pick(['count', 'collect'])}(${distinct}${dice.pick(nodes).name})`
          : 'count(*)',
      () => `${dice.pick(['sum', 'avg'])}(${distinct}${this.#value('number', 0)})`,
      () => `${dice.pick(['min', 'max'])}(${this.#value(dice.pick(['text', 'number']), 0)})`,
    ])()
  }

  #with(): string {
    const { dice } = this
    const kept = this.#names.filter(() => dice.chance(0.6))
    const items = kept.map(({ name }) => name)
    const next: Named[] = [...kept]
    if (dice.chance(0.6) || items.length === 0) {
      const name = this.#fresh('x')
      const kind = dice.pick(['text', 'number'] as const)
      items.push(`${this.#value(kind, 1)} AS ${name}`)
      next.push({ name, is: kind })
    }
    const name = this.#fresh('x')
    const isGrouped = dice.chance(0.4)
    if (isGrouped) {
      items.push(`count(${dice.pick(['*', this.#value('text', 0)])}) AS ${name}`)
      next.push({ name, is: 'number' })
    }
    const distinct = dice.chance(0.3) ? 'DISTINCT ' : ''
    this.#names = next
    const where = dice.chance(0.4) ? ` WHERE ${this.#condition(1)}` : ''
    return `WITH ${distinct}${items.join(', ')}${where}`
  }

  #return(): string {
    const { dice } = this
    const scalars = () => this.#value(dice.pick(['text', 'number', 'boolean']), 1)
    const distinct = dice.chance(0.25) ? 'DISTINCT ' : ''
    if (dice.chance(0.35)) {
      // Ordered by every item, so that equal rows are the only ones whose order is not said.
      const items = dice.times(3, () => `${scalars()} AS ${this.#fresh('r')}`, 1)
      const order = items.map((item) => `${item.split(' AS ').at(-1)}${dice.pick(['', ' DESC', ' ASC'])}`)
      const skip = dice.chance(0.3) ? ` SKIP ${dice.below(3)}` : ''
      const limit = dice.chance(0.5) ? ` LIMIT ${dice.below(6)}` : ''
      return `RETURN ${distinct}${items.join(', ')} ORDER BY ${order.join(', ')}${skip}${limit}`
    }
    const items = dice.times(2, () =>
      dice.chance(0.5) && this.#names.length > 0 ? dice.pick(this.#names).name : scalars(),
    )
    if (dice.chance(0.5) || items.length === 0) items.push(this.#aggregate())
    return `RETURN ${distinct}${items.map((item) => `${item} AS ${this.#fresh('r')}`).join(', ')}`
  }
}
