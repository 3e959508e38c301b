/** Defines an attack: a statement that tries to see, infer or do more than its principal may. */

export interface Attack {
  readonly class: string
  readonly sql: string
  /** `same`: served, with the barrier views' answer. */
  readonly expect: 'refused' | 'same'
}

/** Attacks of one class. */
export function attacksOf(name: string, expect: Attack['expect'], statements: readonly string[]): Attack[] {
  return statements.map((sql) => ({ class: name, sql, expect }))
}
