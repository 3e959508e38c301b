/** Counts the items that are worked on between two turns of the event loop. */

export interface ItemsOfTurns {
  /** Called for each use of an item. */
  touch(item: unknown): void
  /** The most different items of one turn. Ends the count. */
  most(): number
  /** Different items of all turns. */
  all(): number
}

export function itemsOfTurns(): ItemsOfTurns {
  const everything = new Set<unknown>()
  const ofTurn = new Set<unknown>()
  let most = 0
  let isOver = false
  const endTurn = () => {
    most = Math.max(most, ofTurn.size)
    ofTurn.clear()
    if (!isOver) setImmediate(endTurn)
  }
  setImmediate(endTurn)
  return {
    touch(item) {
      everything.add(item)
      ofTurn.add(item)
    },
    most() {
      isOver = true
      return Math.max(most, ofTurn.size)
    },
    all: () => everything.size,
  }
}
