/**
 * A queue of what waits, owners in turn: an owner with much waiting delays no other by more than one turn. Within an
 * owner it is first come, first served. It holds; it runs nothing.
 */

export class FairQueue<Owner, Item> {
  /** In the order of turns. An owner with nothing waiting is not in it. */
  readonly #byOwner = new Map<Owner, Set<Item>>()
  #count = 0

  /** All that waits. */
  get count(): number {
    return this.#count
  }

  /** What waits of one owner. */
  countOf(owner: Owner): number {
    return this.#byOwner.get(owner)?.size ?? 0
  }

  /** Whether this owner may wait beside so many: an owner of whom nothing waits may always, however much others have. */
  hasRoom(owner: Owner, max: number): boolean {
    return this.#count < max || (max > 0 && this.countOf(owner) === 0)
  }

  /** @param item no other that waits is the same */
  push(owner: Owner, item: Item): void {
    const items = this.#byOwner.get(owner) ?? new Set()
    this.#byOwner.set(owner, items.add(item))
    this.#count++
  }

  /** Owners of whom something waits, in the order of their turns. */
  get owners(): readonly Owner[] {
    return [...this.#byOwner.keys()]
  }

  /** All that waits, with its owner. */
  entries(): readonly (readonly [Owner, Item])[] {
    return [...this.#byOwner].flatMap(([owner, items]) => [...items].map((item) => [owner, item] as const))
  }

  /** Takes the oldest of the owner whose turn it is, who then comes last. @param may who has no turn now is passed over */
  shift(may: (owner: Owner) => boolean = () => true): Item | undefined {
    for (const [owner, items] of this.#byOwner)
      for (const item of may(owner) ? items : []) {
        this.#byOwner.delete(owner)
        items.delete(item)
        if (items.size > 0) this.#byOwner.set(owner, items)
        this.#count--
        return item
      }
    return undefined
  }

  /** The oldest of each owner, in the order of turns. */
  heads(): readonly { readonly owner: Owner; readonly item: Item }[] {
    return [...this.#byOwner].flatMap(([owner, items]) => {
      for (const item of items) return { owner, item }
      return []
    })
  }

  /** Gives the owner the last turn. */
  moveLast(owner: Owner): void {
    const items = this.#byOwner.get(owner)
    if (items !== undefined && this.#byOwner.delete(owner)) this.#byOwner.set(owner, items)
  }

  /** Takes out all that waits. */
  drain(): readonly Item[] {
    const all = [...this.#byOwner.values()].flatMap((items) => [...items])
    this.#byOwner.clear()
    this.#count = 0
    return all
  }

  /** Takes out what no longer waits. @returns whether it was there */
  remove(owner: Owner, item: Item): boolean {
    const items = this.#byOwner.get(owner)
    if (items?.delete(item) !== true) return false
    if (items.size === 0) this.#byOwner.delete(owner)
    this.#count--
    return true
  }
}
