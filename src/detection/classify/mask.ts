/** What may be shown of a value: its shape and at most its last characters. */

import type { SensitiveClass } from '../../core/classification.ts'

/** Characters that stay readable at the end, as receipts and account lists print them. */
const shownChars: Readonly<Record<SensitiveClass, number>> = {
  us_ssn: 2,
  email: 0,
  credit_card: 4,
  phone: 2,
  iban: 4,
}

const maskedCharsMax = 40

/**
 * The end of a value (40 characters) with everything but separators replaced by `*`, except the last two to four
 * characters for a class whose ends identify nobody; an email address shows none.
 */
export function maskValue(value: string, found: SensitiveClass): string {
  const characters = [...value].slice(-maskedCharsMax)
  const hiddenUntil = characters.length - shownChars[found]
  return characters
    .map((character, index) => (index < hiddenUntil && !'-@.+() '.includes(character) ? '*' : character))
    .join('')
}
