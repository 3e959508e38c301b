/** The syntax tree of a graph query: what `parse.ts` makes, and all that can be compiled. */

export type Value = string | number | boolean

export const comparisons = ['=', '<>', '<', '<=', '>', '>='] as const
const textOperators = ['STARTS WITH', 'ENDS WITH', 'CONTAINS'] as const
const connectives = ['AND', 'OR', 'XOR'] as const
export type BinaryOperator =
  | (typeof comparisons)[number]
  | (typeof textOperators)[number]
  | (typeof connectives)[number]
  | 'IN'

/** Functions of one row, in lower case. */
export const functionNames = [
  'coalesce',
  'labels',
  'length',
  'nodes',
  'relationships',
  'size',
  'tolower',
  'toupper',
  'type',
] as const
export type FunctionName = (typeof functionNames)[number]

/** Functions of a group of rows. */
export const aggregateNames = ['avg', 'collect', 'count', 'max', 'min', 'sum'] as const
export type AggregateName = (typeof aggregateNames)[number]

export const procedureNames = ['covenant.columns_tagged', 'covenant.neighbours', 'covenant.path'] as const
export type ProcedureName = (typeof procedureNames)[number]

export type Expression =
  | { readonly kind: 'null' }
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'property'; readonly of: string; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'isNull'; readonly operand: Expression; readonly negated: boolean }
  | {
      readonly kind: 'binary'
      readonly operator: BinaryOperator
      readonly left: Expression
      readonly right: Expression
    }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly arguments: readonly Expression[] }
  | {
      readonly kind: 'aggregate'
      readonly name: AggregateName
      readonly distinct: boolean
      /** Absent: `count(*)`. */
      readonly argument?: Expression
    }

/** A property that must have a value. */
export interface PropertyTest {
  readonly name: string
  readonly value: Expression
}

export interface NodePattern {
  readonly name?: string
  readonly label?: string
  readonly properties: readonly PropertyTest[]
}

export interface EdgePattern {
  readonly name?: string
  readonly type: string
  readonly properties: readonly PropertyTest[]
  /** As written: `-[]->`, `<-[]-`, `-[]-`. */
  readonly direction: 'out' | 'in' | 'both'
  /** Absent: one edge. */
  readonly hops?: { readonly min: number; readonly max: number }
}

export interface PathPattern {
  /** The name of the path. */
  readonly name?: string
  /** One more than there are edges. */
  readonly nodes: readonly NodePattern[]
  readonly edges: readonly EdgePattern[]
}

export interface MatchClause {
  readonly kind: 'match'
  readonly optional: boolean
  readonly paths: readonly PathPattern[]
  readonly where?: Expression
}

export interface UnwindClause {
  readonly kind: 'unwind'
  readonly parameter: string
  readonly as: string
}

export interface CallClause {
  readonly kind: 'call'
  readonly procedure: ProcedureName
  readonly arguments: readonly Expression[]
  readonly yields: readonly { readonly name: string; readonly as: string }[]
}

export interface ProjectedItem {
  readonly expression: Expression
  readonly as: string
}

/** `WITH` or `RETURN`. */
export interface ProjectClause {
  readonly kind: 'with' | 'return'
  readonly distinct: boolean
  readonly items: readonly ProjectedItem[]
  readonly orderBy: readonly { readonly expression: Expression; readonly descending: boolean }[]
  readonly skip?: Expression
  readonly limit?: Expression
  /** Of `WITH` only. */
  readonly where?: Expression
}

export type Clause = MatchClause | UnwindClause | CallClause | ProjectClause

/** The last clause is `RETURN`, and no other is. */
export interface GraphQuery {
  readonly clauses: readonly Clause[]
}
