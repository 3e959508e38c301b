/** Masks a value so that it can be shown: only its shape and at most its last characters stay. */

import type { SensitiveClass } from '../../core/classification.ts'
import { detectorClasses } from './classes/detector-classes.ts'

const maskedCharsMax = 40

/**
 * Returns the end of a value (40 characters) with everything but separators replaced by `*`. For a class whose ends
 * identify nobody, the last two to four characters stay. An email address shows none, and so
 * does what no built-in class describes.
 */
export function maskValue(value: string, found: SensitiveClass | undefined): string {
  const characters = [...value].slice(-maskedCharsMax)
  const shownChars = found === undefined ? 0 : detectorClasses[found].shownChars
  const hiddenUntil = characters.length - shownChars
  return characters
    .map((character, index) => (index < hiddenUntil && !'-@.+() '.includes(character) ? '*' : character))
    .join('')
}
