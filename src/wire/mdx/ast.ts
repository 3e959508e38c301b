/** The syntax tree of the MDX that is read: statements, axes and expressions. Names are not resolved here. */

/** A part of a name: `Sales`, `[Sales]`, or the key of a member, `&[1]`, which is null where nothing follows `&`. */
export type NamePart =
  | { readonly kind: 'name'; readonly name: string; readonly quoted: boolean }
  | { readonly kind: 'key'; readonly key: string | null }

const binaryOperators = [
  'OR',
  'XOR',
  'AND',
  '=',
  '<>',
  '<=',
  '>=',
  '<',
  '>',
  'IS',
  '+',
  '-',
  '*',
  '/',
  '^',
  ':',
] as const
export type BinaryOperator = (typeof binaryOperators)[number]

export type MdxExpression =
  | { readonly kind: 'name'; readonly parts: readonly NamePart[] }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'null' }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'set'; readonly items: readonly MdxExpression[] }
  /** Of one item: parentheses. */
  | { readonly kind: 'tuple'; readonly items: readonly MdxExpression[] }
  /** Name in upper case. An argument that was left out is undefined. */
  | {
      readonly kind: 'call'
      readonly name: string
      readonly arguments: readonly (MdxExpression | undefined)[]
    }
  /** `of.NAME`. */
  | { readonly kind: 'property'; readonly of: MdxExpression; readonly name: string }
  /** `of.NAME(…)`. */
  | {
      readonly kind: 'method'
      readonly of: MdxExpression
      readonly name: string
      readonly arguments: readonly MdxExpression[]
    }
  | {
      readonly kind: 'binary'
      readonly operator: BinaryOperator
      readonly left: MdxExpression
      readonly right: MdxExpression
    }
  | { readonly kind: 'not' | 'negative' | 'existing'; readonly operand: MdxExpression }
  /** `of AS name`: the set has this name from there on. */
  | { readonly kind: 'alias'; readonly of: MdxExpression; readonly name: string }
  | {
      readonly kind: 'case'
      readonly of: MdxExpression | undefined
      readonly branches: readonly { readonly when: MdxExpression; readonly result: MdxExpression }[]
      readonly otherwise: MdxExpression | undefined
    }

/** What WITH or CREATE defines. */
export interface MdxFormula {
  readonly kind: 'member' | 'set'
  /** Its name, without that of the cube in CREATE. */
  readonly name: readonly NamePart[]
  readonly expression: MdxExpression
  /** Such as FORMAT_STRING, in upper case. */
  readonly properties: readonly { readonly name: string; readonly value: MdxExpression }[]
  /** Of CREATE: it is found by its name, and not listed. */
  readonly isHidden?: true
  /** Of a set that CREATE defines: a slicer and subselects leave it as it is. */
  readonly isStatic?: true
}

export interface MdxAxis {
  /** 0 for COLUMNS. */
  readonly ordinal: number
  readonly nonEmpty: boolean
  readonly set: MdxExpression
  readonly having: MdxExpression | undefined
  /** DIMENSION PROPERTIES. */
  readonly properties: readonly (readonly NamePart[])[]
}

export type MdxFrom =
  /** An empty name stands for the cube of the message. */
  | { readonly kind: 'cube'; readonly name: string }
  | {
      readonly kind: 'subselect'
      readonly nonVisual: boolean
      readonly axes: readonly MdxAxis[]
      readonly from: MdxFrom
      readonly where: MdxExpression | undefined
    }

export interface MdxSelect {
  readonly kind: 'select'
  readonly formulas: readonly MdxFormula[]
  /** By ordinal, without a gap. */
  readonly axes: readonly MdxAxis[]
  readonly from: MdxFrom
  readonly where: MdxExpression | undefined
  /** In upper case. */
  readonly cellProperties: readonly string[]
}

/** What RETURN may ask of a member, as `NAME(…)`. */
export const returnedParts = ['NAME', 'KEY', 'UNIQUENAME', 'MEMBERVALUE', 'CAPTION'] as const
export type ReturnedPart = (typeof returnedParts)[number]

export interface ReturnedColumn {
  readonly name: readonly NamePart[]
  readonly part?: ReturnedPart
}

export type MdxStatement =
  | MdxSelect
  | {
      readonly kind: 'drillthrough'
      readonly rowsMax: number | undefined
      readonly select: MdxSelect
      /** RETURN: names of measures, attributes or columns. */
      readonly columns: readonly ReturnedColumn[]
    }
  | { readonly kind: 'refresh'; readonly cube: string }
  /** `cube` is undefined for CURRENTCUBE. */
  | { readonly kind: 'create'; readonly cube: string | undefined; readonly formulas: readonly MdxFormula[] }
  | {
      readonly kind: 'drop'
      readonly of: 'member' | 'set'
      readonly cube: string | undefined
      readonly names: readonly (readonly NamePart[])[]
    }

export const axisNames = ['COLUMNS', 'ROWS', 'PAGES', 'CHAPTERS', 'SECTIONS'] as const
