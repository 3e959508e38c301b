/** The syntax tree of a DAX query, of the part of the language that reports of Power BI write. Names are not resolved. */

export type DaxExpression =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  /** `@name`, whose value comes with the request. */
  | { readonly kind: 'parameter'; readonly name: string }
  /** `'table'[name]`, or `[name]`. */
  | { readonly kind: 'column'; readonly table: string | undefined; readonly name: string }
  /** `'name'` or `name`: a table, a variable, or a word such as ASC. */
  | { readonly kind: 'name'; readonly name: string; readonly isQuoted: boolean }
  | DaxCall
  | { readonly kind: 'not' | 'negate'; readonly of: DaxExpression }
  | {
      readonly kind: 'operation'
      readonly operator: DaxOperator
      readonly left: DaxExpression
      readonly right: DaxExpression
    }
  /** `(a, b)`, on the left of IN. */
  | { readonly kind: 'tuple'; readonly items: readonly DaxExpression[] }
  /** `{a, b}` or `{(a, b), (c, d)}`. */
  | { readonly kind: 'rows'; readonly rows: readonly (readonly DaxExpression[])[] }
  | { readonly kind: 'let'; readonly variables: readonly DaxVariable[]; readonly body: DaxExpression }

export interface DaxCall {
  readonly kind: 'call'
  /** In upper case. */
  readonly name: string
  /** Undefined for one that was left out between two commas. */
  readonly items: readonly (DaxExpression | undefined)[]
}

export type DaxOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '^'
  | '&'
  | '='
  | '=='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | '&&'
  | '||'
  | 'in'

export interface DaxVariable {
  readonly name: string
  readonly value: DaxExpression
}

export interface DaxMeasure {
  readonly table: string
  readonly name: string
  readonly value: DaxExpression
}

export interface DaxOrder {
  readonly by: DaxExpression
  readonly descending: boolean
}

export interface DaxEvaluation {
  readonly table: DaxExpression
  readonly order: readonly DaxOrder[]
  /** Values of the first expressions of `order`; empty without START AT. */
  readonly startAt: readonly DaxExpression[]
}

export interface DaxQuery {
  readonly variables: readonly DaxVariable[]
  readonly measures: readonly DaxMeasure[]
  /** At least one. */
  readonly evaluations: readonly DaxEvaluation[]
}
