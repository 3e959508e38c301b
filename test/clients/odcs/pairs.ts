/** Pairs of contracts that differ by one change each, of every kind that both judges know. */

type Plain = Record<string, unknown>
type Column = Plain & { name: string }

/** A kind of change: the columns before and after, for a variant. */
interface Kind {
  readonly name: string
  /** Where datacontract-cli says otherwise by intent: what docs/odcs.md explains. */
  readonly differs?: true
  readonly make: (variant: number) => readonly [Plain[], Plain[]]
}

const column = (more: Plain = {}): Column => ({
  name: 'a',
  logicalType: 'string',
  physicalType: 'string',
  ...more,
})
const base = { name: 'id', logicalType: 'integer', physicalType: 'long', required: true }
/** One column that changes beside one that does not. */
const one = (before: Plain, after: Plain) =>
  [
    [base, column(before)],
    [base, column(after)],
  ] as const
const swap = <T>(variant: number, [a, b]: readonly [T, T]): readonly [T, T] =>
  variant % 2 === 0 ? [a, b] : [b, a]
const both = (variant: number, before: Plain, after: Plain) => {
  const [first, second] = swap(variant, [before, after])
  return one(first, second) as unknown as readonly [Plain[], Plain[]]
}
const number = { logicalType: 'integer', physicalType: 'long' }
const bounded = (options: Plain) => ({ ...number, logicalTypeOptions: options })
const rule = (more: Plain) => ({ quality: [{ id: 'q', metric: 'nullValues', ...more }] })
const values = (...all: string[]) => ({ enum: all.map((value) => ({ value })) })

export const kinds: readonly Kind[] = [
  { name: 'nothing', make: () => one({}, {}) as never },
  { name: 'required', make: (v) => both(v, {}, { required: true }) },
  { name: 'enum value', make: (v) => both(v, values('x'), values('x', `y${v}`)) },
  { name: 'enum', make: (v) => both(v, {}, values('x')) },
  { name: 'minimum', make: (v) => both(v, bounded({ minimum: 1 }), bounded({ minimum: 2 + v })) },
  { name: 'maximum', make: (v) => both(v, bounded({ maximum: 10 }), bounded({ maximum: 20 + v })) },
  { name: 'a bound', make: (v) => both(v, number, bounded({ maximum: 20 + v })) },
  {
    name: 'exclusive bound',
    make: (v) => both(v, bounded({ minimum: 5 }), bounded({ exclusiveMinimum: 5 + v })),
  },
  { name: 'equal bound', make: (v) => both(v, bounded({ minimum: 6 }), bounded({ exclusiveMinimum: 5 })) },
  {
    name: 'length',
    make: (v) =>
      both(v, { logicalTypeOptions: { maxLength: 5 } }, { logicalTypeOptions: { maxLength: 6 + v } }),
  },
  {
    name: 'pattern',
    make: (v) => both(v, { logicalTypeOptions: { pattern: 'a' } }, { logicalTypeOptions: { pattern: 'b' } }),
  },
  { name: 'threshold', make: (v) => both(v, rule({ mustBeLessThan: 5 }), rule({ mustBeLessThan: 6 + v })) },
  {
    name: 'equal threshold',
    make: (v) => both(v, rule({ mustBeLessThan: 5 }), rule({ mustBeLessOrEqualTo: 4 })),
  },
  {
    name: 'moved threshold',
    make: (v) => both(v, rule({ mustBeBetween: [1, 5] }), rule({ mustBeBetween: [3, 6 + v] })),
  },
  { name: 'rule', make: (v) => both(v, {}, rule({ mustBe: v })) },
  {
    name: 'logical type',
    make: (v) =>
      both(v, { logicalType: 'string' }, { logicalType: ['date', 'number', 'boolean', 'time'][v] }),
  },
  { name: 'narrower type', make: () => one(number, { ...number, physicalType: 'int' }) as never },
  { name: 'description', make: (v) => both(v, {}, { description: `text ${v}` }) },
  { name: 'tags', make: (v) => both(v, {}, { tags: [`t${v}`] }) },
  { name: 'column dropped', make: () => [[base, column()], [base]] },
  { name: 'required column added', make: () => [[base], [base, column({ required: true })]] },
  { name: 'optional column added', differs: true, make: () => [[base], [base, column()]] },
  {
    name: 'wider integer',
    differs: true,
    make: () => one({ ...number, physicalType: 'int' }, number) as never,
  },
  {
    name: 'wider decimal',
    differs: true,
    make: () =>
      one(
        { logicalType: 'number', physicalType: 'decimal(10,2)' },
        { logicalType: 'number', physicalType: 'decimal(12,2)' },
      ) as never,
  },
  { name: 'uniqueness', differs: true, make: (v) => both(v, {}, { unique: true }) },
  { name: 'key', differs: true, make: (v) => both(v, {}, { primaryKey: true, primaryKeyPosition: 1 }) },
]

/** A document with these columns, as JSON. */
export function documentOf(columns: readonly Plain[]): string {
  const schema = [{ name: 'orders', physicalName: 'orders', properties: columns }]
  return `${JSON.stringify({ apiVersion: 'v3.2.0', kind: 'DataContract', id: 'c', version: '1.0.0', status: 'active', schema }, null, 1)}\n`
}

export interface Pair {
  readonly kind: Kind
  readonly before: string
  readonly after: string
}

/** The pairs: four variants of each kind. */
export const pairs: readonly Pair[] = kinds.flatMap((kind) =>
  [0, 1, 2, 3].map((variant) => {
    const [before, after] = kind.make(variant)
    return { kind, before: documentOf(before), after: documentOf(after) }
  }),
)
