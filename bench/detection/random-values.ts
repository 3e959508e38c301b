/** Draws the random values of the labelled tables from a seed. */

import { type Random, seededRandom } from '../statistics.ts'

/** Draws from one seed. */
export class Draw {
  readonly #random: Random

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  /** A whole number from `min` to `max`. */
  int(min: number, max: number): number {
    return min + Math.floor(this.#random() * (max - min + 1))
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)] as T
  }

  /** Replaces `#` by a digit, `@` by a capital letter and `~` by a hexadecimal digit. */
  fill(pattern: string): string {
    return pattern.replace(/[#@~]/g, (sign) =>
      sign === '#'
        ? String(this.int(0, 9))
        : sign === '@'
          ? String.fromCharCode(this.int(65, 90))
          : this.int(0, 15).toString(16),
    )
  }
}

/** The digit that makes `digits` pass Luhn. */
export function luhnDigit(digits: string): string {
  const sum = [...digits]
    .reverse()
    .map((digit, index) => Number(digit) * (index % 2 === 0 ? 2 : 1))
    .reduce((total, value) => total + (value > 9 ? value - 9 : value), 0)
  return String((10 - (sum % 10)) % 10)
}

/** The remainder of a number of any length, computed in pieces that stay exact. */
export function remainder(digits: string, divisor: number): number {
  let rest = 0
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % divisor
  return rest
}
