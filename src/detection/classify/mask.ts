/** What may be shown of a value: its shape and at most its last characters. */

import type { SensitiveClass } from '../../core/classification.ts'
import { detectorClasses } from './classes/detector-classes.ts'

const maskedCharsMax = 40

/**
 * The end of a value (40 characters) with everything but separators replaced by `*`, except the last two to four
 * characters for a class whose ends identify nobody; an email address shows none.
 */
export function maskValue(value: string, found: SensitiveClass): string {
  const characters = [...value].slice(-maskedCharsMax)
  const hiddenUntil = characters.length - detectorClasses[found].shownChars
  return characters
    .map((character, index) => (index < hiddenUntil && !'-@.+() '.includes(character) ? '*' : character))
    .join('')
}
