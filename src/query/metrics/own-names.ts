/** Names that only expanded metrics use. A client's statement over metrics is refused where it holds the mark. */

export const ownMark = '\u0001'

/** Whether an alias is one of ours: the columns of its table are named by field id. */
export function isOwnAlias(alias: string | undefined): boolean {
  return alias?.startsWith(ownMark) === true
}

/** The name of a column, for a table under an alias of ours. @param raw without the masks that an attestation lifts */
export function ownColumn(fieldId: number, raw = false): string {
  return `${raw ? '^' : '#'}${fieldId}`
}
