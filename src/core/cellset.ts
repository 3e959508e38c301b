/** The parts of the answer to a multidimensional query: axes of tuples, and cells by ordinal. Readonly data. */

export type CellType = 'double' | 'int' | 'long' | 'string' | 'boolean'

export interface CellsetAxis {
  /** In the order of each tuple's members. */
  readonly hierarchies: readonly CellsetHierarchy[]
  readonly tuples: readonly (readonly CellsetMember[])[]
}

interface CellsetHierarchy {
  readonly uniqueName: string
  /** Names of properties besides UName, Caption, LName, LNum and DisplayInfo, in upper case, none twice. */
  readonly properties: readonly string[]
}

export interface CellsetMember {
  readonly hierarchy: string
  readonly uniqueName: string
  readonly caption: string
  readonly levelUniqueName: string
  readonly levelNumber: number
  /** Low 16 bits: children; 0x10000: drilled down; 0x20000: the same parent as in the tuple before. */
  readonly displayInfo: number
  /** Values of the hierarchy's properties in their order; null where the member has none. */
  readonly properties: readonly (string | number | boolean | null)[]
}

export interface CellsetCell {
  /** The sum of index times stride, axis 0 first. */
  readonly ordinal: number
  readonly type: CellType
  readonly value: number | bigint | string | boolean
  /** FORMATTED_VALUE. */
  readonly formatted: string
  /** FORMAT_STRING; empty where there is none. */
  readonly format: string
}
