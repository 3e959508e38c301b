/** Names that a catalog lists and the service cannot address (core/table-ref.ts): counted, with the first of them. */

/** Names that are kept, and characters of each. */
const namesMax = 20
const nameCharsMax = 200

export interface UnusableNames {
  readonly count: number
  /** The first, with their namespaces: `a.b.my table`. */
  readonly names: readonly string[]
}

/** What a person does about them. */
export const howToRename =
  'Rename these tables and namespaces in the catalog itself, with letters, digits, _ and - alone: ALTER TABLE … RENAME TO, by an engine that is connected to the catalog and not to this service.'

/** Counts names over the pages of a listing. */
export class UnusableCount {
  #count = 0
  readonly #names: string[] = []

  add(levels: readonly string[]): void {
    if (++this.#count <= namesMax) this.#names.push(levels.join('.').slice(0, nameCharsMax))
  }

  /** Undefined where there were none. */
  get found(): UnusableNames | undefined {
    return this.#count === 0 ? undefined : { count: this.#count, names: [...this.#names] }
  }
}
