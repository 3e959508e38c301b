/** Names that only expanded metrics use. A client's statement over metrics is refused where it holds the mark. */

export const ownMark = '\u0001'

/** In a statement of ours: the start of the period that a moment is in, as a date. */
export const periodName = 'metric_period'

/** The function's name once the statement is known to be ours. Text of clients never has it. */
export const ownPeriod = `${ownMark}period`

/** Whether numbers between two bounds, so many of them, can be added up and squared without an error. */
export const ownFits = `${ownMark}fits`

/** Whether an alias is one of ours: the columns of its table are named by field id. */
export function isOwnAlias(alias: string | undefined): boolean {
  return alias?.startsWith(ownMark) === true
}

/** Whether a column's name is one of ours. */
export function isOwnName(name: string): boolean {
  return name.startsWith(ownMark)
}

/** The name of a column, for a table under an alias of ours. @param raw without the masks that an attestation lifts */
export function ownColumn(fieldId: number, raw = false): string {
  return `${raw ? '^' : '#'}${fieldId}`
}
